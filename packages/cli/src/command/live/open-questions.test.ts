import { createRedactor, type Fact } from "@soong/core";
import type { QuestionRecord, RunRecord, SessionReader } from "@soong/store";
import type { StepRecord } from "@soong/tasks";
import { expect, test } from "vitest";
import { writtenFact } from "../../../../../test/facts.ts";
import { verifies } from "#laws";
import { findStepQuestions, readOpenQuestions, readQuestionPlaces } from "./open-questions.ts";

function question(question_id: string, session_id: string, run_id: string): QuestionRecord {
  return { question_id, session_id, run_id, state: "open" } as QuestionRecord;
}

function run(run_id: string, session_id: string, parent_run_id?: string): RunRecord {
  return { run_id, session_id, ...(parent_run_id && { parent_run_id }) } as RunRecord;
}

function step(step_id: string, run_id?: string): StepRecord {
  return { step_id, ...(run_id && { claim: { run_id } }) } as StepRecord;
}

const BY = { task_id: "task_1", step_id: "far", session_id: "lead", run_id: "run_lead" };

const CREATED = {
  ...writtenFact({ seq: 1, type: "session.created", data: {} }),
  session_id: "worker",
  data: { dispatched_by: { ...BY, agent_id: "a", tool_call_id: "c" } },
} as Fact;

const store = {
  factsOfTypes: async () => [CREATED],
  runs: async () => [
    run("run_far", "worker", "run_lead"),
    run("run_lead", "lead"),
    run("run_near", "lead", "run_lead"),
    run("run_child", "lead", "run_near"),
    // Changed by hand.
    run("run_round", "lead", "run_about"),
    run("run_about", "lead", "run_round"),
  ],
  readSession: async (id: string) => {
    if (id === "removed") throw new Error("There is no such session.");
    return { record: async () => ({ project: `/${id}` }) } as unknown as SessionReader;
  },
};

test("a session that was removed meanwhile keeps no question from the list", async () => {
  verifies("PERM-20");
  const asked = [question("q1", "removed", "r"), question("q2", "worker", "run_far")];
  const places = await readQuestionPlaces(store, asked);
  expect(places.get("removed")).toEqual({});
  expect(places.get("worker")).toEqual({ project: "/worker", worker_of: BY });
});

test("a step has the questions of its worker, of agents below it, and of its tools", async () => {
  verifies("PERM-20", "TASK-6");
  const steps = [step("far", "run_far"), step("near", "run_near"), step("open"), step("lost", "x")];
  const asked = [
    question("of a tool", "worker", ""),
    question("of an agent below", "worker", "run_other"),
    question("of an agent below, here", "lead", "run_child"),
    question("of who drives", "lead", "run_lead"),
    question("of a run that is its own ancestor", "lead", "run_round"),
  ];
  const found = await findStepQuestions(store, steps, asked);
  const ids = [...found].map(([id, of]) => [id, of.map(({ question_id }) => question_id)]);
  expect(ids).toEqual([
    ["far", ["of a tool", "of an agent below"]],
    ["near", ["of an agent below, here"]],
  ]);
  expect(await findStepQuestions(store, steps, [])).toEqual(new Map());
});

test("a question is read without secrets of this home, before anything of it is cut", async () => {
  verifies("REDACT-3");
  const redactor = createRedactor({ secrets: [{ name: "KEY", value: "a-secret-of-here" }] });
  const request = { request: { arguments: { text: "it is a-secret-of-here" } } };
  const all = [
    { ...question("q1", "s", "r"), request },
    { ...question("q2", "s", "r"), state: "answered" } as QuestionRecord,
  ];
  const list = { questions: () => ({ list: async () => all }) as never };
  const read = await readOpenQuestions(list, redactor);
  expect(read).toHaveLength(1);
  expect(JSON.stringify(read)).not.toContain("a-secret-of-here");
});
