import type { Fact } from "@soong/core";
import { MARKER_NAME } from "@soong/platform";
import type { QuestionRecord, Store } from "@soong/store";
import { expect, test } from "vitest";
import { writtenFact } from "../../../../../test/facts.ts";
import { verifies } from "#laws";
import { answerStoredQuestion } from "./answer-stored-question.ts";

const BY = { task_id: "task_1", step_id: "plan", session_id: "lead", run_id: "run_1" };

const CREATED = {
  ...writtenFact({ seq: 1, type: "session.created", data: {} }),
  session_id: "worker",
  data: { dispatched_by: { ...BY, agent_id: "a", tool_call_id: "c" } },
} as Fact;

const INSPECTOR = { answered_by: "control:inspector", env: {} };
const ME = { answered_by: "me", env: {} };
const DENY = { question_id: "ask_1", decision: "deny" } as const;

function storeWith(held: readonly string[], about: Partial<QuestionRecord> = {}) {
  const question = { question_id: "ask_1", session_id: "worker", kind: "permission", ...about };
  const answers: unknown[] = [];
  const settled: unknown[] = [];
  const store = {
    heldSessions: async () => [...held],
    factsOfTypes: async () => [CREATED],
    questions: () => ({
      get: async () => ({ state: "open", ...question }),
      answer: async (...given: unknown[]) => {
        answers.push(given);
        return { taken: true, question };
      },
      settle: async (...given: unknown[]) => void settled.push(given),
    }),
  } as unknown as Pick<Store, "heldSessions" | "factsOfTypes" | "questions">;
  return { store, answers, settled };
}

test("a question whose worker is gone takes no answer, wherever it is answered", async () => {
  verifies("DIST-1", "PERM-20");
  const gone = storeWith([]);
  const answering = answerStoredQuestion(gone.store, "worker", DENY, INSPECTOR);
  await expect(answering).rejects.toMatchObject({
    code: "unreachable",
    message:
      "The worker that asked this is gone, so the question was withdrawn. The step plan asks again if another worker takes it (`soong tasks drive task_1`).",
  });
  expect(gone.answers).toEqual([]);
  expect(gone.settled).toEqual([["worker", "ask_1", "withdrawn"]]);
  const held = storeWith(["worker"]);
  await answerStoredQuestion(held.store, "worker", DENY, INSPECTOR);
  expect(held.answers).toMatchObject([
    ["worker", "ask_1", { answer: { decision: "deny", answered_by: "control:inspector" } }],
  ]);
});

test("a question that is answered already names who answered, and one not shown whole is only denied", async () => {
  verifies("PERM-19", "PERM-20");
  const answer = { decision: "allow_once" };
  const settled = storeWith(["worker"], { state: "answered", answer, answered_by: "terminal" });
  await expect(answerStoredQuestion(settled.store, "worker", DENY, ME)).rejects.toThrow(
    "answered already, by terminal (allow_once).",
  );
  const hidden = storeWith(["worker"], { request: { request: {}, shows_all: false } });
  const yes = { ...DENY, decision: "allow_once" } as const;
  await expect(answerStoredQuestion(hidden.store, "worker", yes, ME)).rejects.toThrow(
    "only be denied",
  );
  await answerStoredQuestion(hidden.store, "worker", DENY, ME);
  expect(hidden.answers).toHaveLength(1);
});

test("words for a request that cannot be shown are refused, and it can be declined", async () => {
  verifies("PERM-19", "MCP-5");
  const about = { kind: "elicitation", request: { request: { mode: "form" }, shows_all: true } };
  const damaged = storeWith(["worker"], about as Partial<QuestionRecord>);
  const words = { question_id: "ask_1", action: "accept", content: {} } as const;
  await expect(answerStoredQuestion(damaged.store, "worker", words, ME)).rejects.toThrow(
    "`soong questions answer ask_1 deny` declines it.",
  );
  const no = { question_id: "ask_1", action: "decline" } as const;
  await answerStoredQuestion(damaged.store, "worker", no, ME);
  expect(damaged.answers).toHaveLength(1);
});

test("what is no answer is refused, and a rule in one is dropped", async () => {
  verifies("PERM-4", "PERM-18");
  const shown = { tool_name: "t", role: "main", resources: [], scopes: [], reason: "" };
  const request = { request: { ...shown, network_hosts: [] }, shows_all: true };
  const open = storeWith(["worker"], { request });
  const ways = [{ decision: "allow" }, { decision: "allow_for_session", scope: "all" }] as const;
  for (const way of ways) {
    const given = { ...DENY, ...way } as unknown as typeof DENY;
    await expect(answerStoredQuestion(open.store, "worker", given, ME)).rejects.toMatchObject({
      code: "bad_params",
      message: expect.stringMatching(
        /^The answer cannot be used: the question was answered/,
      ) as string,
    });
  }
  expect(open.answers).toEqual([]);
  const rule = { tool: "*", decision: "allow" } as const;
  const always = { where: "everywhere", rule } as const;
  const yes = { ...DENY, decision: "allow_for_session", always } as const;
  await answerStoredQuestion(open.store, "worker", yes, ME);
  expect(JSON.stringify(open.answers)).toContain('"always":{"where":"everywhere"}');
});

test("a program that a runtime has started answers nothing", async () => {
  verifies("MCP-11");
  const held = storeWith(["worker"]);
  const child = { answered_by: "terminal", env: { [MARKER_NAME]: "1" } };
  await expect(answerStoredQuestion(held.store, "worker", DENY, child)).rejects.toMatchObject({
    code: "refused",
  });
  expect(held.answers).toEqual([]);
});
