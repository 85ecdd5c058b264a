// The drive module: runs a task to its end without a model that orchestrates it.
// Drives a task to its end (TASK-6): steps that are ready go to workers that are free, steps that failed are tried again
// while they have attempts left, and the task ends when nothing more can be done. What others do to it meanwhile, in
// this process or another, is seen and counts.

import {
  messageOf,
  randomIds,
  RunRefused,
  systemClock,
  type Clock,
  type FactData,
  type IdSource,
  type Run,
  type RunOptions,
  type Session,
  type ToolResult,
} from "@soong/core";
import {
  TaskRefused,
  type StepRecord,
  type StepStatus,
  type TaskCaller,
  type TaskRecord,
  type Tasks,
  type TaskWithCounts,
} from "@soong/tasks";
import type { Agents } from "../child/agents.ts";
import { loopLimits, sumUsage, type LoopLimits, type ToolProvider } from "../loop/index.ts";
import type { Model } from "../model/index.ts";

export interface DriveOptions {
  /** The one the task belongs to. */
  readonly session: Session;
  readonly task_id: string;
  /** With worker pools, and a kernel that has its tools. */
  readonly agents: Agents;
  readonly tasks: Tasks;
  /** For workers whose pool and definition name none. */
  readonly models: readonly [Model, ...Model[]];
  /** Names of pools. Default: all. */
  readonly pools?: readonly string[];
  readonly system?: readonly string[];
  readonly limits?: Partial<LoopLimits>;
  readonly toolProvider?: ToolProvider;
  /** Stops the workers and gives their steps back; what was finished stays finished. */
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: DriveEvent) => void;
  readonly clock?: Clock;
  readonly ids?: IdSource;
}

export type DriveEvent =
  | {
      readonly kind: "dispatched";
      readonly step_id: string;
      readonly title: string;
      readonly worker: string;
      readonly attempt: number;
    }
  | {
      readonly kind: "step_ended";
      readonly step_id: string;
      readonly worker: string;
      /** As the task has it now: a step that is ready will be tried again. */
      readonly status: StepStatus;
      readonly summary: string;
    }
  | {
      readonly kind: "retried";
      readonly step_id: string;
      readonly attempts: number;
      readonly max_attempts: number;
    };

/**
 * `completed`, `failed`, `cancelled`: how the task ended. `blocked`: it continues when what blocks it is removed. `stuck`: no
 * worker can be put to work.
 */
export interface DriveEnd {
  readonly kind: "completed" | "failed" | "cancelled" | "blocked" | "stuck" | "aborted";
  readonly reason: string;
}

/** Other processes send no events here, so the task is polled. */
const POLL_MS = 500;
/** So often a step may come back without an attempt that counts before something is wrong with more than the step. */
const MOST_RETURNS = 3;

/** Rejects with a `TaskRefused` for a task that is not of this session. */
export async function driveTask(options: DriveOptions): Promise<DriveEnd> {
  const { tasks, task_id, session } = options;
  const found = await tasks.reader.get(task_id);
  if (found?.task.session_id !== session.session_id) {
    const message = `There is no task ${task_id} in session ${session.session_id}.`;
    throw new TaskRefused({ code: "task_unknown", message });
  }
  const over = readTaskEnd(found.task);
  if (over !== undefined) return over;
  const stop = new AbortController();
  const abort = (): void => stop.abort(options.signal?.reason ?? "the drive was stopped");
  options.signal?.addEventListener("abort", abort, { once: true });
  if (options.signal?.aborted === true) abort();
  let run: Run;
  try {
    run = await session.startRun(buildRunOptions(options));
  } catch (error) {
    // Such as by a rule that denies workers.
    if (error instanceof RunRefused) return { kind: "stuck", reason: error.message };
    throw error;
  }
  let end: DriveEnd | undefined;
  try {
    end = await drive({ options, run, account: sumUsage([]), stop });
    return end;
  } finally {
    options.signal?.removeEventListener("abort", abort);
    const { kind, reason: message } = end ?? {};
    const how = kind === "aborted" || kind === "completed" ? kind : "failed";
    run.end(how, { task_id, end: kind, message });
  }
}

