// Runs with child agents, workers and tasks.

import {
  createHeldClock,
  createKernel,
  createMemoryJournal,
  type Fact,
  type Run,
} from "@soong/core";
import { createMemoryTasks, createTasks, type TaskCaller } from "@soong/tasks";
import { openAgentStage, start, type AgentStageOptions } from "../../agent/child/agent-stage.ts";
import {
  BEGINS,
  COMPLETES,
  dispatch,
  newTask,
  openWorkerStage,
  TASK,
} from "../../agent/child/worker-stage.ts";
import { readTool, slowTool } from "../../agent/loop-tools.ts";
import type { Recordings } from "../recorded-runs.ts";

const SUB = "agent.create_sub_agent";
const FOREVER = [{ parts: [{ text: "…", after_ms: 2 ** 30 }] }];

type Script = Parameters<typeof openAgentStage>[0];

export const AGENT_RUNS: Recordings = {
  "a child that completes": () =>
    ask(
      {
        turns: [start(SUB, { task: "Count." }), { text: "Three." }],
        agents: {
          default_sub_agent: [
            [{ calls: [{ tool: "a.read", input: {} }] }, { text: "There are three." }],
          ],
        },
      },
      { tools: [readTool("a.read", () => "read")] },
    ),
  "children in parallel, one of which fails": () =>
    ask({
      turns: [
        { calls: [1, 2].map((n) => ({ tool: SUB, input: { task: `task ${n}` } })) },
        { text: "ok" },
      ],
      agents: {
        default_sub_agent: [[{ text: "done" }], [{ error: { kind: "authentication" as never } }]],
      },
    }),
  "a child of a child": () =>
    ask({
      turns: [start(SUB, { task: "outer" }), { text: "ok" }],
      agents: {
        default_sub_agent: [
          [
            { text: "inner is denied", calls: [{ tool: SUB, input: { task: "inner" } }] },
            { text: "no" },
          ],
        ],
      },
    }),
  "a fork": () =>
    ask({
      turns: [start("agent.fork_agent", { task: "Another way." }), { text: "ok" }],
      agents: { default_fork_agent: [[{ text: "looked" }]] },
    }),
  "a child that takes too long": () =>
    ask({
      turns: [start(SUB, { task: "x", timeout_ms: 10_000 }), { text: "ok" }],
      agents: { default_sub_agent: [FOREVER] },
    }),
  "an abort that reaches the children": async () => {
    const stage = await openAgentStage(
      {
        turns: [{ calls: [1, 2].map((n) => ({ tool: SUB, input: { task: `task ${n}` } })) }],
        agents: { default_sub_agent: [FOREVER, [{ calls: [{ tool: "a.slow", input: {} }] }]] },
      },
      { tools: [slowTool(() => stage.clock, "a.slow", 50_000_000)] },
    );
    const run = stage.conversation.send("go");
    await stage.clock.settle();
    await stage.clock.advance(1000);
    void run.abort("enough");
    await stage.finish(run);
    return stage.journal.facts;
  },
  "workers that do the steps of a task": recordWorkers,
  "a worker that drops its step": recordDroppedStep,
  "tasks in every state": recordTasks,
};

async function ask(script: Script, options: AgentStageOptions = {}): Promise<readonly Fact[]> {
  const stage = await openAgentStage(script, options);
  await stage.ask("go");
  return stage.journal.facts;
}

async function recordWorkers(): Promise<readonly Fact[]> {
  const stage = await openWorkerStage({
    turns: [
      newTask("a", "b"),
      { calls: [dispatch({ step_id: "a" }), dispatch({ step_id: "b" })] },
      { calls: [{ tool: "agent.task_complete", input: { task_id: TASK, summary: "Done." } }] },
      { text: "All done." },
    ],
    agents: {
      default_worker_agent: [
        [BEGINS, COMPLETES, { text: "a is done." }],
        [BEGINS, COMPLETES, { text: "b is done." }],
      ],
    },
  });
  await stage.ask("go");
  await stage.keeper.close();
  return stage.journal.facts;
}

