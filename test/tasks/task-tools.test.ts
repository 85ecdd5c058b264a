// The task tools as a model meets them (TASK-1): through the kernel, in the role of the run, with answers it can act on.

import { afterEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import {
  createHeldClock,
  createKernel,
  type Fact,
  type Mode,
  type Role,
  type Run,
  type Session,
  type ToolResult,
} from "@soong/core";
import {
  createClaimKeeper,
  createMemoryTasks,
  createTasks,
  taskTools,
  type ClaimKeeper,
  type TaskCaller,
} from "../../packages/tasks/src/index.ts";
import { LEASE_MS } from "./task-stage.ts";

const TOOLS = [
  "agent.task_cancel",
  "agent.task_claim_step",
  "agent.task_complete",
  "agent.task_create",
  "agent.task_fail",
  "agent.task_get",
  "agent.task_list",
  "agent.task_query_steps",
  "agent.task_template",
  "agent.task_update",
  "agent.task_update_step",
];

const step = { title: "T", instructions: "I" };
const PLAN = {
  title: "A task",
  goal: "Done",
  steps: [
    { ...step, step_id: "a" },
    { ...step, step_id: "b", depends_on: ["a"] },
  ],
};

let fixture: Fixture | undefined;
afterEach(async () => {
  await fixture?.keeper.close();
  fixture = undefined;
});

describe("the task tools", () => {
  test("are eleven, readonly, and only those that change nothing run beside others", async () => {
    verifies("TASK-1", "SURF-10");
    const { tools } = taskTools(await openFixture());
    expect(tools.map(({ name }) => name).toSorted()).toEqual(TOOLS);
    const safe = tools.filter(({ concurrency_safe }) => concurrency_safe === true);
    expect(safe.map(({ name }) => name).toSorted()).toEqual([
      "agent.task_get",
      "agent.task_list",
      "agent.task_query_steps",
      "agent.task_template",
    ]);
    for (const { permission, destructive, description } of tools) {
      expect({ permission, destructive }).toEqual({ permission: "readonly", destructive: false });
      expect(description.length).toBeGreaterThan(40);
    }
  });

  test("change nothing while the answer can still be abandoned", async () => {
    verifies("SCHED-5", "SCHED-6", "LOOP-3");
    const { orchestrator, tasks } = await openFixture();
    const main = await orchestrator();
    const list = () => tasks.list(main.caller, {});
    const abandoned = main.run.openTurn();
    abandoned.push({ name: "agent.task_create", arguments: PLAN });
    const [lost] = await abandoned.discard("the stream broke");
    expect(lost?.status).toBe("discarded");
    expect(await list()).toEqual([]);
    const kept = main.run.openTurn();
    kept.push({ name: "agent.task_create", arguments: PLAN });
    kept.end();
    await kept.settled();
    expect(await list()).toHaveLength(1);
  });

  test("take a task from its plan to its end, and record each step of it as a fact", async () => {
    verifies("TASK-1", "TASK-2", "EVENT-2");
    const { orchestrator, worker, facts } = await openFixture();
    const main = await orchestrator();
    const template = await main.call("agent.task_template", {});
    expect(template.status).toBe("succeeded");
    const { task_id } = data(await main.call("agent.task_create", PLAN)) as { task_id: string };
    const hand = await worker(task_id);
    const claimed = await hand.call("agent.task_claim_step", {});
    expect(data(claimed)).toMatchObject({
      claimed: true,
      goal: "Done",
      step: { step_id: "a", status: "claimed", instructions: "I" },
    });
    expect(JSON.stringify(claimed)).not.toContain("token");
    await ok(hand.call("agent.task_update_step", { status: "running" }));
    await ok(hand.call("agent.task_update_step", { note: "half way" }));
    await ok(
      hand.call("agent.task_update_step", {
        step_id: "a",
        status: "completed",
        summary: "did a",
        artifacts: ["art_1"],
      }),
    );
    await ok(hand.call("agent.task_claim_step", { step_id: "b", start: true }));
    expect(data(await hand.call("agent.task_get", {}))).toMatchObject({
      status: "running",
      steps: { total: 2, running: 1, completed: 1 },
    });
    await ok(hand.call("agent.task_update_step", { status: "failed", reason: "no luck" }));
    expect(data(await hand.call("agent.task_claim_step", {}))).toMatchObject({ claimed: false });
    const retry = [
      { op: "update_step", step_id: "b", instructions: "Better" },
      { op: "retry_step", step_id: "b" },
    ];
    await ok(main.call("agent.task_update", { task_id, operations: retry, expected_version: 1 }));
    await ok(hand.call("agent.task_claim_step", { start: true }));
    await ok(
      main.call("agent.task_update_step", {
        task_id,
        step_id: "b",
        status: "completed",
        summary: "by me",
      }),
    );
    const query = await main.call("agent.task_query_steps", {
      task_id,
      statuses: ["completed"],
      detail: "full",
    });
    expect(data(query)).toMatchObject({
      complete: true,
      steps: [
        { step_id: "a", result: { summary: "did a", artifacts: ["art_1"] } },
        { step_id: "b", instructions: "Better", attempts: 2, result: { summary: "by me" } },
      ],
    });
    await ok(main.call("agent.task_complete", { task_id, summary: "all done" }));
    expect(data(await main.call("agent.task_list", {}))).toMatchObject({
      tasks: [{ task_id, status: "completed" }],
    });
    const told = (await facts()).filter(({ type }) => type.startsWith("task."));
    expect(told.map(({ type }) => type)).toEqual([
      "task.created",
      "task.step.claimed",
      "task.started",
      "task.step.started",
      "task.step.completed",
      "task.step.claimed",
      "task.step.started",
      "task.step.failed",
      "task.updated",
      "task.step.retried",
      "task.step.claimed",
      "task.step.started",
      "task.step.completed",
      "task.completed",
    ]);
    // Each in the run that did it.
    expect(told.at(0)?.run_id).toBe(main.run.identity.run_id);
    expect(told.at(1)?.run_id).toBe(hand.run.identity.run_id);
  });

  test("leave the template as a node of the conversation", async () => {
    verifies("TASK-1");
    const { orchestrator, nodes } = await openFixture();
    await ok((await orchestrator()).call("agent.task_template", {}));
    const [node] = nodes().filter(({ kind }) => kind === "task_instruction");
    expect(JSON.stringify(node?.content)).toContain("How to plan and run a task");
  });

  test.each<[string, object, string]>([
    ["agent.task_create", { ...PLAN, status: "completed" }, "status"],
    ["agent.task_create", { ...PLAN, steps: [{ ...step, status: "completed" }] }, "status"],
    [
      "agent.task_create",
      { ...PLAN, steps: [{ ...step, step_id: "a", depends_on: ["a"] }] },
      "a → a",
    ],
    ["agent.task_create", { title: "T" }, "goal"],
    ["agent.task_get", {}, "task_id is missing"],
    ["agent.task_get", { task_id: "task_none" }, "There is no task task_none"],
    ["agent.task_update", { task_id: "task_none", operations: [] }, "operations"],
    ["agent.task_update_step", { task_id: "task_none", status: "running" }, "step_id is missing"],
    ["agent.task_cancel", { task_id: "task_none" }, "reason"],
  ])("%s refuses %j with words a model can act on", async (name, input, message) => {
    verifies("TASK-1", "TASK-5");
    const { orchestrator, facts } = await openFixture();
    const result = await (await orchestrator()).call(name, input);
    expect(result.is_error).toBe(true);
    expect(JSON.stringify(result.content)).toContain(message);
    expect((await facts()).filter(({ type }) => type.startsWith("task."))).toEqual([]);
  });

  test("do nothing for a run that is neither, even when it has them on its surface", async () => {
    verifies("TASK-5");
    const { orchestrator, run, nobody } = await openFixture();
    const main = await orchestrator();
    const { task_id } = data(await main.call("agent.task_create", PLAN)) as { task_id: string };
    // The surface is the first wall: a main agent in its normal mode has none of them.
    const normal = await run("main", "normal", nobody);
    expect((await normal.call("agent.task_get", { task_id })).error?.code).toBe(
      "tool_not_available",
    );
    // And who passes it is still no one.
    const posing = await run("main", "orchestrator", nobody);
    for (const [name, input] of [
      ["agent.task_template", {}],
      ["agent.task_create", PLAN],
      ["agent.task_list", {}],
      ["agent.task_get", { task_id }],
      ["agent.task_cancel", { task_id, reason: "r" }],
    ] as const) {
      const result = await posing.call(name, input);
      expect(result.error).toMatchObject({ code: "not_allowed", error_class: "policy_blocked" });
    }
  });

  test("keep the lease of a worker for as long as it lives, and refuse it once it is lost", async () => {
    verifies("TASK-4");
    const { orchestrator, worker, clock, keeper } = await openFixture();
    const main = await orchestrator();
    const { task_id } = data(await main.call("agent.task_create", PLAN)) as { task_id: string };
    const hand = await worker(task_id);
    await ok(hand.call("agent.task_claim_step", { start: true }));
    // A call of many minutes, and no word to the task meanwhile.
    await clock.advance(LEASE_MS * 20);
    await ok(hand.call("agent.task_update_step", { note: "still here" }));
    await ok(main.call("agent.task_update_step", { task_id, step_id: "a", status: "ready" }));
    const late = await hand.call("agent.task_update_step", { status: "completed", summary: "s" });
    expect(late.error).toMatchObject({ code: "claim_lost" });
    const named = await hand.call("agent.task_update_step", {
      step_id: "b",
      status: "completed",
      summary: "s",
    });
    expect(named.error).toMatchObject({ code: "not_allowed" });
    await keeper.leave(hand.run.identity.run_id, "ended");
    expect(clock.pending).toBe(0);
  });
});

interface Fixture {
  readonly tasks: ReturnType<typeof createTasks>;
  readonly keeper: ClaimKeeper;
  readonly resolveCaller: Parameters<typeof taskTools>[0]["resolveCaller"];
  readonly clock: ReturnType<typeof createHeldClock>;
  readonly nobody: CallerOf;
  readonly orchestrator: () => Promise<Hand>;
  readonly worker: (task_id: string) => Promise<Hand>;
  readonly run: (role: Role, mode: Mode, caller: CallerOf) => Promise<Hand>;
  readonly facts: () => Promise<readonly Fact[]>;
  readonly nodes: () => { kind: string; content?: unknown }[];
}

interface Hand {
  readonly run: Run;
  readonly caller: TaskCaller;
  call(name: string, input: object): Promise<ToolResult>;
}

type CallerOf = (run: Run) => TaskCaller["actor"];

async function openFixture(): Promise<Fixture> {
  const clock = createHeldClock(Date.UTC(2026, 0, 2));
  const tasks = createTasks({ storage: createMemoryTasks(), clock, leaseMs: LEASE_MS });
  const keeper = createClaimKeeper({ tasks, clock });
  const seats = new Map<string, TaskCaller>();
  const resolveCaller: Fixture["resolveCaller"] = ({ runId }) => {
    const caller = seats.get(runId);
    if (caller === undefined) throw new Error("nobody sits there");
    return caller;
  };
  const kernel = createKernel({ sources: [taskTools({ tasks, keeper, resolveCaller })] });
  const written: { kind: string; content?: unknown }[] = [];
  const facts: Fact[] = [];
  const session: Session = await kernel.openSession({
    journal: {
      append(entry) {
        facts.push(...entry.facts);
        written.push(...(entry.nodes ?? []));
      },
      read: async (after, limit) => facts.filter(({ seq }) => seq > after).slice(0, limit),
      flush: async () => {},
    },
  });
  const { session_id } = session;
  const idsOf = ({ identity }: Run): { session_id: string; run_id: string; agent_id: string } => ({
    session_id,
    run_id: identity.run_id,
    agent_id: identity.agent_id,
  });
  const made: Fixture = {
    tasks,
    keeper,
    resolveCaller,
    clock,
    nobody: (run) => ({ kind: "other", ...idsOf(run), role: "main" }),
    orchestrator: () =>
      made.run("main", "orchestrator", (run) => ({ kind: "orchestrator", ...idsOf(run) })),
    worker: (task_id) =>
      made.run("worker", "normal", (run) => ({ kind: "worker", ...idsOf(run), task_id })),
    async run(role, mode, actorOf) {
      const run = await session.startRun({ role, mode });
      const caller: TaskCaller = {
        actor: actorOf(run),
        record: (type, about) => void run.recorder.record(type, about),
      };
      seats.set(run.identity.run_id, caller);
      return { run, caller, call: (name, input) => run.call(name, input) };
    },
    facts: async () => facts,
    nodes: () => written,
  };
  fixture = made;
  return made;
}

async function ok(call: Promise<ToolResult>): Promise<void> {
  const { status, error } = await call;
  expect({ status, error }).toEqual({ status: "succeeded", error: undefined });
}

function data(result: ToolResult): unknown {
  expect(result.error).toBeUndefined();
  return result.data;
}