async function drive(driver: Driver): Promise<DriveEnd> {
  const { options, stop } = driver;
  const { signal } = stop;
  const { tasks, task_id, agents, clock = systemClock() } = options;
  const caller = createDriverCaller(driver);
  const atWork = new Map<string, Promise<void>>();
  /** Workers that are on their way to a step. */
  const taken = new Set<string>();
  /** By pool, why its workers cannot be put to work. */
  const unusable = new Map<string, string>();
  const returned = new Map<string, number>();
  let failure: Error | undefined;

  try {
    while (!signal.aborted) {
      const state = await tasks.get(caller, task_id);
      const over = readTaskEnd(state.task);
      if (over !== undefined) return over;
      if (state.task.status === "blocked") {
        return { kind: "blocked", reason: state.task.reason ?? "The task is blocked." };
      }
      if (state.counts.failed > 0) await retryFailed();
      await dispatchReady();
      if (atWork.size === 0) {
        const verdict = await conclude(state);
        if (verdict !== undefined) return verdict;
      }
      await waitForChange();
      if (failure !== undefined) throw failure;
    }
    return { kind: "aborted", reason: messageOf(signal.reason) };
  } finally {
    // Workers still running have nothing left to work for.
    if (atWork.size > 0) stop.abort("the drive has ended");
    await Promise.all(atWork.values());
  }

  async function retryFailed(): Promise<void> {
    for await (const { step_id, attempts, max_attempts } of readFailedSteps(tasks, task_id)) {
      // Its worker has not left yet: one thing after the other.
      if (attempts >= max_attempts || atWork.has(step_id)) continue;
      try {
        await tasks.updateStep(caller, { task_id, step_id, status: "ready" });
        options.onEvent?.({ kind: "retried", step_id, attempts, max_attempts });
      } catch (error) {
        // Another process was faster.
        if (!(error instanceof TaskRefused)) throw error;
      }
    }
  }

  async function dispatchReady(): Promise<void> {
    const idle = idleWorkers();
    if (idle.length === 0) return;
    const limit = idle.length + atWork.size;
    const ready = await tasks.querySteps(caller, { task_id, statuses: ["ready"], limit });
    for (const step of ready.filter(({ step_id }) => !atWork.has(step_id))) {
      const next = idle.shift();
      if (next === undefined) return;
      taken.add(next.worker);
      const working = workOnStep(step, next.pool, next.worker).catch((error: unknown) => {
        failure ??= error instanceof Error ? error : new Error(messageOf(error));
      });
      atWork.set(
        step.step_id,
        working.finally(() => {
          taken.delete(next.worker);
          atWork.delete(step.step_id);
        }),
      );
    }
  }

  function isUsable(pool: string): boolean {
    return (options.pools?.includes(pool) ?? true) && !unusable.has(pool);
  }

  function idleWorkers(): { pool: string; worker: string }[] {
    const states = agents.workers.states().filter(({ pool }) => isUsable(pool));
    return states.flatMap(({ pool, workers }) =>
      workers.flatMap(({ worker, state }) =>
        state === "idle" && !taken.has(worker) ? [{ pool, worker }] : [],
      ),
    );
  }

  async function workOnStep(step: StepRecord, pool: string, worker: string): Promise<void> {
    const { step_id, title, attempts } = step;
    options.onEvent?.({ kind: "dispatched", step_id, title, worker, attempt: attempts + 1 });
    const result = await dispatchStep(driver, step, worker);
    const now = await tasks.reader.step(task_id, step_id);
    const summary = summarizeStep(result, now);
    if (now !== undefined) {
      options.onEvent?.({ kind: "step_ended", step_id, worker, status: now.status, summary });
    }
    if (signal.aborted || !result.is_error) return;
    if (!couldStart(result)) unusable.set(pool, summary);
    else if (now?.status === "ready" && now.attempts <= attempts) {
      const times = (returned.get(step_id) ?? 0) + 1;
      returned.set(step_id, times);
      if (times >= MOST_RETURNS) unusable.set(pool, summary);
    }
  }

  /** Undefined while others work on it, or something is left to do. */
  async function conclude({ counts }: TaskWithCounts): Promise<DriveEnd | undefined> {
    if (counts.claimed + counts.running > 0) return undefined;
    if (counts.ready > 0) {
      if (agents.workers.pools.some(({ name }) => isUsable(name))) return undefined;
      const why = [...unusable].map(([pool, reason]) => `${pool}: ${reason}`);
      return { kind: "stuck", reason: why.join(" ") || "There is no worker to give steps to." };
    }
    const state = await tasks.get(caller, task_id);
    if (JSON.stringify(state.counts) !== JSON.stringify(counts)) return undefined;
    const verdict = await concludeTask(tasks, state);
    try {
      if (verdict.kind === "completed") {
        await tasks.complete(caller, { task_id, summary: verdict.reason });
      }
      if (verdict.kind === "failed") await tasks.fail(caller, { task_id, reason: verdict.reason });
      return verdict;
    } catch (error) {
      if (!(error instanceof TaskRefused)) throw error;
      // Ended by another process, or there was nothing to work on in it.
      if (error.code === "task_ended") return undefined;
      return { kind: "stuck", reason: error.message };
    }
  }

  /** Until a worker returns, the drive is aborted, or it is time to poll. */
  async function waitForChange(): Promise<void> {
    let wake = (): void => {};
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const forget = clock.after(Math.min(POLL_MS, tasks.leaseMs / 3), wake);
    signal.addEventListener("abort", wake, { once: true });
    if (signal.aborted) wake();
    await Promise.race([woken, ...atWork.values()]);
    forget();
    signal.removeEventListener("abort", wake);
  }
}

