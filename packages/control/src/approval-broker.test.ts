// The broker on its own: whose answer counts, and what happens when no one gives one.

import type { PermissionAnswer, PermissionRequest } from "@soong/core";
import { verifies } from "#laws";
import { expect, it } from "vitest";
import {
  answeredBy,
  createApprovalBroker,
  type Responder,
  type OpenQuestion,
  type ApprovalBroker,
} from "./approval-broker.ts";

const YES: PermissionAnswer = { decision: "allow_once", answered_by: "left" };
const NO: PermissionAnswer = { decision: "deny", answered_by: "right" };

it("takes the first answer, and notifies the others who gave it", async () => {
  verifies("CLI-8", "PERM-4");
  const broker = createApprovalBroker();
  const left = patient();
  const right = patient();
  broker.addResponder(left);
  broker.addResponder(right);
  const { answered } = ask(broker);
  expect([left.asked.length, right.asked.length]).toEqual([1, 1]);
  expect(answeredBy(right.asked[0]!.settled)).toBeUndefined();
  left.asked[0]!.answer(YES);
  expect(await answered).toEqual(YES);
  expect(right.asked[0]!.settled.aborted).toBe(true);
  expect(answeredBy(right.asked[0]!.settled)).toBe("left");
  right.asked[0]!.answer(NO);
  expect(broker.open()).toEqual([]);
  expect(await broker.answer(left.asked[0]!.question.question_id, NO)).toBe(false);
});

it("accepts one answer from a client that was not asked", async () => {
  verifies("CLI-8");
  const broker = createApprovalBroker();
  broker.addResponder(patient());
  const { answered } = ask(broker);
  const [question] = broker.open();
  expect(question?.request.tool_name).toBe("code.write_file");
  expect(await broker.answer("no such question", YES)).toBe(false);
  expect(await broker.answer(question!.question_id, NO)).toBe(true);
  expect(await broker.answer(question!.question_id, YES)).toBe(false);
  expect(await answered).toEqual(NO);
});

it("has no answer at once where no one attends, and says what would have helped", async () => {
  verifies("PERM-4", "CLI-8");
  const broker = createApprovalBroker();
  await expect(ask(broker).answered).rejects.toThrow(
    /no one is there to ask.*--allow code\.write_file.*soong attach/,
  );
  const asked = { layer: "rules", rule: "rules[0]", verdict: "ask", reason: "", decisive: true };
  await expect(ask(broker, { chain: [asked as never] }).answered).rejects.toThrow(
    /no one is there to ask.*`soong explain code\.write_file '\{.*\}'` shows what asks/,
  );
  const quoted = ask(broker, { chain: [asked as never], arguments: { path: "it's" } }).answered;
  await expect(quoted).rejects.toThrow(String.raw`'{"path":"it'\''s"}'`);
  const long = ask(broker, { chain: [asked as never], arguments: { a: "x".repeat(400) } }).answered;
  await expect(long).rejects.not.toThrow("soong explain");
  await expect(ask(broker, { chain: [asked as never] }).answered).rejects.not.toThrow("--allow");
});

it("waits while one of several may still answer, and no longer", async () => {
  verifies("CLI-8");
  const broker = createApprovalBroker();
  const left = patient();
  const right = patient();
  broker.addResponder(left);
  const stop = broker.addResponder(right);
  const { answered } = ask(broker);
  left.asked[0]!.answer(undefined);
  await Promise.resolve();
  expect(broker.open()).toHaveLength(1);
  stop();
  await expect(answered).rejects.toThrow("no one is there to ask");
  expect(right.asked[0]!.settled.aborted).toBe(true);
  expect(answeredBy(right.asked[0]!.settled)).toBeUndefined();
});

it("asks clients that connect later about what is open, and none that has left", async () => {
  verifies("CLI-8");
  const broker = createApprovalBroker();
  const left = patient();
  const right = patient();
  const stop = broker.addResponder(left);
  const { answered } = ask(broker);
  broker.addResponder(right);
  stop();
  expect(right.asked).toHaveLength(1);
  const second = ask(broker);
  expect([left.asked.length, right.asked.length]).toEqual([1, 2]);
  for (const one of right.asked) one.answer(YES);
  expect(await Promise.all([answered, second.answered])).toEqual([YES, YES]);
});

it("settles a question whose call is cancelled, before or while it is asked", async () => {
  verifies("CLI-8");
  const broker = createApprovalBroker();
  const one = patient();
  broker.addResponder(one);
  const { answered, controller } = ask(broker);
  controller.abort();
  await expect(answered).rejects.toThrow("the call is gone");
  expect(one.asked[0]!.settled.aborted).toBe(true);
  const gone = new AbortController();
  gone.abort();
  await expect(broker.ask(request(), { signal: gone.signal })).rejects.toThrow("the call is gone");
  expect(one.asked).toHaveLength(1);
  expect(broker.open()).toEqual([]);
});

it("says why asking failed when that is why no one is left", async () => {
  verifies("PERM-4");
  const broker = createApprovalBroker();
  broker.addResponder({
    ask: () => {
      throw new Error("no paper");
    },
  });
  await expect(ask(broker).answered).rejects.toThrow("no paper");
  const one = patient();
  broker.addResponder(one);
  const { answered } = ask(broker);
  one.asked[0]!.answer(YES);
  expect(await answered).toEqual(YES);
});

it("takes what tools want to know to those who answer that, too", async () => {
  verifies("CLI-8");
  const broker = createApprovalBroker();
  const wanted = {
    message: "Which?",
    mode: "form",
    schema: {},
    tool_name: "a.b",
    tool_call_id: "1",
  };
  const elicit = () =>
    broker.elicit(wanted as never, { signal: new AbortController().signal }) as Promise<unknown>;
  broker.addResponder(patient());
  await expect(elicit()).rejects.toThrow("no one is there to ask");
  broker.addResponder({
    ...patient(),
    elicit: async () => ({ action: "accept", content: { it: 1 } }),
  });
  expect(await elicit()).toEqual({ action: "accept", content: { it: 1 } });
  const stop = broker.addResponder({ ...patient(), elicit: () => new Promise(() => {}) });
  stop();
  expect(broker.openElicitations()).toEqual([]);
});

interface Asked {
  readonly question: OpenQuestion;
  readonly settled: AbortSignal;
  answer(answer: PermissionAnswer | undefined): void;
}

/** Answers when the test does. */
function patient(): Responder & { readonly asked: Asked[] } {
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
  broker: ApprovalBroker,
  more: Partial<PermissionRequest> = {},
): { answered: Promise<PermissionAnswer>; controller: AbortController } {
  const controller = new AbortController();
  const answered = Promise.resolve(broker.ask(request(more), { signal: controller.signal }));
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
