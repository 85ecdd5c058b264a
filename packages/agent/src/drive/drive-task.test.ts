import {
  createKernel,
  createMemoryJournal,
  defineTool,
  type FactType,
  type PolicyInput,
} from "@soong/core";
import { verifies } from "#laws";
import { afterEach, expect, test } from "vitest";
import { factsOfTypes } from "../../../../test/facts.ts";
import { createAgents } from "../child/agents.ts";
import { loadAgentCatalog } from "../child/agent-catalog.ts";
import type { WorkerPool } from "../child/worker-pools.ts";
import type { Model, ModelRequest } from "../model/index.ts";
import { scriptedModel } from "../script/scripted-model.ts";
import type { ScriptTurn } from "../script/script.ts";
import {
  createClaimKeeper,
  createMemoryTasks,
  createTasks,
  taskTools,
  type Tasks,
} from "@soong/tasks";
import { driveTask, type DriveEnd, type DriveEvent, type DriveOptions } from "./index.ts";

/** What comes of each attempt at a step; after the last, and where nothing is said, it is completed. */
type Luck = Readonly<Record<string, readonly Outcome[]>>;
type Outcome = "completed" | "failed" | "blocked" | "nothing" | "waits";
type Steps = Readonly<Record<string, readonly string[]>>;

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function stage(steps: Steps, luck: Luck, given: StageOptions = {}) {
  const { pools = [{ name: "hands", size: 4 }], policy, maxAttempts = 3, storage } = given;
  const tasks = createTasks({
    storage: storage ?? createMemoryTasks(),
    maxAttempts,
    leaseMs: 2000,
  });
  const keeper = createClaimKeeper({ tasks });
  const catalog = await loadAgentCatalog();
  const agents = createAgents({ catalog, childTimeoutMs: 60_000, pools, tasks: { tasks, keeper } });
  const kernel = createKernel({
    tools: DEMO,
    sources: [
      agents.source,
      taskTools({ tasks, keeper, resolveCaller: (ids) => agents.resolveCaller(ids) }),
    ],
    config: { agents: { max_concurrent_children_per_session: 8, max_children_per_run: 1 } },
  });
  const journal = createMemoryJournal();
  const session = await kernel.openSession({
    journal,
    policy,
  });
  closing.push(async () => {
    await keeper.close();
    await session.close();
  });
  const { session_id } = session;
  const caller = {
    actor: { kind: "orchestrator", session_id, run_id: "r", agent_id: "a" },
  } as const;
  const { task } = await tasks.create(caller, {
    title: "The work",
    goal: "It is done.",
    steps: Object.entries(steps).map(([step_id, depends_on]) => ({
      step_id,
      depends_on,
      title: `Do ${step_id}`,
      instructions: "As said.",
    })),
  });
  const { task_id } = task;
  const events: DriveEvent[] = [];
  const model = luckyModel(luck);
  const options: DriveOptions = {
    session,
    task_id,
    agents,
    tasks,
    models: [model.model],
    onEvent: (event) => events.push(event),
  };
  return {
    ...model,
    tasks,
    caller,
    task_id,
    events,
    session,
    agents,
    journal,
    drive: (more: Partial<DriveOptions> = {}): Promise<DriveEnd> =>
      driveTask({ ...options, ...more }),
    facts: <T extends FactType>(type: T) => factsOfTypes(journal.facts, type),
    status: async (step: string) => (await tasks.reader.step(task_id, step))?.status,
  };
}

interface StageOptions {
  readonly pools?: readonly WorkerPool[];
  readonly policy?: PolicyInput;
  readonly maxAttempts?: number;
  readonly storage?: ReturnType<typeof createMemoryTasks>;
}

/** A worker that begins its step and ends it as it is meant to; `waiting` tells of those that wait for ever. */
function luckyModel(luck: Luck) {
  const attempts = new Map<string, number>();
  const byRun = new Map<string, Model>();
  /** The first prompt of each worker. */
  const prompts: string[] = [];
  const plain = scriptedModel({ turns: [] });
  let waits = 0;
  let checkWaits = (): void => {};
  const model: Model = {
    ...plain,
    stream(request, signal) {
      const { run_id = "" } = request;
      if (request.index === 1) prompts.push(promptIn(request));
      const playing = byRun.get(run_id) ?? playerFor(stepIn(request));
      byRun.set(run_id, playing);
      return playing.stream(request, signal);
    },
  };
  return {
    model,
    attempts,
    prompts,
    /** When so many wait. */
    waiting(count: number): Promise<void> {
      return new Promise((resolve) => {
        checkWaits = () => {
          if (waits >= count) resolve();
        };
        checkWaits();
      });
    },
  };

  function playerFor(step: string): Model {
    const attempt = attempts.get(step) ?? 0;
    attempts.set(step, attempt + 1);
    const outcome = luck[step]?.[attempt] ?? "completed";
    const script = scriptedModel({ turns: turnsFor(outcome) });
    if (outcome !== "waits") return script;
    return {
      ...script,
      stream(request, signal) {
        if (request.index === 2) {
          waits += 1;
          checkWaits();
        }
        return script.stream(request, signal);
      },
    };
  }
}

