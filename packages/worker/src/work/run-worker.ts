// A worker process: takes jobs of its pool until it is stopped, and reports every few seconds that it runs and what it does.

import { hostname } from "node:os";
import { messageOf } from "@soong/core";
import { inTime } from "@soong/platform";
import { omitUndefined } from "@soong/schema";
import { isStoreAway, type ClusterStorage, type WorkerStep } from "@soong/store";
import { refuseClockOffset } from "./clock-offset.ts";
import { REPORT_MS, type JobWork } from "../dispatch/index.ts";
import type { JobQueue, JobTaker } from "../queue/index.ts";
import { createDeclinedSteps } from "./declined-steps.ts";
import { workOnJob } from "./work-on-job.ts";
import type { WorkerHost } from "./worker-host.ts";

/** For the last report. */
const END_MS = 2_000;

export interface WorkerOptions {
  readonly host: WorkerHost;
  readonly cluster: ClusterStorage;
  readonly queue: JobQueue;
  readonly worker_id: string;
  readonly pool: string;
  readonly concurrency: number;
  readonly version: string;
  /** Accepts no new steps; the current ones are finished. `soong workers drain` does the same. */
  readonly drain: AbortSignal;
  /** How long the current steps may take after `drain`. Then they are stopped and given back. */
  readonly graceMs: number;
}

export interface WorkerEnd {
  /** How many steps were stopped and given back. */
  readonly stopped: number;
}

/** Settles when the worker has ended, with all of its work. */
export async function runWorker(options: WorkerOptions): Promise<WorkerEnd> {
  const { host, cluster, queue, pool, concurrency, graceMs } = options;
  refuseClockOffset(await cluster.clockOffsetMs(), host.tasks.leaseMs);
  const doing = new Set<WorkerStep>();
  const declined = createDeclinedSteps();
  const started_at = new Date().toISOString();
  let isRefused = false;
  /** Reports are sent one after the other: a late one would overwrite a later one, or undo the removal. */
  let reporting = Promise.resolve();
  /** Has not begun, so it will say what is true then: more of them would pile up while the store is away. */
  let nextReport: Promise<void> | undefined;
  let hasEnded = false;
  const drain = new AbortController();
  let grace: NodeJS.Timeout | undefined;
  await reportSelf();
  const taker = await takeJobs().catch(async (error: unknown) => {
    await reportEnd();
    throw error;
  });
  const forget = onceAborted(options.drain, () => drain.abort());
  const timer = setInterval(() => void reportSelf(), REPORT_MS);
  const unlisten = cluster.listen(`worker/${options.worker_id}`, () => void reportSelf());
  let stopped = 0;
  const ended = new Promise<void>((resolve) => {
    onceAborted(drain.signal, () => {
      host.report(describeDrain(doing.size, graceMs));
      grace = setTimeout(() => {
        stopped = doing.size;
        resolve();
      }, graceMs);
      void cluster.drainWorker(options.worker_id).catch(() => {});
      void taker.drain().then(resolve, () => resolve());
    });
  });
  try {
    await ended;
  } finally {
    clearInterval(timer);
    clearTimeout(grace);
    unlisten();
    forget();
    try {
      await taker.close();
    } finally {
      await reportEnd();
    }
  }
  return { stopped };

  function takeJobs(): Promise<JobTaker> {
    return queue.take(pool, {
      concurrency,
      async handle(job, signal) {
        let step: WorkerStep | undefined;
        const onDeclined = ({ task_id, step_id }: JobWork): void => {
          // Wakes the dispatch, which reads the report.
          void reportSelf().then(() => cluster.wake(`step/${task_id}/${step_id}`));
        };
        const onBegun = ({ task_id, step_id }: JobWork, session_id?: string): void => {
          const { since = new Date().toISOString() } = step ?? {};
          if (step !== undefined) doing.delete(step);
          step = omitUndefined({ task_id, step_id, since, session_id });
          doing.add(step);
          void reportSelf();
        };
        try {
          const watch = { declined, onDeclined, onBegun };
          return await workOnJob(host, job, signal, watch);
        } finally {
          if (step !== undefined) {
            doing.delete(step);
            void reportSelf();
          }
        }
      },
    });
  }

  function reportSelf(): Promise<void> {
    if (hasEnded) return reporting;
    nextReport ??= reporting.then(() => {
      nextReport = undefined;
      return sendReport();
    });
    reporting = nextReport;
    return reporting;
  }

  /** A store that does not answer does not keep the process: a worker that says nothing is forgotten in a minute. */
  async function reportEnd(): Promise<void> {
    hasEnded = true;
    const removed = reporting.then(() => cluster.removeWorker(options.worker_id));
    await inTime(removed, { ms: END_MS }).catch(() => {});
  }

  async function sendReport(): Promise<void> {
    try {
      const { draining } = await cluster.reportWorker({
        worker_id: options.worker_id,
        pool,
        host: hostname(),
        pid: process.pid,
        version: options.version,
        concurrency,
        started_at,
        doing: [...doing],
        declined: declined.list(),
      });
      if (isRefused) host.report("The store takes the reports of this worker again.");
      isRefused = false;
      if (draining) drain.abort();
    } catch (error) {
      // The store reports an outage itself (`onAway`). The leases of the claims decide how long it may last.
      if (isStoreAway(error) || isRefused) return;
      isRefused = true;
      host.report(`The store takes no reports of this worker; it tries again. ${messageOf(error)}`);
    }
  }
}

function describeDrain(steps: number, graceMs: number): string {
  if (steps === 0) return "Draining: it has no step, and takes no more.";
  const many = steps === 1 ? "1 step" : `${steps} steps`;
  return `Draining: it finishes ${many} within ${graceMs / 1000} s, gives back the rest, and takes no more. A second signal ends it at once; then others get its steps when their leases have ended.`;
}

function onceAborted(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) act();
  else signal.addEventListener("abort", act, { once: true });
  return () => signal.removeEventListener("abort", act);
}
