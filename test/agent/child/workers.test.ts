// Workers (SCHED-2, SURF-6, TASK-4, 5): an orchestrator gives steps to idle ones, and what the task has on record counts.

import type { ToolResult } from "@soong/core";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { driven } from "../loop-stage.ts";
import { readTool, slowTool, writeTool } from "../loop-tools.ts";
import { start, told } from "./agent-stage.ts";
import {
  BEGINS,
  COMPLETES,
  dispatch,
  newTask,
  openWorkerStage,
  TASK,
  type WorkerStage,
} from "./worker-stage.ts";

const DISPATCH = "agent.dispatch_worker";

function results(stage: WorkerStage, tool = DISPATCH): ToolResult[] {
  return stage
    .facts("tool.completed", "tool.failed", "tool.cancelled")
    .filter(({ tool_name }) => tool_name === tool)
    .toSorted((a, b) => ((a.tool_call_id ?? "") < (b.tool_call_id ?? "") ? -1 : 1))
    .map(({ data }) => data.result);
}

test("steps go to idle workers at the same time, and a pool that is full says so", async () => {
  verifies("SCHED-2", "AGENT-1", "SURF-6", "TASK-5");
  const stage = await openWorkerStage(
    {
      turns: [
        newTask("a", "b", ["c", ["a", "b"]]),
        start("agent.list_workers", {}),
        {
          calls: [
            { ...dispatch({ step_id: "a" }), id: "1" },
            { ...dispatch({ step_id: "b", instructions: "Mind the gap." }), id: "2" },
            { ...dispatch({ step_id: "c" }), id: "3" },
          ],
        },
        { calls: [{ ...dispatch({ step_id: "c" }), id: "4" }] },
        {
          expect: [{ last_user: { contains: "Your open tasks as they stand now" } }],
          calls: [{ tool: "agent.task_complete", input: { task_id: TASK, summary: "Done." } }],
        },
        { text: "All done." },
      ],
      agents: {
        default_worker_agent: [
          [
            {
              expect: [
                { last_user: { matches: "worker hands/1[^]*step a is claimed for you" } },
                {
                  tools: [
                    "code.read",
                    "agent.task_get",
                    "agent.task_query_steps",
                    "agent.task_claim_step",
                    "agent.task_update_step",
                  ],
                },
                { not_tools: ["code.write", "agent.task_create", "agent.dispatch_worker"] },
              ],
              ...BEGINS,
            },
            COMPLETES,
            { text: "Step a is done." },
          ],
          [
            { expect: [{ last_user: { contains: "Mind the gap." } }], ...BEGINS },
            COMPLETES,
            { text: "Step b is done." },
          ],
          [BEGINS, COMPLETES, { text: "Step c is done." }],
        ],
      },
    },
    { tools: [readTool("code.read", () => "x"), writeTool("code.write", [])] },
  );
  expect(await stage.ask("go")).toMatchObject({ reason: "completed", answer: "All done." });
  const [one, two, busy, last] = results(stage);
  expect(results(stage, "agent.list_workers")[0]?.data).toMatchObject({
    pools: [
      { pool: "hands", idle: 2, busy: 0, workers: [{ worker: "hands/1", state: "idle" }, {}] },
    ],
  });
  expect(one).toMatchObject({
    status: "succeeded",
    data: {
      status: "completed",
      role: "worker",
      summary: "Step a is done.",
      task: { task_id: TASK, steps: [{ step_id: "a", status: "completed" }] },
    },
  });
  expect(JSON.stringify(one?.content)).toContain(
    `On record for task ${TASK}: step a is completed.`,
  );
  expect(two).toMatchObject({ status: "succeeded" });
  expect(busy).toMatchObject({
    status: "failed",
    error: { code: "worker_busy", retryable: true, recovery: "retry_after_delay" },
  });
  expect(last).toMatchObject({ status: "succeeded" });
  const { task } = (await stage.tasks.reader.get(TASK)) ?? {};
  expect(task?.status).toBe("completed");
  expect(stage.facts("worker.dispatched").map(({ data }) => data)).toMatchObject([
    { pool: "hands", worker: "hands/1", task_id: TASK, step_id: "a" },
    { pool: "hands", worker: "hands/2", task_id: TASK, step_id: "b" },
    { pool: "hands", worker: "hands/1", task_id: TASK, step_id: "c" },
  ]);
  expect(told(stage.journal.facts, "run.started", "run.completed").slice(1, 4)).toEqual([
    "child 1: run.started",
    "child 2: run.started",
    "child 1: run.completed",
  ]);
  // The steps' facts are the worker's own, in the one journal.
  const completed = stage.facts("task.step.completed");
  expect(completed).toHaveLength(3);
  expect(completed.every(({ parent_run_id }) => parent_run_id !== undefined)).toBe(true);
});

