import type { Fact, FactType } from "@soong/core";
import { StoreError, type QuestionRecord, type SessionRecord, type Store } from "@soong/store";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { writtenFact } from "../../../../../test/facts.ts";
import { describeSummary, summarizeSessions } from "./session-summary.ts";

const NOW = Date.parse("2026-03-01T12:00:00.000Z");

function record(session_id: string): SessionRecord {
  const updated_at = "2026-03-01T11:57:00.000Z";
  return { session_id, created_at: updated_at, updated_at, last_seq: 1, head_hash: "" };
}

let seq = 0;
function end(session_id: string, type: FactType, data = {}, parent_run_id?: string): Fact {
  seq += 1;
  const fact = writtenFact({ seq, type, run_id: `r${seq}`, data });
  return { ...fact, session_id, ...(parent_run_id === undefined ? {} : { parent_run_id }) };
}

const ENDS = [
  end("done", "run.failed"),
  end("done", "run.completed"),
  end("done", "run.failed", {}, "r2"),
  end("failed", "run.failed", { reason: "failed" }),
  end("stopped", "run.aborted"),
  end("recovered", "run.failed", { reason: "runtime_restarted" }),
  end("killed", "run.started"),
  end("live", "run.completed"),
  end("live", "run.started"),
  end("asking", "run.started"),
  end("worker", "run.completed", {}, "of another session"),
  end("dispatched", "run.completed", {}, "of another session"),
];

const CLAIMED = {
  ...writtenFact({ seq: 5, type: "task.step.claimed", run_id: "r", data: {} }),
  session_id: "worker",
  data: { task_id: "task_1", step_id: "plan" },
} as Fact;

const BY = { task_id: "task_2", step_id: "build", session_id: "lead", run_id: "run_1" };

const CREATED = {
  ...writtenFact({ seq: 1, type: "session.created", data: {} }),
  session_id: "dispatched",
  data: { dispatched_by: { ...BY, agent_id: "a", tool_call_id: "c" } },
} as Fact;

const store = {
  lastFacts: async () => ENDS,
  factsOfTypes: async (_ids: unknown, types: readonly string[]) =>
    types.includes("task.step.claimed") ? [CREATED, CLAIMED] : [],
  heldSessions: async () => ["live", "asking"],
  questions: () => ({
    list: async () => [
      { session_id: "asking", state: "open" } as QuestionRecord,
      { session_id: "live", state: "answered" } as QuestionRecord,
    ],
  }),
} as unknown as Pick<Store, "lastFacts" | "factsOfTypes" | "heldSessions" | "questions">;

test("the status of a session is that of its last turn, and whether someone still works on it", async () => {
  const ids = ["done", "failed", "stopped", "recovered", "killed", "live", "asking", "new"];
  const summaries = await summarizeSessions(store, ids.map(record));
  expect(summaries.map((one) => [one.session_id, one.status, one.turns])).toEqual([
    ["done", "done", 2],
    ["failed", "failed", 1],
    ["stopped", "interrupted", 1],
    ["recovered", "interrupted", 1],
    ["killed", "interrupted", 1],
    ["live", "running", 2],
    ["asking", "waiting_for_approval", 1],
    ["new", "empty", 0],
  ]);
  const [, , , , , , asking] = summaries;
  expect(asking && describeSummary(asking, NOW)).toEqual([
    "waiting for approval",
    "3 min ago",
    "1 turn",
  ]);
});

test("a run whose parent is in another session is a turn of its own, and says of which step", async () => {
  const [worker, other] = await summarizeSessions(store, ["worker", "done"].map(record));
  expect(worker).toMatchObject({
    status: "done",
    turns: 1,
    worker_of: { task_id: "task_1", step_id: "plan" },
  });
  expect(worker && describeSummary(worker, NOW)).toContain("worker of plan in task_1");
  expect(other).not.toHaveProperty("worker_of");
  // The first fact also says who dispatched it, where its version wrote that.
  const [dispatched] = await summarizeSessions(store, [record("dispatched")]);
  expect(dispatched?.worker_of).toEqual(BY);
});

test("a damaged session says so, and takes the list from no other one", async () => {
  verifies("EVENT-6");
  const damaged = {
    ...store,
    async lastFacts(ids: readonly string[]) {
      if (ids.includes("edited")) throw new StoreError("store_corrupted", "It was edited.");
      return ENDS.filter(({ session_id }) => ids.includes(session_id));
    },
  };
  const summaries = await summarizeSessions(damaged, ["edited", "done", "live"].map(record));
  expect(summaries.map(({ status }) => status)).toEqual(["damaged", "done", "running"]);
});