function turnsFor(outcome: Outcome): ScriptTurn[] {
  const end: Readonly<Record<string, string>> =
    outcome === "completed" ? { summary: "It is." } : { reason: `it ${outcome}` };
  const looks = { tool: "agent.task_query_steps", input: {}, id: "looks" };
  const running = { calls: [update({ status: "running" }), looks] };
  if (outcome === "nothing") return [{ text: "I did not bother." }];
  if (outcome === "waits") return [running, { parts: [{ text: "…", after_ms: 2 ** 30 }] }];
  return [running, { calls: [update({ status: outcome, ...end })] }, { text: "That was it." }];
}

function update(input: Readonly<Record<string, string>>) {
  return { tool: "agent.task_update_step", input };
}

function promptIn({ messages: [first] }: ModelRequest): string {
  const content = first?.role === "user" ? first.content : [];
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

function stepIn({ messages }: ModelRequest): string {
  const text = JSON.stringify(messages[0]);
  return /The step (\S+) is claimed for you/.exec(text)?.[1] ?? "";
}

const DIAMOND: Steps = { top: [], left: ["top"], right: ["top"], bottom: ["left", "right"] };

test("ready steps go to free workers until all are done, each once, and the task is completed", async () => {
  verifies("TASK-6");
  const at = await stage(DIAMOND, {});
  const end = await at.drive();
  expect(end).toEqual({ kind: "completed", reason: "All steps are done: 4 completed." });
  expect([...at.attempts]).toEqual([
    ["top", 1],
    ["left", 1],
    ["right", 1],
    ["bottom", 1],
  ]);
  const claims = at.facts("task.step.claimed").map(({ data }) => data.step_id);
  expect(claims).toEqual(["top", "left", "right", "bottom"]);
  const { task } = (await at.tasks.reader.get(at.task_id)) ?? {};
  expect(task).toMatchObject({ status: "completed", result: { summary: end.reason } });
  // On record: one run that drives, and below it one for each dispatch, all of them at their end.
  const runs = at.facts("run.started");
  const ends = at.journal.facts.filter(({ type }) =>
    /^run\.(completed|failed|aborted)$/.test(type),
  );
  expect([runs.length, ends.length]).toEqual([9, 9]);
  expect(new Set(ends.map(({ type }) => type))).toEqual(new Set(["run.completed"]));
  const dispatched = at.facts("task.step.dispatched");
  const [driver] = runs;
  expect(dispatched.map(({ parent_run_id }) => parent_run_id)).toEqual(
    Array.from({ length: 4 }, () => driver?.run_id),
  );
  const { session_id: sessionId } = at.session;
  const seats = runs.map(({ run_id: runId = "" }) =>
    at.agents.activeRuns.find({ sessionId, runId }),
  );
  expect(new Set(seats)).toEqual(new Set([undefined]));
  // There is nothing left to do, and nothing is done.
  expect(await at.drive()).toMatchObject({ kind: "completed" });
  expect(at.facts("run.started")).toHaveLength(9);
});

test("a step that fails is tried again while it has attempts left, however it failed", async () => {
  verifies("TASK-6", "TASK-4");
  const luck: Luck = { left: ["failed"], right: ["nothing", "failed"] };
  const at = await stage(DIAMOND, luck);
  expect(await at.drive()).toMatchObject({ kind: "completed" });
  expect(Object.fromEntries(at.attempts)).toEqual({ top: 1, left: 2, right: 3, bottom: 1 });
  const retried = at.events.filter(({ kind }) => kind === "retried");
  expect(retried.map(({ step_id }) => step_id).toSorted()).toEqual(["left", "right"]);
  const done = at.facts("task.step.completed").map(({ data }) => data.step_id);
  expect(done).toHaveLength(4);
  expect(new Set(done)).toEqual(new Set(["bottom", "left", "right", "top"]));
});

test("the worker that takes over a step learns what was tried, how it ended and what it may have changed", async () => {
  verifies("TASK-6", "TASK-4");
  const at = await stage({ a: [] }, {});
  const { session, task_id, tasks } = at;
  // A worker of a runtime that was killed: one call done, one under way, and its lease ran out.
  const gone = await session.startRun({ run_id: "run_gone", policy: ALLOW });
  await gone.call("demo.write", { path: "done.txt" });
  const turn = gone.openTurn();
  turn.push({ id: "hanging", name: "demo.hang", arguments: { path: "half.txt" } });
  turn.end();
  const { session_id } = session;
  const actor = { kind: "worker", session_id, run_id: "run_gone", agent_id: "g", task_id } as const;
  const claimed = await tasks.claim({ actor }, { task_id, step_id: "a", start: true });
  if (claimed.kind !== "claimed") throw new Error("not claimed");
  await tasks.release(claimed.claim, "ended");
  expect(await at.drive()).toMatchObject({ kind: "completed" });
  const [prompt = ""] = at.prompts;
  expect(prompt).toContain("This step was tried before.");
  expect(prompt).toContain("- Attempt 1 ended as released: its worker ended without finishing it");
  expect(prompt).toContain("  - demo.hang half.txt: unknown, it may or may not have happened");
  expect(prompt).toContain("  - demo.write done.txt: succeeded");
  const call = at.facts("tool.requested").find(({ tool_call_id }) => tool_call_id === "looks");
  const ended = at.facts("tool.completed").find(({ tool_call_id }) => tool_call_id === "looks");
  expect(call).toBeDefined();
  expect(ended?.data).toMatchObject({
    result: {
      data: {
        steps: [
          {
            step_id: "a",
            earlier: [
              {
                attempt: 1,
                outcome: "released",
                calls: [
                  { tool_name: "demo.hang", status: "unknown", targets: ["half.txt"] },
                  { tool_name: "demo.write", status: "succeeded" },
                ],
              },
            ],
          },
        ],
      },
    },
  });
  await turn.abort("the test is over");
});

const ALLOW = { rules: [{ tool: "demo.*", decision: "allow" as const }] };

/** What a worker before did. */
const DEMO = ["demo.write", "demo.hang"].map((name) =>
  defineTool({
    name,
    description: "Does what a worker before has done",
    input_schema: { type: "object" },
    handler: () => (name === "demo.hang" ? new Promise(() => {}) : "done"),
  }),
);

test("a step without luck fails the task with the reason, after all else that could be done", async () => {
  verifies("TASK-6");
  const steps = { ...DIAMOND, after: ["right"] };
  const at = await stage(steps, { left: ["failed", "failed"] }, { maxAttempts: 2 });
  const end = await at.drive();
  expect(end).toEqual({
    kind: "failed",
    reason: "Step left failed 2 times, last: it failed. 1 further steps could not be done.",
  });
  expect(at.attempts.get("left")).toBe(2);
  const { task } = (await at.tasks.reader.get(at.task_id)) ?? {};
  expect(task).toMatchObject({ status: "failed", reason: end.reason });
  expect(await at.status("after")).toBe("completed");
  expect(at.attempts.has("bottom")).toBe(false);
});

test("a blocked step leaves the task open, and it continues when that is over", async () => {
  verifies("TASK-6");
  const at = await stage(DIAMOND, { left: ["blocked"] });
  expect(await at.drive()).toEqual({
    kind: "blocked",
    reason: "Step left is blocked: it blocked.",
  });
  expect(await at.status("right")).toBe("completed");
  const { task_id } = at;
  await at.tasks.updateStep(at.caller, { task_id, step_id: "left", status: "ready" });
  expect(await at.drive()).toMatchObject({ kind: "completed" });
  expect(at.attempts.get("right")).toBe(1);
});

test("an abort stops the workers, gives their steps back unused, and another drive continues", async () => {
  verifies("TASK-6", "TASK-4", "AGENT-5");
  const at = await stage(DIAMOND, { left: ["waits"], right: ["waits"] });
  const stop = new AbortController();
  const driving = at.drive({ signal: stop.signal });
  await at.waiting(2);
  stop.abort("enough");
  expect(await driving).toEqual({ kind: "aborted", reason: "enough" });
  for (const step of ["left", "right"]) {
    const { status, attempts, claim } = (await at.tasks.reader.step(at.task_id, step)) ?? {};
    expect({ status, attempts, claim }).toEqual({ status: "ready", attempts: 0, claim: undefined });
  }
  expect(at.agents.workers.states()[0]).toMatchObject({ idle: 4, busy: 0 });
  expect(await at.drive()).toMatchObject({ kind: "completed" });
  // One that is asked to stop before it begins does nothing.
  expect(at.attempts.get("left")).toBe(2);
  const other = await stage(DIAMOND, {});
  expect(await other.drive({ signal: AbortSignal.abort("no") })).toMatchObject({ kind: "aborted" });
  expect(other.attempts.size).toBe(0);
});

test("two drivers share the work, and no step is done twice", async () => {
  verifies("TASK-6", "TASK-4");
  const many = Array.from({ length: 20 }, (_, i) => `s${i}`);
  const steps: Steps = { ...Object.fromEntries(many.map((id) => [id, []])), end: many };
  const at = await stage(steps, { s3: ["failed"], s7: ["nothing"] });
  const ends = await Promise.all([at.drive(), at.drive(), at.drive({ pools: ["hands"] })]);
  expect(ends.map(({ kind }) => kind)).toEqual(["completed", "completed", "completed"]);
  const done = at.facts("task.step.completed").map(({ data }) => data.step_id);
  expect(done).toHaveLength(21);
  expect(new Set(done).size).toBe(21);
  expect(at.facts("task.completed")).toHaveLength(1);
  expect(at.attempts.get("s3")).toBe(2);
});

test("no worker is sent to a second step before it is back from the first", async () => {
  verifies("TASK-6", "SCHED-2");
  const steps = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`s${i}`, []]));
  const at = await stage(steps, {});
  expect(await at.drive()).toMatchObject({ kind: "completed" });
  // None was refused for being busy: one run that drives, and two for each step.
  expect(at.facts("tool.failed")).toEqual([]);
  expect(at.facts("run.started")).toHaveLength(25);
});

