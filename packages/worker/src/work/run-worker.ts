// A worker process: takes jobs of its pool until it is stopped, and says every few seconds that it is there and what it does.

import { hostname } from "node:os";
import { messageOf } from "@soong/core";
import type { ClusterStorage, WorkerStep } from "@soong/store";
import { refuseClockOffset } from "./clock-offset.ts";
import { readJob } from "../dispatch/index.ts";
import type { JobQueue } from "../queue/index.ts";
import { workOnJob, type WorkerHost } from "./work-on-job.ts";

export interface WorkerOptions {
  readonly host: WorkerHost;
  readonly cluster: ClusterStorage;
  readonly queue: JobQueue;
  readonly worker_id: string;
  readonly pool: string;
  readonly concurrency: number;
  readonly version: string;
  /** Takes nothing more; what runs is finished. */
  readonly drain: AbortSignal;
  /** Stops what runs, too, and gives it back. */
  readonly stop: AbortSignal;
}

const REPORT_MS = 10_000;

/** Settles when it has ended, and nothing of it is left at work. */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const { host, cluster, queue, pool, concurrency, stop } = options;
  refuseClockOffset(await cluster.clockOffsetMs(), host.tasks.leaseMs);
  const doing = new Set<WorkerStep>();
  const unfit = new Set<string>();
  const started_at = new Date().toISOString();
  const drain = new AbortController();
  const forget = onceAborted(options.drain, () => drain.abort());
  await reportSelf();
  const taker = await queue.take(pool, {
    concurrency,
    async handle(job, signal) {
      const work = readJob(job);
      const { task_id, step_id } =
        typeof work === "string" ? { task_id: job.id, step_id: "" } : work;
      const step: WorkerStep = { task_id, step_id, since: new Date().toISOString() };
      doing.add(step);
      void reportSelf();
      try {
        return await workOnJob(host, job, AbortSignal.any([signal, stop]), unfit);
      } catch (error) {
        host.report(`The job ${job.id} goes back: ${messageOf(error)}`);
        throw error;
      } finally {
        doing.delete(step);
        void reportSelf();
      }
    },
  });
  const timer = setInterval(() => void reportSelf(), REPORT_MS);
  const unlisten = cluster.listen(`worker/${options.worker_id}`, () => void reportSelf());
  const ended = new Promise<void>((resolve) => {
    onceAborted(stop, resolve);
    onceAborted(drain.signal, () => {
      host.report("Takes nothing more; finishes what it has begun.");
      void cluster.drainWorker(options.worker_id).catch(() => {});
      void taker.drain().then(resolve, () => resolve());
    });
  });
  try {
    await ended;
  } finally {
    clearInterval(timer);
    unlisten();
    forget();
    await taker.close();
    await cluster.removeWorker(options.worker_id).catch(() => {});
  }

  async function reportSelf(): Promise<void> {
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
      });
      if (draining) drain.abort();
    } catch (error) {
      // It is there all the same: the database is away, and its claims say how long that may last.
      host.report(`It could not say that it is there: ${messageOf(error)}`);
    }
  }
}

function onceAborted(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) act();
  else signal.addEventListener("abort", act, { once: true });
  return () => signal.removeEventListener("abort", act);
}
