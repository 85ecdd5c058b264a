// One dispatch (SCHED-2, TASK-4): a worker is taken, its step is claimed, its run is waited for, and what the task has on
// record of the step is what counts, beside what the worker says.

import {
  defineTool,
  messageOf,
  toolResult,
  type AnyTool,
  type HandlerResult,
  type InferOutput,
  type ToolContext,
} from "@soong/core";
import { matchesName } from "@soong/core/internal";
import { asJson, omitUndefined } from "@soong/schema";
import {
  describeEarlierAttempts,
  TaskRefused,
  type StepRecord,
  type TaskCaller,
  type Tasks,
} from "@soong/tasks";
import { chargeUsage, checkBudget, type ActiveRun } from "../loop/index.ts";
import { DEFAULT_WORKER_AGENT } from "./agent-catalog.ts";
import { toHandlerResult } from "./child-result.ts";
import { recordRemoteChild } from "./remote-child.ts";
import { digestDefinition, type RemoteWork, type RemoteWorkers } from "./remote-workers.ts";
import {
  findDefinition,
  resolveAllowedTools,
  skipsMissingTools,
  startChild,
  startFailure,
  type AgentParts,
  type EndedChild,
  type TaskParts,
} from "./run-child.ts";
import { ALLOWED_TOOLS_FIELD, READ_ONLY_TOOL, SPAWN_TOOL } from "./spawn-tools.ts";
import { toWorkerActor, type Assignment } from "./worker-pools.ts";

export function listWorkersTool({ workers }: AgentParts): AnyTool {
  return defineTool({
    ...READ_ONLY_TOOL,
    name: "agent.list_workers",
    title: "List the workers",
    description:
      "Lists the worker pools and their workers: which are idle, and what the busy ones work on.",
    search_hint: "idle busy worker pools",
    input_schema: { type: "object", additionalProperties: false, properties: {} },
    handler: () => {
      const pools = workers.states();
      const lines = pools.flatMap(({ pool, idle, busy, workers: those }) => [
        `${pool}: ${idle} idle, ${busy} busy`,
        ...those.flatMap((one) => {
          if (one.state === "idle") return [];
          const work = [one.task_id, one.step_id].filter(Boolean).join(", step ");
          return [`- ${one.worker} works on ${work}`];
        }),
      ]);
      const text = lines.join("\n") || "There are no worker pools: none is configured.";
      return toolResult({ content: [{ type: "text", text }], data: { pools } });
    },
  });
}

const INPUT = {
  type: "object",
  additionalProperties: false,
  required: ["task_id"],
  properties: {
    pool: { type: "string", minLength: 1, description: "Any idle worker of it." },
    worker: {
      type: "string",
      minLength: 1,
      description: 'That very worker, such as "builders/2".',
    },
    task_id: { type: "string", minLength: 1 },
    step_id: {
      type: "string",
      minLength: 1,
      description:
        "A ready step: it is claimed for the worker. Default: the worker claims one itself.",
    },
    instructions: {
      type: "string",
      maxLength: 100_000,
      description: "What the worker has to know beside what the task says.",
    },
    allowed_tools: {
      ...ALLOWED_TOOLS_FIELD,
      description:
        "Tools it gets beside those for its task. Default: those of its pool, or the file tools that only read. Tools that change something have to be named.",
    },
  },
} as const;

type DispatchInput = InferOutput<typeof INPUT>;

export function dispatchWorkerTool(parts: AgentParts): AnyTool {
  return defineTool({
    ...SPAWN_TOOL,
    name: "agent.dispatch_worker",
    title: "Dispatch a worker",
    search_hint: "send task step to worker",
    description:
      "Gives a task, or one ready step of it, to an idle worker and waits until its run has ended. Dispatches next to each other run at the same time. A pool whose workers are all busy says so at once. The result says what the task has on record of the step, which counts, and what the worker says.",
    input_schema: INPUT,
    validate: ({ pool, worker }) => {
      if ((pool === undefined) !== (worker === undefined)) return undefined;
      return pool === undefined ? "name a pool or a worker" : "name a pool or a worker, not both";
    },
    handler: (input, context) => dispatchWorker(parts, input, context),
  });
}

/** Every worker can read its task and report on it (SURF-6). */
export const TASK_TOOLS: readonly string[] = [
  "agent.task_get",
  "agent.task_query_steps",
  "agent.task_claim_step",
  "agent.task_update_step",
];