async function recordDroppedStep(): Promise<readonly Fact[]> {
  const stage = await openWorkerStage({
    turns: [newTask("a"), { calls: [dispatch({ step_id: "a" })] }, { text: "It was dropped." }],
    agents: { default_worker_agent: [[BEGINS, { text: "I would rather not." }]] },
  });
  await stage.ask("go");
  await stage.keeper.close();
  return stage.journal.facts;
}

const LEASE_MS = 60_000;

/** By hand, in the order of the payloads: what workers and orchestrators do to tasks over days. */
async function recordTasks(): Promise<readonly Fact[]> {
  const clock = createHeldClock(Date.UTC(2026, 0, 2));
  const journal = createMemoryJournal();
  const session = await createKernel({ clock }).openSession({ journal });
  const run = await session.startRun({ mode: "orchestrator" });
  const tasks = createTasks({ storage: createMemoryTasks(), clock, leaseMs: LEASE_MS });
  const { session_id } = session;
  const callerFor = ({ identity, recorder }: Run, more: object): TaskCaller => ({
    actor: {
      session_id,
      run_id: identity.run_id,
      agent_id: identity.agent_id,
      ...more,
    } as TaskCaller["actor"],
    record: (type, data) => void recorder.record(type, data),
  });
  const orchestrator = callerFor(run, { kind: "orchestrator" });
  const create = async (...ids: string[]): Promise<string> => {
    const steps = ids.map((step_id) => ({
      step_id,
      title: `Do ${step_id}`,
      instructions: "As said.",
    }));
    return (await tasks.create(orchestrator, { title: "T", goal: "G", steps })).task.task_id;
  };
  const task_id = await create("a", "b", "c", "d", "e");
  const worker = callerFor(run, { kind: "worker", task_id, worker: "hands/1" });
  const claim = async (step_id: string) => {
    const claimed = await tasks.claim(worker, { task_id, step_id, start: true });
    if (claimed.kind !== "claimed") throw new Error(`${step_id} is not ready`);
    return { task_id, step_id, token: claimed.claim.token };
  };
  const update = (operations: readonly object[]) =>
    tasks.update(orchestrator, { task_id, operations: operations as never });

  await update([{ op: "block_task", reason: "wait" }]);
  await update([{ op: "unblock_task" }]);
  await tasks.updateStep(worker, { ...(await claim("a")), status: "completed", summary: "done" });
  await tasks.updateStep(worker, { ...(await claim("b")), status: "failed", reason: "no luck" });
  await update([{ op: "retry_step", step_id: "b" }]);
  await tasks.updateStep(worker, { ...(await claim("c")), status: "blocked", reason: "no key" });
  await update([{ op: "unblock_step", step_id: "c" }]);
  await update([{ op: "cancel_step", step_id: "d", reason: "not needed" }]);
  const { run_id } = run.identity;
  await tasks.release({ ...(await claim("b")), run_id }, "ended", worker.record);
  await claim("b");
  await clock.advance(2 * LEASE_MS);
  await claim("c");
  run.recorder.record("task.step.dispatched", { task_id, step_id: "e", worker: "hands/1" });
  run.recorder.record("task.step.not_released", {
    run_id: run.identity.run_id,
    message: "The claim of e could not be released: the store is gone.",
  });
  await tasks.fail(orchestrator, { task_id, reason: "too much" });
  await tasks.cancel(orchestrator, { task_id: await create("x"), reason: "not needed any more" });
  const short = await create("y");
  const other = callerFor(run, { kind: "worker", task_id: short, worker: "hands/2" });
  const claimed = await tasks.claim(other, { task_id: short, step_id: "y", start: true });
  if (claimed.kind === "claimed") {
    await tasks.updateStep(other, {
      task_id: short,
      step_id: "y",
      token: claimed.claim.token,
      status: "completed",
      summary: "ok",
    });
  }
  await tasks.complete(orchestrator, { task_id: short, summary: "All of it." });
  run.end("completed");
  return journal.facts;
}
