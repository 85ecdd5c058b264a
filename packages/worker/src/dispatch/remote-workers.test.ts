import type { RemoteWatch } from "@soong/agent";
import type { Store, WorkerRecord } from "@soong/store";
import type { StepRecord, Tasks } from "@soong/tasks";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import type { Job, JobQueue } from "../queue/index.ts";
import { createRemoteWorkers } from "./remote-workers.ts";

const WORK = {
  pool: "builders",
  task_id: "task_1",
  step_id: "plan",
  agent_definition_id: "builder",
  definition_digest: "d",
  from: { session_id: "s", run_id: "r", agent_id: "a", tool_call_id: "c" },
};

const READY = { task_id: "task_1", step_id: "plan", status: "ready", attempts: 0 } as StepRecord;

/** Wakes without end: no test waits for a poll. */
function listen(_topic: string, woken: () => void): () => void {
  const timer = setInterval(woken, 1);
  return () => clearInterval(timer);
}

/** The states of the step, one for each look; the last one stays. */
function stage(states: readonly StepRecord[], workers: readonly Partial<WorkerRecord>[] = []) {
  const left = [...states];
  const added: Job[] = [];
  const tasks = {
    leaseMs: 3_000,
    querySteps: async () => [left.length > 1 ? left.shift() : left[0]],
  } as unknown as Tasks;
  const store = {
    findRun: async () => undefined,
    cluster: { workers: async () => workers, listen },
  } as unknown as Store;
  const queue = { add: async (_pool: string, job: Job) => void added.push(job) };
  const remote = createRemoteWorkers({
    tasks,
    store: async () => store,
    queue: async () => queue as unknown as JobQueue,
  });
  const watch: RemoteWatch = {
    caller: {} as RemoteWatch["caller"],
    signal: new AbortController().signal,
    startWithinMs: 1,
    grants: () => [],
    project: undefined,
    onClaimed: () => {},
    onLost: () => {},
    onUsed: () => undefined,
    onWaiting: () => {},
  };
  return {
    added,
    dispatch: (more: Partial<RemoteWatch> = {}) => remote.dispatch(WORK, { ...watch, ...more }),
  };
}

test("a worker that was lost before its first fact is waited for no longer than its step", async () => {
  verifies("DIST-2");
  const failed = { ...READY, status: "failed", attempts: 1, last_run_id: "run_lost" } as StepRecord;
  const { dispatch } = stage([READY, failed]);
  expect(await dispatch({ startWithinMs: 60_000 })).toMatchObject({
    child: undefined,
    result: { status: "failed", error: { code: "worker_lost", message: "the step is failed" } },
  });
});

test("a step that is not ready is given to no one", async () => {
  const { dispatch, added } = stage([{ ...READY, status: "pending" }]);
  await expect(dispatch()).rejects.toThrow("Step plan is pending, not ready.");
  expect(added).toEqual([]);
});

test.each([
  ["no worker", []],
  ["only those of another pool", [{ pool: "testers", draining: false }]],
  ["only one that takes nothing more", [{ pool: "builders", draining: true }]],
])("a pool with %s is not waited for", async (_name, workers) => {
  const { dispatch, added } = stage([READY], workers);
  await expect(dispatch()).rejects.toThrow("there is no worker of the pool builders");
  expect(added.map(({ id }) => id)).toEqual(["task_1/plan/1"]);
});

test("a pool whose workers are busy is waited for", async () => {
  const done = { ...READY, status: "completed", last_run_id: "run_1" } as StepRecord;
  const { dispatch } = stage([READY, READY, READY, done], [{ pool: "builders", draining: false }]);
  expect(await dispatch()).toMatchObject({ result: { error: { code: "worker_lost" } } });
});
