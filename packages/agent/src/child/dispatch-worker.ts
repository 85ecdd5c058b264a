// One dispatch (SCHED-2, TASK-4): a worker is taken, its step is claimed, its run is waited for, and what the task has on
// record of the step is what counts, beside what the worker says.

import { messageOf, toolResult, type HandlerResult, type ToolContext } from "@soong/core";
import { asJson, omitUndefined } from "@soong/core/internal";
import type { RunSeat } from "../loop/index.ts";
import { describeEarlier, TaskRefused, type StepRecord, type Tasks } from "@soong/tasks";
import type { AgentParts, TaskParts } from "./agent-parts.ts";
import { DEFAULT_WORKER_AGENT } from "./built-in-definitions.ts";
import { handlerResult } from "./child-result.ts";
import { notStarted } from "./refusals.ts";
import { definitionFor, startChild, timeoutFor, toolsFor, type EndedChild } from "./start-child.ts";
import { neverRead } from "./starter-tools.ts";
import { workerActor, type Assignment, type Wanted } from "./worker-pools.ts";

export interface DispatchInput {
  readonly pool?: string;
  readonly worker?: string;
  readonly task_id: string;
  readonly step_id?: string;
  readonly instructions?: string;
  readonly allowed_tools?: readonly string[];
}

/** Whatever a worker is given beside them, it can read its task and report on it (SURF-6). */
const TASK_TOOLS = [
  "agent.task_get",
  "agent.task_query_steps",
  "agent.task_claim_step",
  "agent.task_update_step",
];

export async function dispatchWorker(
  parts: AgentParts,
  input: DispatchInput,
  context: ToolContext,
): Promise<unknown> {
  const { tasks, workers } = parts;
  const seat = parts.seats.of(context);
  if (tasks === undefined) {
    throw notStarted("no_tasks", "There are no tasks here for a worker to work on.", {
      error_class: "capability_gap",
      recovery: "use_another_tool",
      retryable: false,
    });
  }
  const { task_id, step_id } = input;
  const taken = workers.take(wantedIn(input), {
    session_id: seat.run.identity.session_id,
    agent_id: seat.ids.next("agent"),
    run_id: seat.ids.next("run"),
    task_id,
    ...omitUndefined({ step_id }),
  });
  if (taken.kind === "unknown") throw notStarted("unknown_worker", taken.message);
  if (taken.kind === "busy") {
    throw notStarted("worker_busy", taken.message, {
      error_class: "dependency_unavailable",
      recovery: "retry_after_delay",
      details: { pools: workers.states().map(asJson) },
    });
  }
  const working = work(parts, tasks, seat, context, input, taken.assignment).finally(() =>
    workers.free(taken.assignment),
  );
  // A dispatch that is cut short has given its step back before it ends, and its worker is idle.
  context.onCancel(() => working.then(nothing, nothing));
  try {
    return (await working) ?? (await neverRead());
  } catch (error) {
    if (!(error instanceof TaskRefused)) throw error;
    const { code, message, details } = error;
    throw notStarted(
      code,
      `No worker was dispatched. ${message}`,
      details === undefined ? {} : { details },
    );
  }
}

function nothing(): void {}

async function work(
  parts: AgentParts,
  { tasks, keeper }: TaskParts,
  seat: RunSeat,
  context: ToolContext,
  input: DispatchInput,
  assignment: Assignment,
): Promise<HandlerResult | undefined> {
  const { pool, worker, agent_id, run_id, task_id, step_id } = assignment;
  const caller = parts.callerOf(context);
  const { task } = await tasks.get(caller, task_id);
  const definition = definitionFor(
    parts.catalog,
    pool.agent_definition_id ?? DEFAULT_WORKER_AGENT,
    "worker",
  );
  const asked = namesOf(pool.allowed_tools, input.allowed_tools);
  const allowed = toolsFor(seat, definition, asked);
  const step = await claimFor(parts, context, assignment);
  const before = step === undefined ? undefined : await describeEarlier(step, caller.callsOf);
  const about = { pool: pool.name, worker, task_id, ...omitUndefined({ step_id }) };
  let ended: EndedChild | undefined;
  try {
    ended = await startChild(parts, seat, context, {
      role: "worker",
      definition,
      agent_id,
      run_id,
      task: taskText(task.title, assignment, step, before),
      timeoutMs: timeoutFor(definition, undefined, parts.childTimeoutMs),
      about,
      ...omitUndefined({ context: input.instructions }),
      ...(allowed === undefined ? {} : { allowedTools: namesOf(TASK_TOOLS, allowed) ?? [] }),
      ...omitUndefined({ model: pool.model }),
      begun() {
        const call = { tool_call_id: context.toolCallId, tool_name: context.toolName };
        seat.run.recorder.record("worker.dispatched", { ...about, agent_id, run_id }, call);
      },
      // Whoever has lost the step must not go on with it: somebody else may have it by now (TASK-4).
      watch: (stop) =>
        keeper.watch(run_id, ({ step_id: lost }, why) =>
          stop(`It lost its claim on ${lost}: ${why}`),
        ),
    });
  } finally {
    // Only an end of its own counts as an attempt at the step.
    const { status } = ended?.result ?? {};
    const isOwn = status === "completed" || status === "failed" || status === "timed_out";
    await giveBack(parts, context, run_id, isOwn ? "ended" : "aborted");
  }
  if (ended === undefined) return undefined;
  return worked(ended, await stepsOf(tasks, assignment), task_id);
}