async function dispatchWorker(
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
  const { pool, worker, task_id, step_id } = input;
  const taken = workers.take(worker === undefined ? { pool: pool ?? "" } : { worker }, {
    session_id: active.run.identity.session_id,
    agent_id: active.ids.next("agent"),
    run_id: active.ids.next("run"),
    task_id,
    step_id,
  });
  if (taken.kind !== "taken") {
    if (taken.kind === "unknown") throw startFailure("unknown_worker", taken.message);
    throw startFailure("worker_busy", taken.message, {
      error_class: "dependency_unavailable",
      recovery: "retry_after_delay",
      details: { pools: workers.states().map(asJson) },
    });
  }
  const { remote } = parts;
  const isRemote = taken.assignment.pool.remote === true;
  if (isRemote && remote === undefined) {
    workers.free(taken.assignment);
    throw startFailure("no_remote_workers", NO_REMOTE, {
      error_class: "capability_gap",
      recovery: "use_another_tool",
      retryable: false,
    });
  }
  const run = isRemote && remote !== undefined ? dispatchRemotely(remote) : runWorker;
  const working = run(parts, tasks, active, context, input, taken.assignment).finally(() =>
    workers.free(taken.assignment),
  );
  // A dispatch that is cut short has given its step back before it ends, and its worker is idle.
  context.onCancel(async () => {
    await working.catch(() => {});
  });
  try {
    return (await working) ?? (await new Promise(() => {}));
  } catch (error) {
    if (!(error instanceof TaskRefused)) throw error;
    const { code, message, details } = error;
    throw startFailure(code, `No worker was dispatched. ${message}`, { details });
  }
}

const NO_REMOTE =
  "The workers of this pool are processes of their own, and there is no store that they share: set store.url.";

/** The step goes to a queue, and whichever worker claims it first has it. */
function dispatchRemotely(remote: RemoteWorkers): typeof runWorker {
  return async (parts, { tasks }, active, context, input, assignment) => {
    const { pool, task_id } = assignment;
    const caller = parts.resolveCaller(context);
    const step_id = input.step_id ?? (await findReadyStep(tasks, caller, task_id));
    const definition = findDefinition(
      parts.catalog,
      pool.agent_definition_id ?? DEFAULT_WORKER_AGENT,
      "worker",
    );
    // Its workers hold to what their own config says of the pool, so no one would take it.
    resolveAllowedTools(active, { ...pool, id: pool.name }, input.allowed_tools);
    const asked = mergeNames(pool.allowed_tools, input.allowed_tools);
    const allowed_tools = resolveAllowedTools(active, definition, asked);
    const { session_id, run_id, agent_id } = active.run.identity;
    const work: RemoteWork = omitUndefined({
      pool: pool.name,
      task_id,
      step_id,
      agent_definition_id: definition.id,
      definition_digest: digestDefinition(definition),
      instructions: input.instructions,
      allowed_tools,
      model: pool.model,
      from: { session_id, run_id, agent_id, tool_call_id: context.toolCallId },
    });
    refuseDenied(active, allowed_tools);
    const { account, usage, limits } = active;
    const isUsedUp = checkBudget(limits.budget, account);
    if (isUsedUp !== undefined) throw startFailure("budget", isUsedUp, { retryable: false });
    const recorder = recordRemoteChild(parts, active, context, work);
    const end = await remote.dispatch(work, {
      caller,
      signal: context.signal,
      startWithinMs: parts.childTimeoutMs,
      grants: () => active.session.grants(),
      project: active.run.policy.input.roots?.project,
      onClaimed: (child) => recorder.created(child),
      onLost: (child, usage) => recorder.lost(child, usage),
      // Charged as what the requests of local children use.
      onUsed(used) {
        chargeUsage(account, used);
        chargeUsage(usage, used);
        return checkBudget(limits.budget, account);
      },
      onWaiting(message) {
        context.progress({ message });
        active.onWaiting?.(message);
      },
    });
    if (context.signal.aborted) return undefined;
    const result = recorder.ended(end);
    const step = await tasks.reader.step(task_id, step_id);
    return buildWorkerResult(
      { result, answer: end.answer },
      step === undefined ? [] : [step],
      task_id,
    );
  };
}

