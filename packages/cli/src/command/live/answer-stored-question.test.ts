import type { Fact } from "@soong/core";
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

const DENY = { question_id: "ask_1", decision: "deny" } as const;

function storeWith(held: readonly string[], about: Partial<QuestionRecord> = {}) {
  const question = { question_id: "ask_1", session_id: "worker", kind: "permission", ...about };
  const answers: unknown[] = [];
  const store = {
    heldSessions: async () => [...held],
    factsOfTypes: async () => [CREATED],
    questions: () => ({
      get: async () => ({ state: "open", ...question }),
      answer: async (...given: unknown[]) => {
        answers.push(given);
        return { taken: true, question };
      },
    }),
  } as unknown as Pick<Store, "heldSessions" | "factsOfTypes" | "questions">;
  return { store, answers };
}

test("a question whose worker is gone takes no answer, wherever it is answered", async () => {
  verifies("DIST-1", "PERM-20");
  const gone = storeWith([]);
  const answering = answerStoredQuestion(gone.store, "worker", DENY, "control:inspector");
  await expect(answering).rejects.toMatchObject({
    code: "unreachable",
    message:
      "The worker that asked this is gone. The step plan asks again when another worker has it (`soong tasks drive task_1`).",
  });
  expect(gone.answers).toEqual([]);
  const held = storeWith(["worker"]);
  await answerStoredQuestion(held.store, "worker", DENY, "control:inspector");
  expect(held.answers).toMatchObject([
    ["worker", "ask_1", { answer: { decision: "deny", answered_by: "control:inspector" } }],
  ]);
});

test("a question that is answered already names who answered, and one not shown whole is only denied", async () => {
  verifies("PERM-19", "PERM-20");
  const answer = { decision: "allow_once" };
  const settled = storeWith(["worker"], { state: "answered", answer, answered_by: "terminal" });
  await expect(answerStoredQuestion(settled.store, "worker", DENY, "me")).rejects.toThrow(
    "answered already, by terminal (allow_once).",
  );
  const hidden = storeWith(["worker"], { request: { request: {}, shows_all: false } });
  const yes = { ...DENY, decision: "allow_once" } as const;
  await expect(answerStoredQuestion(hidden.store, "worker", yes, "me")).rejects.toThrow(
    "only be denied",
  );
  await answerStoredQuestion(hidden.store, "worker", DENY, "me");
  expect(hidden.answers).toHaveLength(1);
});