/** What the driver itself does to the task is on record in its own run. */
function createDriverCaller({ run }: Driver): TaskCaller {
  const { session_id, run_id, agent_id } = run.identity;
  return {
    actor: { kind: "orchestrator", session_id, run_id, agent_id },
    record: (type, data: FactData) => void run.recorder.record(type, data),
  };
}

function readTaskEnd({ status, result, reason }: TaskRecord): DriveEnd | undefined {
  if (status === "completed") return { kind: status, reason: result?.summary ?? "" };
  if (status !== "failed" && status !== "cancelled") return undefined;
  return { kind: status, reason: reason ?? "" };
}

/** What the task has on record of it, where that is newer than what the worker says. */
function summarizeStep(
  { status, error, summary }: ToolResult,
  step: StepRecord | undefined,
): string {
  if (step?.status === "completed") return step.result?.summary ?? summary;
  const isWorked = error?.code === "step_not_finished" && status === "failed";
  return (
    (isWorked ? (step?.reason ?? step?.failure?.message) : undefined) ?? error?.message ?? summary
  );
}

/** Refusals because others are at work are transient; any other reason that a worker cannot start is not. */
const TRANSIENT_REFUSALS: ReadonlySet<string> = new Set([
  "worker_busy",
  "step_not_ready",
  "claim_held",
  "claim_lost",
  "task_ended",
  "task_blocked",
  "task_unknown",
  "step_unknown",
]);

function couldStart({ status, error }: ToolResult): boolean {
  if (status === "denied" || status === "rejected") return false;
  const isRefused =
    error?.details?.["started"] === false || error?.code === "child_agent_limit_exceeded";
  return !isRefused || TRANSIENT_REFUSALS.has(error.code);
}

// How a task ends that no worker can work on any more, in a sentence that names its steps.

const PAGE = 100;
const MOST_NAMED = 10;

