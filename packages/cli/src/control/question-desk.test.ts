// The desk by itself: whose answer counts, and what happens when nobody gives one.

import type { PermissionAnswer, PermissionRequest } from "@soong/core";
import { verifies } from "#laws";
import { expect, it } from "vitest";
import {
  answeredBy,
  createQuestionDesk,
  type Attendant,
  type OpenQuestion,
  type QuestionDesk,
} from "./question-desk.ts";

const YES: PermissionAnswer = { decision: "allow_once", answered_by: "left" };
const NO: PermissionAnswer = { decision: "deny", answered_by: "right" };

it("takes the first answer, and tells the others who gave it", async () => {
  verifies("CLI-8", "PERM-4");
  const desk = createQuestionDesk();
  const left = patient();
  const right = patient();
  desk.attend(left);
  desk.attend(right);
  const { answered } = ask(desk);
  expect([left.asked.length, right.asked.length]).toEqual([1, 1]);
  expect(answeredBy(right.asked[0]!.settled)).toBeUndefined();
  left.asked[0]!.answer(YES);
  expect(await answered).toEqual(YES);
  expect(right.asked[0]!.settled.aborted).toBe(true);
  expect(answeredBy(right.asked[0]!.settled)).toBe("left");
  right.asked[0]!.answer(NO);
  expect(desk.open()).toEqual([]);
  expect(await desk.answer(left.asked[0]!.question.question_id, NO)).toBe(false);
});

it("lets somebody answer who was never asked, once", async () => {
  verifies("CLI-8");
  const desk = createQuestionDesk();
  desk.attend(patient());
  const { answered } = ask(desk);
  const [question] = desk.open();
  expect(question?.request.tool_name).toBe("code.write_file");
  expect(await desk.answer("no such question", YES)).toBe(false);
  expect(await desk.answer(question!.question_id, NO)).toBe(true);
  expect(await desk.answer(question!.question_id, YES)).toBe(false);
  expect(await answered).toEqual(NO);
});

it("has no answer at once where nobody attends, and says what would have helped", async () => {
  verifies("PERM-4", "CLI-8");
  const desk = createQuestionDesk();
  await expect(ask(desk).answered).rejects.toThrow(
    /nobody is there to ask.*--allow code\.write_file.*soong attach/,
  );
  const asked = { layer: "rules", rule: "rules[0]", verdict: "ask", reason: "", decisive: true };
  await expect(ask(desk, { chain: [asked as never] }).answered).rejects.toThrow(
    /nobody is there to ask.*`soong explain code\.write_file '\{.*\}'` shows what asks/,
  );
  const quoted = ask(desk, { chain: [asked as never], arguments: { path: "it's" } }).answered;
  await expect(quoted).rejects.toThrow(String.raw`'{"path":"it'\''s"}'`);
  const long = ask(desk, { chain: [asked as never], arguments: { a: "x".repeat(400) } }).answered;
  await expect(long).rejects.not.toThrow("soong explain");
  await expect(ask(desk, { chain: [asked as never] }).answered).rejects.not.toThrow("--allow");
});

it("waits while one of several may still answer, and no longer", async () => {
  verifies("CLI-8");
  const desk = createQuestionDesk();
  const left = patient();
  const right = patient();
  desk.attend(left);
  const stop = desk.attend(right);
  const { answered } = ask(desk);
  left.asked[0]!.answer(undefined);
  await Promise.resolve();
  expect(desk.open()).toHaveLength(1);
  stop();
  await expect(answered).rejects.toThrow("nobody is there to ask");
  expect(right.asked[0]!.settled.aborted).toBe(true);
  expect(answeredBy(right.asked[0]!.settled)).toBeUndefined();
});

it("asks whoever comes later about what is open, and nobody who has left", async () => {
  verifies("CLI-8");
  const desk = createQuestionDesk();
  const left = patient();
  const right = patient();
  const stop = desk.attend(left);
  const { answered } = ask(desk);
  desk.attend(right);
  stop();
  expect(right.asked).toHaveLength(1);
  const second = ask(desk);
  expect([left.asked.length, right.asked.length]).toEqual([1, 2]);
  for (const one of right.asked) one.answer(YES);
  expect(await Promise.all([answered, second.answered])).toEqual([YES, YES]);
});

it("settles a question whose call is cancelled, before or while it is asked", async () => {
  verifies("CLI-8");
  const desk = createQuestionDesk();
  const one = patient();
  desk.attend(one);
  const { answered, controller } = ask(desk);
  controller.abort();
  await expect(answered).rejects.toThrow("the call is gone");
  expect(one.asked[0]!.settled.aborted).toBe(true);
  const gone = new AbortController();
  gone.abort();
  await expect(desk.ask(request(), { signal: gone.signal })).rejects.toThrow("the call is gone");
  expect(one.asked).toHaveLength(1);
  expect(desk.open()).toEqual([]);
});

it("tells why asking failed when that is why nobody is left", async () => {
  verifies("PERM-4");
  const desk = createQuestionDesk();
  desk.attend({
    ask: () => {
      throw new Error("no paper");
    },
  });
  await expect(ask(desk).answered).rejects.toThrow("no paper");
  const one = patient();
  desk.attend(one);
  const { answered } = ask(desk);
  one.asked[0]!.answer(YES);
  expect(await answered).toEqual(YES);
});

it("takes what tools want to know to those who answer that, too", async () => {
  verifies("CLI-8");
  const desk = createQuestionDesk();
  const wanted = {
    message: "Which?",
    mode: "form",
    schema: {},
    tool_name: "a.b",
    tool_call_id: "1",
  };
  const elicit = () =>
    desk.elicit(wanted as never, { signal: new AbortController().signal }) as Promise<unknown>;
  desk.attend(patient());
  await expect(elicit()).rejects.toThrow("nobody is there to ask");
  desk.attend({ ...patient(), elicit: async () => ({ action: "accept", content: { it: 1 } }) });
  expect(await elicit()).toEqual({ action: "accept", content: { it: 1 } });
  const stop = desk.attend({ ...patient(), elicit: () => new Promise(() => {}) });
  stop();
  expect(desk.openElicitations()).toEqual([]);
});

interface Asked {
  readonly question: OpenQuestion;
  readonly settled: AbortSignal;
  answer(answer: PermissionAnswer | undefined): void;
}

/** Answers when the test does. */
function patient(): Attendant & { readonly asked: Asked[] } {
  const asked: Asked[] = [];
  return {
    asked,
    ask: (question, settled) =>
      new Promise((resolve) => {
        asked.push({ question, settled, answer: resolve });
      }),
  };
}

function ask(
  desk: QuestionDesk,
  more: Partial<PermissionRequest> = {},
): { answered: Promise<PermissionAnswer>; controller: AbortController } {
  const controller = new AbortController();
  const answered = Promise.resolve(desk.ask(request(more), { signal: controller.signal }));
  return { answered, controller };
}

function request(more: Partial<PermissionRequest> = {}): PermissionRequest {
  const defaults = { layer: "defaults", rule: "d", verdict: "ask", reason: "", decisive: true };
  return {
    tool_name: "code.write_file",
    chain: [defaults],
    arguments: {},
    ...more,
  } as PermissionRequest;
}