test("where the worker's words and the task differ, the task counts, and both are reported", async () => {
  verifies("AGENT-4", "TASK-4", "TASK-5");
  const stage = await openWorkerStage({
    turns: [
      newTask("a", "b"),
      { calls: [{ ...dispatch({ step_id: "a" }), id: "1" }] },
      { calls: [{ ...dispatch({ step_id: "b" }), id: "2" }] },
      { text: "Hm." },
    ],
    agents: {
      default_worker_agent: [
        // Says it is done, and never touched the step.
        [{ text: "Everything is done." }],
        // Does it, and then runs into a wall.
        [BEGINS, COMPLETES],
      ],
    },
  });
  expect(await stage.ask("go")).toMatchObject({ reason: "completed" });
  const [said, done] = results(stage);
  expect(said).toMatchObject({
    status: "failed",
    error: { code: "step_not_finished" },
    data: { status: "completed", task: { steps: [{ step_id: "a", status: "ready" }] } },
  });
  const text = JSON.stringify(said?.content);
  expect(text).toContain("That counts, though its worker says it is done.");
  expect(text).toContain("Everything is done.");
  expect(done).toMatchObject({
    status: "succeeded",
    data: { status: "failed", task: { steps: [{ step_id: "b", status: "completed" }] } },
  });
  expect(JSON.stringify(done?.content)).toContain("That counts, though its worker failed.");
  const [released] = stage.facts("task.step.released");
  expect(released?.data).toMatchObject({ step_id: "a" });
});

test("a claim lives as long as its worker does, and goes back when the worker is stopped", async () => {
  verifies("TASK-4", "AGENT-5");
  const stage = await openWorkerStage(
    {
      turns: [newTask("a"), { calls: [dispatch({})] }],
      agents: {
        default_worker_agent: [
          [
            { calls: [{ tool: "agent.task_claim_step", input: { start: true } }] },
            { parts: [{ text: "Working." }, { text: "never", after_ms: 80_000_000 }] },
          ],
        ],
      },
    },
    { limits: { idle_timeout_ms: 90_000_000 } },
  );
  const run = stage.conversation.send("go");
  await stage.clock.settle();
  // Far longer than a lease.
  for (let i = 0; i < 30; i += 1) await stage.clock.advance(20_000);
  const before = await stage.tasks.reader.step(TASK, "a");
  expect(before).toMatchObject({ status: "running", claim: { worker: "hands/1" } });
  expect(stage.agents.workers.states()).toMatchObject([{ idle: 1, busy: 1 }]);
  slowToLeave(stage);
  await driven(stage.clock, run.abort("enough"));
  expect(await run.end).toMatchObject({ reason: "aborted_tools" });
  expect(await stage.tasks.reader.step(TASK, "a")).toMatchObject({ status: "ready", attempts: 0 });
  const released = stage.facts("task.step.released")[0]?.seq ?? Infinity;
  const call = stage.facts("tool.failed").find(({ tool_name }) => tool_name === DISPATCH);
  expect(call?.seq, "the call ends when its step is back").toBeGreaterThan(released);
  expect(stage.agents.workers.states()).toMatchObject([{ idle: 2, busy: 0 }]);
  expect(stage.facts("agent.child.cancelled")).toHaveLength(1);
});

test("a worker that has lost its step is stopped, and its dispatch says why", async () => {
  verifies("TASK-4", "AGENT-5");
  const written: string[] = [];
  const stage = await openWorkerStage(
    {
      turns: [newTask("a"), { calls: [dispatch({ step_id: "a" })] }, { text: "ok" }],
      agents: {
        default_worker_agent: [
          [
            BEGINS,
            { text: "Working.", calls: [{ tool: "a.slow", input: {} }] },
            { calls: [{ tool: "code.write", input: {} }] },
          ],
        ],
      },
    },
    {
      tools: [slowTool(() => stage.clock, "a.slow", 100_000), writeTool("code.write", written)],
      pools: [{ name: "hands", size: 1, allowed_tools: ["a.slow", "code.write"] }],
      sessionOptions: { ask: async () => ({ decision: "allow_once" }) },
    },
  );
  const run = stage.conversation.send("go");
  await stage.clock.settle();
  await stage.clock.advance(30_000);
  const [created] = stage.facts("task.created");
  const { session_id } = stage.session;
  const { run_id = "", agent_id = "" } = created ?? {};
  const actor = { kind: "orchestrator", session_id, run_id, agent_id } as const;
  await stage.tasks.cancel({ actor }, { task_id: TASK, reason: "Not needed." });
  await stage.clock.advance(20_000);
  expect(stage.ofChild(0).at(-1)).toMatchObject({ type: "run.aborted" });
  expect(await stage.finish(run)).toMatchObject({ reason: "completed" });
  expect(written).toEqual([]);
  const [result] = results(stage);
  expect(result).toMatchObject({ status: "failed", data: { status: "cancelled" } });
  expect(result?.error?.message).toContain("lost its claim on a: ");
  expect(result?.error?.message).toContain("the step is cancelled now");
  expect(stage.agents.workers.states()).toMatchObject([{ idle: 1, busy: 0 }]);
});

/** As a store is that others are at work on. */
function slowToLeave({ keeper, clock }: WorkerStage): void {
  const leave = keeper.leave.bind(keeper);
  Object.assign(keeper, {
    async leave(...args: Parameters<typeof leave>) {
      await new Promise<void>((resolve) => {
        clock.after(1500, resolve);
      });
      await leave(...args);
    },
  });
}

