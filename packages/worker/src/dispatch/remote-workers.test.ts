import type { RemoteWatch } from "@soong/agent";
import type { AnyHook } from "@soong/core";
import type { Store, WorkerRecord } from "@soong/store";
import type { StepRecord, Tasks } from "@soong/tasks";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { QueueError, type Job, type JobQueue } from "../queue/index.ts";
import { toJob } from "./job.ts";
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

/** Of the jobs of one dispatch. */
const [FIRST = "", SECOND = "", THIRD = ""] = [1, 2, 3].map(
  (i) => toJob({ ...WORK, guards: [] }, READY, i).id,
);

const DONE = { ...READY, status: "completed", last_run_id: "run_1" } as StepRecord;
const PRESENT = [{ pool: "builders", draining: false }];
const AWAY = new QueueError("queue_failed", "The queue is away.");

/** A worker leaves the step of this dispatch to others. */
const DECLINED = { task_id: "task_1", step_id: "plan", run_id: "r", tool_call_id: "c", since: "" };

const GUARD: AnyHook = { id: "guard", event: "PreToolUse", tool: "code.*", run() {} };

/** Wakes without end: no test waits for a poll. */
function listen(_topic: string, woken: () => void): () => void {
  const timer = setInterval(woken, 1);
  return () => clearInterval(timer);
}

