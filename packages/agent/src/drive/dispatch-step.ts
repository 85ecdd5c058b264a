// One step given to one worker: a run of its own that makes one call, agent.dispatch_worker, through the whole pipeline.
// The tool claims the step before the worker begins, so that no two drivers ever work on it at once (TASK-4).

import { messageOf, randomIds, systemClock, type Run, type ToolResult } from "@soong/core";
import { loopLimits, sumUsage, type ActiveRun, type UsageTotal } from "../loop/index.ts";
import type { StepRecord } from "@soong/tasks";
import type { DriveOptions } from "./drive-options.ts";

const DISPATCH = "agent.dispatch_worker";

/** What the runs of one drive have in common. */
export interface Driver {
  readonly options: DriveOptions;
  /** Below which all others stand. */
  readonly run: Run;
  /** What all workers together have used: a budget is one budget. */
  readonly account: UsageTotal;
  /** The end of everything under way. */
  readonly stop: AbortController;
}

export async function startDriver(options: DriveOptions, stop: AbortController): Promise<Driver> {
  const run = await options.session.startRun(buildDriverRunOptions(options));
  return { options, run, account: sumUsage([]), stop };
}

/** Never more than one call a run: how many children a run may have bounds models, not users who drive a task. */
export async function dispatchStep(
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