test("a dispatch asks no worker elsewhere for more tools than its pool has, which none would take", async () => {
  verifies("DIST-1", "SURF-4");
  const asked: unknown[] = [];
  const stage = await openWorkerStage(
    {
      turns: [
        newTask("a"),
        { calls: [dispatch({ step_id: "a", allowed_tools: ["code.write"] })] },
        { text: "Then not." },
      ],
    },
    {
      tools: [readTool("code.look", () => ""), writeTool("code.write", [])],
      pools: [{ name: "hands", size: 1, remote: true, allowed_tools: ["code.look"] }],
      remote: {
        async dispatch(work) {
          asked.push(work);
          throw new Error("There is no one.");
        },
      },
    },
  );
  await stage.finish(stage.conversation.send("go"));
  expect(results(stage)[0]?.error?.message).toContain(
    '"hands" may be given code.look at the most, and allowed_tools names code.write.',
  );
  expect(asked).toEqual([]);
});

test("a worker whose definition skips what is missing starts with what there is", async () => {
  verifies("SURF-4", "AGENT-3");
  const definition = {
    id: "hand",
    description: "Works.",
    system: "You work.",
    roles: ["worker"],
    allowed_tools: ["code.look", "mcp.gone.add"],
    skip_missing_tools: true,
  } as const;
  const stage = await openWorkerStage(
    {
      turns: [newTask("a"), { calls: [dispatch({ step_id: "a" })] }, { text: "ok" }],
      agents: {
        hand: [
          [BEGINS, { calls: [{ tool: "code.look", input: {} }] }, COMPLETES, { text: "Done." }],
        ],
      },
    },
    {
      tools: [readTool("code.look", () => "seen")],
      definitions: [definition],
      pools: [{ name: "hands", size: 1, agent_definition_id: "hand" }],
    },
  );
  await stage.finish(stage.conversation.send("go"));
  expect(results(stage)[0]).toMatchObject({ status: "succeeded" });
});

test("a dispatch that cannot be is refused before anything begins, and leaves no worker busy", async () => {
  verifies("SURF-4", "SURF-6", "AGENT-3");
  const stage = await openWorkerStage(
    {
      turns: [
        newTask("a", ["b", ["a"]]),
        {
          calls: [
            { ...dispatch({ pool: "feet" }), id: "1" },
            { ...dispatch({ pool: undefined, worker: "hands/9" }), id: "2" },
            { ...dispatch({ worker: "hands/1" }), id: "3" },
            { ...dispatch({ task_id: "task_9" }), id: "4" },
          ],
        },
        {
          calls: [
            { ...dispatch({ step_id: "b" }), id: "5" },
            { ...dispatch({ step_id: "a", allowed_tools: ["code.wriet"] }), id: "6" },
          ],
        },
        { text: "ok" },
      ],
    },
    { tools: [writeTool("code.write", [])] },
  );
  expect(await stage.ask("go")).toMatchObject({ reason: "completed" });
  expect(results(stage).map(({ error }) => error?.code)).toEqual([
    "unknown_worker",
    "unknown_worker",
    "invalid_arguments",
    "task_unknown",
    "step_not_ready",
    "invalid_allowed_tools",
  ]);
  expect(stage.facts("agent.child.created", "worker.dispatched")).toEqual([]);
  expect(stage.agents.workers.states()).toMatchObject([{ idle: 2, busy: 0 }]);
  // The step that had been claimed for a worker that never began is ready again, and that was no attempt.
  expect(await stage.tasks.reader.step(TASK, "a")).toMatchObject({ status: "ready", attempts: 0 });
});

test("a tool that writes is had when the pool or the dispatch asks for it, beside the task's own", async () => {
  verifies("SURF-6", "SURF-4");
  const written: string[] = [];
  const stage = await openWorkerStage(
    {
      turns: [
        newTask("a"),
        { calls: [dispatch({ step_id: "a", allowed_tools: ["code.write"] })] },
        { text: "ok" },
      ],
      agents: {
        default_worker_agent: [
          [
            {
              expect: [
                { tools: ["code.write", "code.look", "agent.task_update_step"] },
                { not_tools: ["code.read"] },
              ],
              calls: [
                { tool: "code.write", input: { n: 1 } },
                { tool: "agent.task_update_step", input: { status: "running" } },
              ],
            },
            COMPLETES,
            { text: "Written." },
          ],
        ],
      },
    },
    {
      tools: [
        writeTool("code.write", written),
        readTool("code.read", () => "x"),
        readTool("code.look", () => "x"),
      ],
      pools: [{ name: "hands", size: 1, allowed_tools: ["code.look"] }],
      sessionOptions: { ask: async () => ({ decision: "allow_once" }) },
    },
  );
  expect(await stage.ask("go")).toMatchObject({ reason: "completed" });
  expect(written).toEqual(['{"n":1}']);
  expect(results(stage)[0]).toMatchObject({ status: "succeeded" });
});