test("a drive waits for what others work on, and takes over when they stop", async () => {
  verifies("TASK-6", "TASK-4");
  const at = await stage({ only: [] }, { only: ["waits"] });
  const stop = new AbortController();
  const first = at.drive({ signal: stop.signal });
  await at.waiting(1);
  let looks = 0;
  let second: Promise<DriveEnd> | undefined;
  await new Promise<void>((resolve) => {
    const { tasks } = at;
    const get: typeof tasks.get = (caller, task_id) => {
      looks += 1;
      // It has looked once, and did not take it for the end.
      if (looks === 2) resolve();
      return tasks.get(caller, task_id);
    };
    second = at.drive({ tasks: { ...tasks, get } });
    void second.then(() => resolve());
  });
  stop.abort("enough");
  expect(await first).toMatchObject({ kind: "aborted" });
  expect(await second).toMatchObject({ kind: "completed" });
});

test("a drive reports the steps that workers of an earlier one have, and what these wait for", async () => {
  verifies("TASK-6");
  const at = await stage({ top: [], bottom: ["top"] }, {});
  const worker = {
    actor: { ...at.caller.actor, kind: "worker", task_id: at.task_id, worker: "far/1" },
  } as const;
  const claim = await at.tasks.claim(worker, { task_id: at.task_id, step_id: "top", start: true });
  if (claim.kind !== "claimed") throw new Error("not claimed");
  const { claim: claimed } = claim;
  let looks = 0;
  const end = at.drive({
    async describeWaits(steps) {
      looks += 1;
      expect(steps.map(({ step_id }) => step_id)).toEqual(["top"]);
      // A description that cannot be read does not end the drive.
      if (looks === 1) throw new Error("The store does not answer.");
      // Seen twice, reported once.
      if (looks === 3) {
        const update = { token: claimed.token, step_id: "top", task_id: at.task_id };
        await at.tasks.updateStep(worker, { ...update, status: "completed", summary: "It is." });
      }
      return new Map([["top", ["waits for approval: make"]]]);
    },
  });
  expect(await end).toMatchObject({ kind: "completed" });
  const about = { step_id: "top", worker: "far/1" };
  const [first, second, ...rest] = at.events;
  expect([first, second]).toEqual([
    { ...about, kind: "waiting", message: "is at work on far/1 already" },
    { ...about, kind: "waiting", message: "waits for approval: make" },
  ]);
  expect(rest).toHaveLength(3);
  const ended = { ...about, kind: "step_ended", status: "completed", summary: "It is." };
  expect(rest).toContainEqual(expect.objectContaining({ ...ended, of_steps: 2 }));
  // Each has a number of its own.
  expect(rest.flatMap((one) => (one.kind === "step_ended" ? [one.completed] : []))).toEqual([1, 2]);
});