async function concludeTask(
  { reader }: Tasks,
  { task, counts }: TaskWithCounts,
): Promise<DriveEnd> {
  const { failed, blocked, pending, cancelled, completed } = counts;
  if (failed > 0) {
    const open = pending + blocked;
    const waiting = open === 0 ? "" : ` ${open} further steps could not be done.`;
    return {
      kind: "failed",
      reason: `${await describeSteps("failed", describeFailure)}${waiting}`,
    };
  }
  if (blocked > 0) {
    const describe = ({ reason }: StepRecord) => `is blocked: ${reason ?? NO_REASON}`;
    return { kind: "blocked", reason: await describeSteps("blocked", describe) };
  }
  if (pending > 0) {
    return { kind: "stuck", reason: `${pending} steps wait, and nothing they wait for.` };
  }
  const left = cancelled === 0 ? "" : `, ${cancelled} cancelled`;
  return { kind: "completed", reason: `All steps are done: ${completed} completed${left}.` };

  async function describeSteps(
    status: StepStatus,
    describe: (step: StepRecord) => string,
  ): Promise<string> {
    const steps = await reader.steps(task.task_id, { statuses: [status], limit: MOST_NAMED });
    const lines = steps.map((step) => `step ${step.step_id} ${describe(step)}`);
    const text = lines.join("; ").slice(0, 3000);
    return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`.replace(/\.$/, "").concat(".");
  }
}

const NO_REASON = "no reason was given";

function describeFailure({ attempts, failure }: StepRecord): string {
  const times = attempts === 1 ? "once" : `${attempts} times`;
  return `failed ${times}, last: ${failure?.message ?? NO_REASON}`;
}

/** By position, page by page. */
async function* readFailedSteps(
  { reader }: Tasks,
  task_id: string,
): AsyncGenerator<StepRecord, undefined> {
  let after_position: number | undefined;
  for (;;) {
    const page = await reader.steps(task_id, { statuses: ["failed"], after_position, limit: PAGE });
    yield* page;
    after_position = page.at(-1)?.position;
    if (page.length < PAGE) return undefined;
  }
}

// One step given to one worker: a run of its own that makes one call, agent.dispatch_worker, through the whole pipeline.
// The tool claims the step before the worker begins, so that no two drivers ever work on it at once (TASK-4).

const DISPATCH = "agent.dispatch_worker";

/** What the runs of one drive have in common. */
interface Driver {
  readonly options: DriveOptions;
  /** Below which all others stand. */
  readonly run: Run;
  /** What all workers together have used: a budget is one budget. */
  readonly account: ReturnType<typeof sumUsage>;
  /** The end of everything under way. */
  readonly stop: AbortController;
}

/** Never more than one call a run: how many children a run may have bounds models, not users who drive a task. */
async function dispatchStep(
  { options, account, run: { identity }, stop: { signal } }: Driver,
  { task_id, step_id }: StepRecord,
  worker: string,
): Promise<ToolResult> {
  const { session, agents, system = [], clock = systemClock(), ids = randomIds() } = options;
  const { run_id, agent_id } = identity;
  const given = buildRunOptions(options);
  const run = await session.startRun({ ...given, parent: { run_id, agent_id } });
  const about = { task_id, step_id, worker };
  const { seq: lastSeq } = run.recorder.record("task.step.dispatched", about);
  const usage = sumUsage([]);
  // Such a run has no conversation: it is the parent of its workers.
  const active = {
    ...options,
    run,
    options: given,
    system,
    limits: loopLimits(options.limits),
    clock,
    ids,
    account,
    usage,
    lastSeq,
    path: () => [],
    loadedTools: () => [],
  };
  const abort = (): void => void run.abort(messageOf(signal.reason));
  agents.activeRuns.add(active);
  signal.addEventListener("abort", abort, { once: true });
  try {
    if (signal.aborted) abort();
    const result = await run.call(DISPATCH, about);
    run.end(signal.aborted ? "aborted" : result.is_error ? "failed" : "completed", { usage });
    return result;
  } finally {
    signal.removeEventListener("abort", abort);
    agents.activeRuns.remove(active);
  }
}

function buildRunOptions({ models }: DriveOptions): RunOptions {
  return { mode: "orchestrator", allowedTools: [DISPATCH], profile: models[0].profile };
}