/** The states of the step, one for each look; the last one stays. */
function stage(
  states: readonly StepRecord[],
  workers: readonly Partial<WorkerRecord>[] = [],
  {
    leaseMs = 3_000,
    isTaken = (_id: string): boolean => false,
    askQueue = async (): Promise<void> => {},
    stopping = [] as readonly Partial<StepRecord>[],
    facts = [] as readonly { type: string; data: object }[],
  } = {},
) {
  const left = [...states];
  const added: Job[] = [];
  const done: string[] = [];
  /** Whose use was looked at. */
  const asked: string[] = [];
  /** Whose questions were withdrawn. */
  const withdrawn: string[] = [];
  const after = [...stopping];
  const tasks = {
    leaseMs,
    querySteps: async () => [left.length > 1 ? left.shift() : left[0]],
    reader: {
      async step() {
        const step = after.shift() ?? READY;
        done.push(step.claim === undefined ? "free" : `claimed by ${step.claim.run_id}`);
        return step;
      },
    },
  } as unknown as Tasks;
  const store = {
    findRun: async (run_id: string) =>
      run_id.startsWith("run_known")
        ? { session_id: `session_of_${run_id}`, run_id, agent_id: "a", status: "running" }
        : run_id.startsWith("run_here")
          ? { session_id: "s", run_id, agent_id: "a", status: "running" }
          : undefined,
    questions: () => ({
      list: async () => [],
      withdrawAll: async (session_id: string) => void withdrawn.push(session_id),
    }),
    heldSessions: async () => [],
    async factsOfTypes(ids: readonly string[], types: readonly string[]) {
      if (types.includes("model.completed")) asked.push(...ids);
      return facts.filter(({ type }) => types.includes(type));
    },
    cluster: {
      workers: async () => workers,
      listen,
      withdrawDispatch: async (_name: unknown, reason: string) =>
        void done.push(`withdrawn: ${reason}`),
    },
  } as unknown as Store;
  const queue: Pick<JobQueue, "add" | "replace"> = {
    async add(_pool, job) {
      await askQueue();
      added.push(job);
    },
    async replace(_pool, id, job) {
      await askQueue();
      if (isTaken(id)) added.push(job);
      return isTaken(id);
    },
  };
  const remote = createRemoteWorkers({
    tasks,
    store: async () => store,
    queue: async () => queue as unknown as JobQueue,
    hooks: [GUARD, { id: "watch", event: "SessionEnd", run() {} }],
    places: { project: "/there" },
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
    done,
    asked,
    withdrawn,
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
  expect(added.map(({ id }) => id)).toEqual([FIRST]);
});

test("a pool whose workers all decline the step is not waited for, and why is said", async () => {
  verifies("DIST-1");
  const declined = [{ ...DECLINED, why: "it is too old." }];
  const { dispatch } = stage([READY], [{ ...PRESENT[0], worker_id: "w1", declined }]);
  await expect(dispatch()).rejects.toThrow(
    "no worker of the pool builders can take it. w1 does not, because it is too old.",
  );
});

test("a step that another call has given to a worker is not given to one twice", async () => {
  verifies("DIST-1", "TASK-4");
  const { dispatch } = stage([READY, READY, DONE, READY, DONE], PRESENT);
  const first = dispatch();
  await expect(dispatch()).rejects.toMatchObject({
    error: { code: "claim_held", details: { started: false } },
  });
  await first;
  expect(await dispatch()).toMatchObject({ result: { error: { code: "worker_lost" } } });
});

test("a pool whose workers are busy is waited for", async () => {
  const { dispatch } = stage([READY, READY, READY, DONE], PRESENT);
  expect(await dispatch()).toMatchObject({ result: { error: { code: "worker_lost" } } });
});

test("a job names the hooks of the dispatching process that can stop calls", async () => {
  verifies("HOOK-1", "DIST-1");
  const { dispatch, added } = stage([READY, DONE], PRESENT);
  await dispatch();
  expect(added).toMatchObject([
    { data: { guards: [{ id: "guard", event: "PreToolUse", tool: "code.*" }] } },
  ]);
});

test("a job that waits no more and was not claimed is replaced, and the step goes to another worker", async () => {
  verifies("DIST-2");
  const left = [FIRST, SECOND];
  // As often as it takes: the third one waits in the queue, however often the dispatch looks.
  const states = [...Array.from({ length: 40 }, () => READY), DONE];
  const { dispatch, added } = stage(states, PRESENT, {
    leaseMs: 3,
    isTaken: (id) => left.includes(id),
  });
  await dispatch();
  expect(added.map(({ id }) => id)).toEqual([FIRST, SECOND, THIRD]);
});

test("a queue that is away is asked again, and then the step is given", async () => {
  verifies("DIST-2");
  let asked = 0;
  const { dispatch, added } = stage([READY, READY, READY, DONE], PRESENT, {
    askQueue: async () => {
      asked += 1;
      if (asked < 3) throw AWAY;
    },
  });
  const said: string[] = [];
  const onWaiting = (what: string): void => void said.push(what);
  await dispatch({ startWithinMs: 60_000, onWaiting });
  expect(added.map(({ id }) => id)).toEqual([FIRST]);
  expect(said).toEqual([
    "waits for the queue. The queue is away.",
    "waits for a worker of the pool builders",
  ]);
});

test("a queue that stays away ends the dispatch, as one that can never be used does at once", async () => {
  verifies("DIST-2");
  const away = stage([READY], PRESENT, { askQueue: () => Promise.reject(AWAY) });
  await expect(away.dispatch()).rejects.toThrow("The queue is away.");
  let asked = 0;
  const refused = stage([READY], PRESENT, {
    askQueue: async () => {
      asked += 1;
      throw new QueueError("queue_package", "Install bullmq.");
    },
  });
  await expect(refused.dispatch({ startWithinMs: 60_000 })).rejects.toThrow("Install bullmq.");
  expect(asked).toBe(1);
});

test("with a job in it, a queue that is away does not end the dispatch", async () => {
  verifies("DIST-2");
  let asked = 0;
  const states = [...Array.from({ length: 20 }, () => READY), DONE];
  const { dispatch } = stage(states, PRESENT, {
    leaseMs: 3,
    askQueue: async () => {
      asked += 1;
      if (asked > 1) throw AWAY;
    },
  });
  expect(await dispatch()).toMatchObject({ result: { error: { code: "worker_lost" } } });
  expect(asked).toBeGreaterThan(2);
});

test("an abort does not wait for a queue that does not answer", async () => {
  const abort = new AbortController();
  const { dispatch } = stage([READY], PRESENT, { askQueue: () => new Promise(() => {}) });
  const dispatched = dispatch({ signal: abort.signal });
  setTimeout(() => abort.abort(new Error("stopped by the user")), 5);
  await expect(dispatched).rejects.toThrow("stopped by the user");
});

test("an abort is withdrawn before the last look, which waits for a claim whose run comes later", async () => {
  verifies("DIST-1", "AGENT-5");
  const claimedBy = (run_id: string) => ({ claim: { run_id } as StepRecord["claim"] });
  const free = { ...READY, earlier: [ended("run_known", "stopped")] };
  const stopping = [claimedBy("run_new"), claimedBy("run_known"), claimedBy("run_known"), free];
  const { dispatch, done } = stage([READY], PRESENT, { stopping });
  const lost: string[] = [];
  const signal = AbortSignal.abort(new Error("stopped by the user"));
  const dispatched = dispatch({ signal, onLost: ({ run_id }) => void lost.push(run_id) });
  await expect(dispatched).rejects.toThrow("stopped by the user");
  expect(done).toEqual([
    "withdrawn: stopped by the user",
    "claimed by run_new",
    "claimed by run_known",
    "claimed by run_known",
    "free",
  ]);
  expect(lost).toEqual(["run_known"]);
});

test("every attempt that came to nothing is charged and ends once, also between two looks and before a cancel", async () => {
  verifies("DIST-2", "AGENT-5");
  const [a, b] = [ended("run_known_a", "lease_lost", 1), ended("run_known_b", "stopped", 2)];
  const after = { ...READY, last_run_id: "run_known_b", earlier: [a, b] };
  for (const last of [
    { ...after, status: "completed", last_run_id: "run_known_c", last_worker: "w3" },
    // Its run has ended already, as one that came to nothing.
    { ...after, status: "cancelled" },
  ] as StepRecord[]) {
    const lost: unknown[] = [];
    const onLost: RemoteWatch["onLost"] = ({ run_id, worker }) => void lost.push([run_id, worker]);
    const { dispatch, asked } = stage([READY, after, last], PRESENT);
    const { child } = await dispatch({ onLost, startWithinMs: 60_000 });
    expect(lost).toEqual([
      ["run_known_a", "w1"],
      ["run_known_b", "w2"],
    ]);
    expect(asked).toEqual(expect.arrayContaining(["session_of_run_known_a"]));
    expect(child?.worker).toBe(last.status === "completed" ? "w3" : undefined);
  }
});

test("a step that a worker of this process has claimed is not charged a second time", async () => {
  verifies("DIST-1", "AGENT-5");
  const claim = { run_id: "run_here", worker: "local/1" } as StepRecord["claim"];
  const here = { ...READY, status: "running", claim } as StepRecord;
  const done = { ...DONE, last_run_id: "run_here" } as StepRecord;
  const claimed: unknown[] = [];
  const { dispatch, asked } = stage([READY, here, done], PRESENT);
  const end = await dispatch({
    startWithinMs: 60_000,
    onClaimed: (child) => void claimed.push(child),
  });
  expect(claimed).toEqual([]);
  expect(asked).toEqual([]);
  expect(end).toMatchObject({
    child: undefined,
    result: { error: { message: "the step is completed" } },
  });
});

test("what a worker does not take of another dispatch does not count against this one", async () => {
  verifies("DIST-1");
  const declined = [{ ...DECLINED, tool_call_id: "an earlier one", why: "it is too old." }];
  const said: string[] = [];
  const { dispatch } = stage([READY, READY, DONE], [{ ...PRESENT[0], worker_id: "w1", declined }]);
  await dispatch({ startWithinMs: 60_000, onWaiting: (what) => void said.push(what) });
  expect(said).toEqual(["waits for a worker of the pool builders"]);
});

function ended(run_id: string, outcome: "lease_lost" | "stopped", attempt = 1) {
  const at = `2026-01-01T00:00:0${attempt}.000Z`;
  return { attempt, outcome, message: "", run_id, worker: `w${attempt}`, at } as const;
}

test("what a step waits for is reported: workers that do not take it, and questions", async () => {
  verifies("DIST-1");
  const why = "there is no agent definition builder here.";
  const declined = [{ ...DECLINED, why }];
  const workers = [{ pool: "builders", worker_id: "w1", draining: false, declined }];
  const said: string[] = [];
  const onWaiting = (what: string): void => void said.push(what);
  await stage([READY, READY, DONE], workers).dispatch({ startWithinMs: 60_000, onWaiting });
  expect(said).toEqual([
    "waits for a worker of the pool builders",
    `waits for a worker that can take it: w1 does not, because ${why}`,
  ]);
});

test("what a worker completed and was killed before it recorded is recorded by the run that waited for it", async () => {
  verifies("DIST-2");
  const done = { ...DONE, attempts: 2, last_run_id: "run_known" };
  const result = { summary: "It is.", artifacts: [] };
  const recorded: unknown[] = [];
  const caller = { record: (...given: unknown[]) => void recorded.push(given) } as never;
  await stage([READY, { ...done, result }]).dispatch({ caller, startWithinMs: 60_000 });
  const about = { task_id: "task_1", step_id: "plan", attempt: 2, summary: "It is." };
  expect(recorded).toMatchObject([["task.step.completed", about]]);
  const facts = [{ type: "task.step.completed", data: about }];
  await stage([READY, { ...done, result }], [], { facts }).dispatch({
    caller,
    startWithinMs: 60_000,
  });
  expect(recorded).toHaveLength(1);
});

test("a step that was begun before its pool was deserted is not called one that was not", async () => {
  const stopped = { attempt: 1, outcome: "lease_lost", message: "", run_id: "r" } as const;
  const back = { ...READY, attempts: 1, earlier: [{ ...stopped, at: "2026-01-01T00:00:00.000Z" }] };
  const begun = stage([READY, back]).dispatch({ startWithinMs: 200 });
  await expect(begun).rejects.toMatchObject({
    error: { code: "no_worker", details: { started: true } },
  });
  await expect(stage([READY]).dispatch()).rejects.toMatchObject({
    error: { details: { started: false } },
  });
});

test("questions of attempts that have ended are withdrawn once, also those of earlier dispatches", async () => {
  verifies("PERM-20");
  const first = { ...READY, attempts: 1, earlier: [ended("run_known_1", "lease_lost")] };
  const earlier = [...first.earlier, ended("run_known_2", "lease_lost", 2)];
  const again = { ...READY, attempts: 2, earlier };
  const cancelled = { ...again, status: "cancelled", last_run_id: "run_known_3" } as StepRecord;
  const { dispatch, withdrawn } = stage([first, first, again, cancelled], PRESENT);
  await dispatch();
  expect(withdrawn).toEqual([1, 2, 3].map((i) => `session_of_run_known_${i}`));
});