/** What is asked for by name and denied would be refused by the worker, after the step was claimed. */
function refuseDenied(
  { options: { taskDenied = [] } }: ActiveRun,
  allowed_tools: readonly string[] = [],
): void {
  const denied = allowed_tools.filter((name) =>
    taskDenied.some((pattern) => matchesName(pattern, name)),
  );
  if (denied.length === 0) return;
  throw startFailure(
    "invalid_allowed_tools",
    `No worker was dispatched. The task of this run denies ${denied.join(", ")}.`,
    { details: { problems: denied.map((tool_name) => ({ code: "policy_blocked", tool_name })) } },
  );
}

async function findReadyStep(tasks: Tasks, caller: TaskCaller, task_id: string): Promise<string> {
  const [step] = await tasks.querySteps(caller, { task_id, statuses: ["ready"], limit: 1 });
  if (step !== undefined) return step.step_id;
  throw new TaskRefused({ code: "step_not_ready", message: `No step of ${task_id} is ready.` });
}

async function runWorker(
  parts: AgentParts,
  { tasks, keeper }: TaskParts,
  active: ActiveRun,
  context: ToolContext,
  input: DispatchInput,
  assignment: Assignment,
): Promise<HandlerResult | undefined> {
  const { pool, worker, agent_id, run_id, task_id, step_id, touched } = assignment;
  const caller = parts.resolveCaller(context);
  const { task } = await tasks.get(caller, task_id);
  const id = pool.agent_definition_id ?? DEFAULT_WORKER_AGENT;
  const definition = findDefinition(parts.catalog, id, "worker");
  const asked = mergeNames(pool.allowed_tools, input.allowed_tools);
  const allowed = resolveAllowedTools(active, definition, asked);
  // The one it was sent to is its own before it begins: two dispatches of one step cannot both begin.
  const claimant = { actor: toWorkerActor(assignment), record: caller.record };
  const claimed =
    step_id === undefined ? undefined : await keeper.claim(claimant, { task_id, step_id });
  const step = claimed?.kind === "claimed" ? claimed.step : undefined;
  const before = step && (await describeEarlierAttempts(step, caller.readCalls));
  const about = { pool: pool.name, worker, task_id, step_id };
  let ended: EndedChild | undefined;
  try {
    ended = await startChild(parts, active, context, {
      role: "worker",
      definition,
      agent_id,
      run_id,
      task: describeWorkerTask(task.title, assignment, step, before),
      about,
      context: input.instructions,
      allowedTools: allowed && mergeNames(TASK_TOOLS, allowed),
      skipMissingTools: skipsMissingTools(definition, allowed),
      model: pool.model,
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
    const isOwn = ended !== undefined && ended.result.status !== "cancelled";
    await releaseSteps(
      keeper,
      run_id,
      isOwn ? "ended" : "aborted",
      parts.resolveCaller(context).record,
    );
  }
  if (ended === undefined) return undefined;
  // Those the worker's run has had a hand in, as they stand now.
  const steps = await Promise.all([...touched].map((one) => tasks.reader.step(task_id, one)));
  return buildWorkerResult(
    ended,
    steps.filter((one) => one !== undefined),
    task_id,
  );
}

/** Where that cannot be written, the lease expires. */
async function releaseSteps(
  keeper: TaskParts["keeper"],
  run_id: string,
  how: "ended" | "aborted",
  record: TaskCaller["record"],
): Promise<void> {
  try {
    await keeper.leave(run_id, how, record);
  } catch (error) {
    const message = `The step of run ${run_id} could not be given back: ${messageOf(error)}`;
    record?.("task.step.not_released", { run_id, message });
  }
}

export function describeWorkerTask(
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
    expected_output && `What is expected of it: ${expected_output}`,
    before,
    "When you are done, update the step with what came of it.",
  ]
    .filter((line) => line !== undefined)
    .join("\n");
}

/** Both are reported; where they differ, the task's own state is what counts. */
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
  const status = isDone ? "completed" : result.status;
  const base = { ...toHandlerResult({ ...result, status }, answer, note), data };
  if (isDone || status !== "completed") return toolResult(base);
  return toolResult({
    ...base,
    status: "failed",
    error: {
      code: "step_not_finished",
      message: `The worker's run ended, and its work is not done: ${state}.`,
      recovery: "use_another_tool",
    },
  });
}

function mergeNames(
  ...lists: readonly (readonly string[] | undefined)[]
): readonly string[] | undefined {
  if (lists.every((list) => list === undefined)) return undefined;
  return [...new Set(lists.flatMap((list) => list ?? []))];
}
