// One step given to one worker: a run of its own that makes one call, agent.dispatch_worker, through the whole pipeline.
// The tool claims the step before the worker begins, so that no two drivers ever work on it at once (TASK-4).

import {
  messageOf,
  randomIds,
  systemClock,
  type Run,
  type RunOptions,
  type ToolResult,
} from "@soong/core";
import type { StepRecord } from "@soong/tasks";
import { loopLimits, sumUsage } from "../loop/index.ts";
import type { DriveOptions } from "./drive-options.ts";

const DISPATCH = "agent.dispatch_worker";

/** What the runs of one drive have in common. */
export interface Driver {
  readonly options: DriveOptions;
  /** The parent of all others. */
  readonly run: Run;
  /** What all workers together have used: a budget is one budget. */
  readonly account: ReturnType<typeof sumUsage>;
  /** The end of everything under way. */
  readonly stop: AbortController;
}

/** Never more than one call a run: how many children a run may have bounds models, not users who drive a task. */
export async function dispatchStep(
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
    onWaiting: (message: string) =>
      options.onEvent?.({ kind: "waiting", step_id, worker, message }),
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

export function buildRunOptions({ models }: DriveOptions): RunOptions {
  return { mode: "orchestrator", allowedTools: [DISPATCH], profile: models[0].profile };
}
