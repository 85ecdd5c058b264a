// Drives a task to its end (TASK-6): steps that are ready go to workers that are free, steps that failed are tried again
// while they have attempts left, and the task ends when nothing more can be done. What others do to it meanwhile, in
// this process or another, is seen and counts.

import { setMaxListeners } from "node:events";
import {
  messageOf,
  RunRefused,
  systemClock,
  type FactData,
  type Run,
  type ToolResult,
} from "@soong/core";
import {
  TaskRefused,
  type StepRecord,
  type TaskCaller,
  type TaskRecord,
  type Tasks,
  type TaskWithCounts,
} from "@soong/tasks";
import { sumUsage } from "../loop/index.ts";
import { concludeTask } from "./conclude-task.ts";
import { buildRunOptions, dispatchStep, type Driver } from "./dispatch-step.ts";
import type { DriveEnd, DriveOptions } from "./drive-options.ts";
import { createOthersReporter } from "./report-others.ts";

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
  // Each step that is under way listens to it.
  setMaxListeners(0, stop.signal);
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
  const reportOthers = createOthersReporter({ options, caller, atWork, onEnded: reportStepEnd });
  /** How many completed steps the user knows of. */
  let completed: number | undefined;
  let failure: Error | undefined;
  let stopReason = "the drive has ended";

  try {
    while (!signal.aborted) {
      const state = await tasks.get(caller, task_id);
      const over = readTaskEnd(state.task);
      if (over !== undefined) {
        stopReason = describeTaskEnd(over);
        return over;
      }
      if (state.task.status === "blocked") {
        return { kind: "blocked", reason: state.task.reason ?? "The task is blocked." };
      }
      completed ??= state.counts.completed;
      await reportOthers(state.counts.claimed + state.counts.running);
      // What others completed unseen counts from here on.
      if (atWork.size === 0) completed = Math.max(completed, state.counts.completed);
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
    if (atWork.size > 0) stop.abort(stopReason);
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

  /** Without `given` the step was another drive's. */
  async function reportStepEnd(
    step_id: string,
    given?: { readonly step: StepRecord | undefined; worker: string; summary: string },
  ): Promise<void> {
    const step = given === undefined ? await tasks.reader.step(task_id, step_id) : given.step;
    if (step === undefined) return;
    const isAtWork = step.status === "claimed" || step.status === "running";
    // It is still at work: the page of steps that was read did not have it.
    if (given === undefined && isAtWork) return;
    const { status, result, reason, failure, last_worker = "a worker" } = step;
    const {
      worker = last_worker,
      summary = result?.summary ?? reason ?? failure?.message ?? "no reason is on record",
    } = given ?? {};
    const { counts } = await tasks.get(caller, task_id);
    const of_steps = Object.values(counts).reduce((sum, count) => sum + count, 0);
    // Several may have been completed since they were counted: each is reported with a number of its own.
    if (status === "completed") completed = Math.min((completed ?? 0) + 1, counts.completed);
    const end = {
      step_id,
      worker,
      status,
      summary,
      completed: completed ?? counts.completed,
      of_steps,
    };
    options.onEvent?.({ kind: "step_ended", ...end });
  }

  async function findTaskEnd(): Promise<DriveEnd | undefined> {
    return readTaskEnd((await tasks.get(caller, task_id)).task);
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
    const { step_id, title, attempts, last_run_id } = step;
    options.onEvent?.({ kind: "dispatched", step_id, title, worker, attempt: attempts + 1 });
    const result = await dispatchStep(driver, step, worker);
    const now = await tasks.reader.step(task_id, step_id);
    // However the worker learned of it.
    const over = now?.status === "cancelled" ? await findTaskEnd() : undefined;
    const summary = over === undefined ? summarizeStep(result, now) : describeTaskEnd(over);
    // A remote worker has a name of its own.
    const last = now?.last_run_id === last_run_id ? undefined : now?.last_worker;
    await reportStepEnd(step_id, { step: now, worker: last ?? worker, summary });
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

function describeTaskEnd({ kind, reason }: DriveEnd): string {
  return `the task was ${kind}${reason === "" ? "" : `: ${reason}`}`;
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
    error?.details?.["started"] === false ||
    error?.code === "no_worker" ||
    error?.code === "child_agent_limit_exceeded";
  return !isRefused || TRANSIENT_REFUSALS.has(error.code);
}

const PAGE = 100;

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