test("a task that another session completes at the same moment is completed", async () => {
  verifies("TASK-6");
  const at = await stage({ only: [] }, {});
  const { tasks } = at;
  const complete: typeof tasks.complete = async (caller, completion) => {
    await tasks.complete(at.caller, { ...completion, summary: "I was faster." });
    return tasks.complete(caller, completion);
  };
  expect(await at.drive({ tasks: { ...tasks, complete } })).toEqual({
    kind: "completed",
    reason: "I was faster.",
  });
});

test("a drive ends with the task that another session has ended, and its workers with it", async () => {
  verifies("TASK-6");
  const at = await stage(DIAMOND, { top: ["waits"] });
  const driving = at.drive();
  await at.waiting(1);
  await at.tasks.cancel(at.caller, { task_id: at.task_id, reason: "not needed" });
  expect(await driving).toEqual({ kind: "cancelled", reason: "not needed" });
  expect(at.facts("agent.child.cancelled")).toHaveLength(1);
  expect(at.events.at(-1)).toMatchObject({
    kind: "step_ended",
    summary: expect.stringContaining("the task was cancelled: not needed") as string,
  });
});

test("the end of a step names the worker that had it, and the place it was given to where none had", async () => {
  verifies("TASK-6");
  const at = await stage({ only: [] }, { only: ["failed"] });
  await at.drive({ tasks: asOfAnotherHost(at.tasks) });
  const ends = at.events.filter(({ kind }) => kind === "step_ended");
  expect(ends).toMatchObject([
    { status: "failed", worker: "hands@host-a/1" },
    { status: "completed", worker: "hands@host-a/1" },
  ]);
  const policy: PolicyInput = { rules: [{ tool: "agent.dispatch_worker", decision: "ask" }] };
  const denied = await stage({ only: [] }, {}, { policy });
  await denied.drive({ tasks: asOfAnotherHost(denied.tasks) });
  expect(denied.events.at(-1)).toMatchObject({ kind: "step_ended", worker: "hands/1" });
});

