// The drive module: runs a task to its end without a model that orchestrates it.
// Drives a task to its end (TASK-6): steps that are ready go to workers that are free, steps that failed are tried again
// while they have attempts left, and the task ends when nothing more can be done. What others do to it meanwhile, in
// this process or another, is seen and counts.

import {
  messageOf,
  RunRefused,
  systemClock,
  type FactData,
  type ToolResult,
  randomIds,
  type Run,
  type Clock,
  type IdSource,
  type Session,
} from "@soong/core";
import {
  TaskRefused,
  type StepRecord,
  type TaskCaller,
  type TaskRecord,
  type TaskWithCounts,
  type StepStatus,
  type Tasks,
} from "@soong/tasks";
import {
  loopLimits,
  sumUsage,
  type ActiveRun,
  type UsageTotal,
  type LoopLimits,
  type ToolProvider,
} from "../loop/index.ts";
import type { Agents } from "../child/index.ts";
import type { Model } from "../model/index.ts";

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
  const driver = await startDriver(options, stop).catch((error: unknown) => {
    if (error instanceof RunRefused) return error;
    throw error;
  });
  // Such as by a rule that denies workers.
  if (driver instanceof RunRefused) return { kind: "stuck", reason: driver.message };
  let end: DriveEnd | undefined;
  try {
    end = await drive(driver);
    return end;
  } finally {
    options.signal?.removeEventListener("abort", abort);
    driver.run.end(toDriverRunEnd(end), {
      task_id,
      ...(end === undefined ? {} : { end: end.kind, message: end.reason }),
    });
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
    for await (const { step_id, attempts, max_attempts } of readAllSteps(tasks, task_id, [
      "failed",
    ])) {
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
      const working = workOnStep(step, next).catch((error: unknown) => {
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

  function idleWorkers(): { pool: string; worker: string }[] {
    return agents.workers
      .states()
      .filter(({ pool }) => options.pools?.includes(pool) ?? true)
      .filter(({ pool }) => !unusable.has(pool))
      .flatMap(({ pool, workers }) =>
        workers.flatMap(({ worker, state }) =>
          state === "idle" && !taken.has(worker) ? [{ pool, worker }] : [],
        ),
      );
  }

  async function workOnStep(
    step: StepRecord,
    { pool, worker }: { pool: string; worker: string },
  ): Promise<void> {
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
      const pools = agents.workers.pools.filter(
        ({ name }) => options.pools?.includes(name) ?? true,
      );
      if (pools.some(({ name }) => !unusable.has(name))) return undefined;
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

function toDriverRunEnd(end: DriveEnd | undefined): "completed" | "failed" | "aborted" {
  if (end?.kind === "aborted") return "aborted";
  return end?.kind === "completed" ? "completed" : "failed";
}

// How a task ends that no worker can work on any more, in a sentence that names its steps.

const PAGE = 100;
const MOST_NAMED = 10;

async function concludeTask(tasks: Tasks, state: TaskWithCounts): Promise<DriveEnd> {
  const { task_id } = state.task;
  const { counts } = state;
  if (counts.failed > 0) {
    const failed = await describeSteps(
      tasks,
      task_id,
      "failed",
      ({ step_id, attempts, failure }) => {
        const times = attempts === 1 ? "once" : `${attempts} times`;
        return `step ${step_id} failed ${times}, last: ${failure?.message ?? "no reason was given"}`;
      },
    );
    const open = counts.pending + counts.blocked;
    const waiting = open === 0 ? "" : ` ${open} further steps could not be done.`;
    return { kind: "failed", reason: `${toSentence(failed)}.${waiting}` };
  }
  if (counts.blocked > 0) {
    const blocked = await describeSteps(
      tasks,
      task_id,
      "blocked",
      ({ step_id, reason }) => `step ${step_id} is blocked: ${reason ?? "no reason was given"}`,
    );
    return { kind: "blocked", reason: `${toSentence(blocked)}.` };
  }
  if (counts.pending > 0) {
    return { kind: "stuck", reason: `${counts.pending} steps wait, and nothing they wait for.` };
  }
  const left = counts.cancelled === 0 ? "" : `, ${counts.cancelled} cancelled`;
  return { kind: "completed", reason: `All steps are done: ${counts.completed} completed${left}.` };
}

/** By position, page by page. */
async function* readAllSteps(
  { reader }: Tasks,
  task_id: string,
  statuses?: readonly StepStatus[],
): AsyncGenerator<StepRecord, undefined> {
  let after_position: number | undefined;
  for (;;) {
    const page = await reader.steps(task_id, { statuses, after_position, limit: PAGE });
    yield* page;
    after_position = page.at(-1)?.position;
    if (page.length < PAGE) return undefined;
  }
}

async function describeSteps(
  { reader }: Tasks,
  task_id: string,
  status: StepStatus,
  say: (step: StepRecord) => string,
): Promise<string> {
  const steps = await reader.steps(task_id, { statuses: [status], limit: MOST_NAMED });
  return steps.map(say).join("; ").slice(0, 3000);
}

function toSentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`.replace(/\.$/, "");
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
  readonly account: UsageTotal;
  /** The end of everything under way. */
  readonly stop: AbortController;
}

async function startDriver(options: DriveOptions, stop: AbortController): Promise<Driver> {
  const run = await options.session.startRun(buildDriverRunOptions(options));
  return { options, run, account: sumUsage([]), stop };
}

/** Never more than one call a run: how many children a run may have bounds models, not users who drive a task. */
async function dispatchStep(
  driver: Driver,
  { task_id, step_id }: Pick<StepRecord, "task_id" | "step_id">,
  worker: string,
): Promise<ToolResult> {
  const { options } = driver;
  const { signal } = driver.stop;
  const { run_id, agent_id } = driver.run.identity;
  const given = { ...buildDriverRunOptions(options), parent: { run_id, agent_id } };
  const run = await options.session.startRun(given);
  const about = { task_id, step_id, worker };
  const { seq } = run.recorder.record("task.step.dispatched", about);
  const active = createDriverRun(driver, run, seq);
  const abort = (): void => void run.abort(messageOf(signal.reason));
  options.agents.activeRuns.add(active);
  signal.addEventListener("abort", abort, { once: true });
  try {
    if (signal.aborted) abort();
    const result = await run.call(DISPATCH, about);
    run.end(signal.aborted ? "aborted" : result.is_error ? "failed" : "completed");
    return result;
  } finally {
    signal.removeEventListener("abort", abort);
    options.agents.activeRuns.remove(active);
  }
}

function buildDriverRunOptions({ models }: DriveOptions) {
  return {
    mode: "orchestrator",
    allowedTools: [DISPATCH],
    profile: models[0].profile,
  } as const;
}

/** Such a run has no conversation: it is the parent of its workers. */
function createDriverRun({ options, account }: Driver, run: Run, lastSeq: number): ActiveRun {
  const { session, models, system = [], limits, toolProvider } = options;
  const { clock = systemClock(), ids = randomIds() } = options;
  return {
    session,
    run,
    options: buildDriverRunOptions(options),
    models,
    system,
    limits: loopLimits(limits),
    toolProvider,
    agent_definition_id: undefined,
    clock,
    ids,
    account,
    lastSeq,
    path: () => [],
    loadedTools: () => [],
  };
}

// The options of driving a task, its events and how it ends.

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

export type DriveEnd =
  /** How the task ended. */
  | {
      readonly kind: "completed" | "failed" | "cancelled";
      readonly reason: string;
    }
  /** It continues when what blocks it is removed. */
  | { readonly kind: "blocked"; readonly reason: string }
  /** No worker can be put to work. */
  | { readonly kind: "stuck"; readonly reason: string }
  | { readonly kind: "aborted"; readonly reason: string };
