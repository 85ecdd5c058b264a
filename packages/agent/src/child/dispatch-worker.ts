// One dispatch (SCHED-2, TASK-4): a worker is taken, its step is claimed, its run is waited for, and what the task has on
// record of the step is what counts, beside what the worker says.

import { messageOf, toolResult, type HandlerResult, type ToolContext } from "@soong/core";
import { asJson, omitUndefined } from "@soong/schema";
import type { ActiveRun } from "../loop/index.ts";
import { describeEarlierAttempts, TaskRefused, type StepRecord, type Tasks } from "@soong/tasks";
import {
  type AgentParts,
  type TaskParts,
  startFailure,
  findDefinition,
  startChild,
  resolveTimeout,
  resolveAllowedTools,
  type EndedChild,
} from "./start-child.ts";
import { DEFAULT_WORKER_AGENT } from "./built-in-definitions.ts";
import { toHandlerResult } from "./child-result.ts";
import { neverSettle } from "./spawn-tools.ts";
import { toWorkerActor, type Assignment, type WorkerRequest } from "./worker-pools.ts";

export interface DispatchInput {
  readonly pool?: string;
  readonly worker?: string;
  readonly task_id: string;
  readonly step_id?: string;
  readonly instructions?: string;
  readonly allowed_tools?: readonly string[];
}

/** Every worker can read its task and report on it (SURF-6). */
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
  const active = parts.activeRuns.get(context);
  if (tasks === undefined) {
    throw startFailure("no_tasks", "There are no tasks here for a worker to work on.", {
      error_class: "capability_gap",
      recovery: "use_another_tool",
      retryable: false,
    });
  }
  const { task_id, step_id } = input;
  const taken = workers.take(readWorkerRequest(input), {
    session_id: active.run.identity.session_id,
    agent_id: active.ids.next("agent"),
    run_id: active.ids.next("run"),
    task_id,
    ...omitUndefined({ step_id }),
  });
  if (taken.kind === "unknown") throw startFailure("unknown_worker", taken.message);
  if (taken.kind === "busy") {
    throw startFailure("worker_busy", taken.message, {
      error_class: "dependency_unavailable",
      recovery: "retry_after_delay",
      details: { pools: workers.states().map(asJson) },
    });
  }
  const working = runWorker(parts, tasks, active, context, input, taken.assignment).finally(() =>
    workers.free(taken.assignment),
  );
  // A dispatch that is cut short has given its step back before it ends, and its worker is idle.
  context.onCancel(() => working.then(nothing, nothing));
  try {
    return (await working) ?? (await neverSettle());
  } catch (error) {
    if (!(error instanceof TaskRefused)) throw error;
    const { code, message, details } = error;
    throw startFailure(
      code,
      `No worker was dispatched. ${message}`,
      details === undefined ? {} : { details },
    );
  }
}

function nothing(): void {}

async function runWorker(
  parts: AgentParts,
  { tasks, keeper }: TaskParts,
  active: ActiveRun,
  context: ToolContext,
  input: DispatchInput,
  assignment: Assignment,
): Promise<HandlerResult | undefined> {
  const { pool, worker, agent_id, run_id, task_id, step_id } = assignment;
  const caller = parts.resolveCaller(context);
  const { task } = await tasks.get(caller, task_id);
  const definition = findDefinition(
    parts.catalog,
    pool.agent_definition_id ?? DEFAULT_WORKER_AGENT,
    "worker",
  );
  const asked = mergeNames(pool.allowed_tools, input.allowed_tools);
  const allowed = resolveAllowedTools(active, definition, asked);
  const step = await claimAssignedStep(parts, context, assignment);
  const before =
    step === undefined ? undefined : await describeEarlierAttempts(step, caller.readCalls);
  const about = { pool: pool.name, worker, task_id, ...omitUndefined({ step_id }) };
  let ended: EndedChild | undefined;
  try {
    ended = await startChild(parts, active, context, {
      role: "worker",
      definition,
      agent_id,
      run_id,
      task: describeWorkerTask(task.title, assignment, step, before),
      timeoutMs: resolveTimeout(definition, undefined, parts.childTimeoutMs),
      about,
      ...omitUndefined({ context: input.instructions }),
      ...(allowed === undefined ? {} : { allowedTools: mergeNames(TASK_TOOLS, allowed) ?? [] }),
      ...omitUndefined({ model: pool.model }),
      begun() {
        const call = { tool_call_id: context.toolCallId, tool_name: context.toolName };
        active.run.recorder.record("worker.dispatched", { ...about, agent_id, run_id }, call);
      },
      // A worker that lost its step must stop: another one may have claimed it by now (TASK-4).
      watch: (stop) =>
        keeper.watch(run_id, ({ step_id: lost }, why) =>
          stop(`It lost its claim on ${lost}: ${why}`),
        ),
    });
  } finally {
    // Only an end of its own counts as an attempt at the step.
    const { status } = ended?.result ?? {};
    const isOwn = status === "completed" || status === "failed" || status === "timed_out";
    await releaseSteps(parts, context, run_id, isOwn ? "ended" : "aborted");
  }
  if (ended === undefined) return undefined;
  return buildWorkerResult(ended, await readTouchedSteps(tasks, assignment), task_id);
}

/** Where that cannot be written, the lease expires. */
async function releaseSteps(
  parts: AgentParts,
  context: ToolContext,
  run_id: string,
  how: "ended" | "aborted",
): Promise<void> {
  const { record } = parts.resolveCaller(context);
  try {
    await parts.tasks?.keeper.leave(run_id, how, record);
  } catch (error) {
    const message = `The step of run ${run_id} could not be given back: ${messageOf(error)}`;
    record?.("task.step.not_released", { run_id, message });
  }
}

/** The one it was sent to is its own before it begins: two dispatches of one step cannot both begin. */
async function claimAssignedStep(
  parts: AgentParts,
  context: ToolContext,
  assignment: Assignment,
): Promise<StepRecord | undefined> {
  const { task_id, step_id } = assignment;
  if (step_id === undefined) return undefined;
  const { record } = parts.resolveCaller(context);
  const claimed = await parts.tasks?.keeper.claim(
    { actor: toWorkerActor(assignment), record },
    { task_id, step_id },
  );
  return claimed?.kind === "claimed" ? claimed.step : undefined;
}

function describeWorkerTask(
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
async function readTouchedSteps(
  { reader }: Tasks,
  { task_id, touched }: Assignment,
): Promise<readonly StepRecord[]> {
  const steps = await Promise.all([...touched].map((step_id) => reader.step(task_id, step_id)));
  return steps.filter((step) => step !== undefined);
}

/** Both are told; where they differ, the task's own state is what counts. */
function buildWorkerResult(
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
    const told = toHandlerResult({ ...result, status: "completed" }, answer, note);
    return toolResult({ ...told, data });
  }
  const told = toHandlerResult(result, answer, note);
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

function readWorkerRequest({ pool, worker }: DispatchInput): WorkerRequest {
  return worker === undefined ? { pool: pool ?? "" } : { worker };
}

function mergeNames(
  ...lists: readonly (readonly string[] | undefined)[]
): readonly string[] | undefined {
  if (lists.every((list) => list === undefined)) return undefined;
  return [...new Set(lists.flatMap((list) => list ?? []))];
}