function asOfAnotherHost(tasks: Tasks): Tasks {
  const step: typeof tasks.reader.step = async (...asked) => {
    const found = await tasks.reader.step(...asked);
    return found && { ...found, last_worker: "hands@host-a/1" };
  };
  return { ...tasks, reader: { ...tasks.reader, step } };
}

test("workers that cannot start are reported, and nothing is retried for ever", async () => {
  verifies("TASK-6");
  const pools = [{ name: "odd", size: 2, agent_definition_id: "nobody" }];
  const odd = await stage(DIAMOND, {}, { pools });
  const end = await odd.drive();
  expect(end.kind).toBe("stuck");
  expect(end.reason).toContain('There is no agent definition "nobody"');
  expect(await odd.status("top")).toBe("ready");
  expect(odd.facts("task.step.dispatched")).toHaveLength(1);
  const policy: PolicyInput = {
    rules: [{ tool: "agent.dispatch_worker", decision: "deny", reason: "no workers here" }],
  };
  const denied = await stage(DIAMOND, {}, { policy });
  expect(await denied.drive()).toMatchObject({
    kind: "stuck",
    reason: expect.stringContaining("agent.dispatch_worker") as string,
  });
  const none = await stage(DIAMOND, {}, { pools: [] });
  expect(await none.drive()).toEqual({
    kind: "stuck",
    reason: "There is no worker to give steps to.",
  });
  // One pool that works is enough.
  const both = await stage(DIAMOND, {}, { pools: [...pools, { name: "hands", size: 1 }] });
  expect(await both.drive()).toMatchObject({ kind: "completed" });
  expect(new Set(both.facts("worker.dispatched").map(({ data }) => data.pool))).toEqual(
    new Set(["hands"]),
  );
});

test("a task of another session is not known here", async () => {
  verifies("TASK-5");
  const storage = createMemoryTasks();
  const one = await stage(DIAMOND, {}, { storage });
  const other = await stage(DIAMOND, {}, { storage });
  await expect(one.drive({ task_id: other.task_id })).rejects.toThrow("There is no task");
  await expect(one.drive({ task_id: "task_none" })).rejects.toThrow("There is no task task_none");
  expect(one.facts("run.started")).toEqual([]);
});