/** Where that cannot be written, its lease runs out by itself. */
async function giveBack(
  parts: AgentParts,
  context: ToolContext,
  run_id: string,
  how: "ended" | "aborted",
): Promise<void> {
  const { record } = parts.callerOf(context);
  try {
    await parts.tasks?.keeper.leave(run_id, how, record);
  } catch (error) {
    const message = `The step of run ${run_id} could not be given back: ${messageOf(error)}`;
    record?.("task.step.not_released", { run_id, message });
  }
}

/** The one it was sent to is its own before it begins: two dispatches of one step cannot both begin. */
async function claimFor(
  parts: AgentParts,
  context: ToolContext,
  assignment: Assignment,
): Promise<StepRecord | undefined> {
  const { task_id, step_id } = assignment;
  if (step_id === undefined) return undefined;
  const { record } = parts.callerOf(context);
  const claimed = await parts.tasks?.keeper.claim(
    { actor: workerActor(assignment), record },
    { task_id, step_id },
  );
  return claimed?.kind === "claimed" ? claimed.step : undefined;
}

function taskText(
  title: string,
  { worker, task_id }: Assignment,
  step: StepRecord | undefined,
  before: string | undefined,
): string {
  const lines = [`You are the worker ${worker}. You work on the task ${task_id}: ${title}`];
  if (step === undefined)
    return [...lines, "Claim a ready step of it and do that step."].join("\n");
  const { step_id, title: what, instructions, expected_output } = step;
  return [
    ...lines,
    `The step ${step_id} is claimed for you already: ${what}`,
    instructions,
    ...(expected_output === undefined ? [] : [`What is expected of it: ${expected_output}`]),
    ...(before === undefined ? [] : [before]),
    "When you are done, update the step with what came of it.",
  ].join("\n");
}

/** Those the worker's run has had a hand in, as they stand now. */
async function stepsOf(
  { reader }: Tasks,
  { task_id, touched }: Assignment,
): Promise<readonly StepRecord[]> {
  const steps = await Promise.all([...touched].map((step_id) => reader.step(task_id, step_id)));
  return steps.filter((step) => step !== undefined);
}

/** Both are told; where they differ, the task's own state is what counts. */
function worked(
  { result, answer }: EndedChild,
  steps: readonly StepRecord[],
  task_id: string,
): HandlerResult {
  const isDone = steps.length > 0 && steps.every(({ status }) => status === "completed");
  const states = steps.map(({ step_id, status, failure, reason }) => {
    const why = reason ?? (status === "completed" ? undefined : failure?.message);
    return `step ${step_id} is ${status}${why === undefined ? "" : ` (${why})`}`;
  });
  const state = states.length === 0 ? "no step of it was worked on" : states.join(", ");
  const says =
    result.status === "completed" ? "its worker says it is done" : `its worker ${result.status}`;
  const differs = isDone !== (result.status === "completed");
  const note = `On record for task ${task_id}: ${state}.${differs ? ` That counts, though ${says}.` : ""}`;
  const data = {
    ...result,
    task: { task_id, steps: steps.map(({ step_id, status }) => ({ step_id, status })) },
  };
  if (isDone) {
    const told = handlerResult({ ...result, status: "completed" }, answer, note);
    return toolResult({ ...told, data });
  }
  const told = handlerResult(result, answer, note);
  if (result.status !== "completed") return toolResult({ ...told, data });
  return toolResult({
    ...told,
    data,
    status: "failed",
    error: {
      code: "step_not_finished",
      message: `The worker's run ended, and its work is not done: ${state}.`,
      recovery: "use_another_tool",
    },
  });
}

function wantedIn({ pool, worker }: DispatchInput): Wanted {
  return worker === undefined ? { pool: pool ?? "" } : { worker };
}

function namesOf(
  ...lists: readonly (readonly string[] | undefined)[]
): readonly string[] | undefined {
  if (lists.every((list) => list === undefined)) return undefined;
  return [...new Set(lists.flatMap((list) => list ?? []))];
}
