// Puts a step into the queue of its pool, and does so again while the step is ready: a queue may lose or delay a job.

import type { RemoteWatch } from "@soong/agent";
import { inTime } from "@soong/platform";
import type { StepRecord } from "@soong/tasks";
import { QueueError, type Job, type JobQueue } from "../queue/index.ts";
import { toJob, type JobWork } from "./job.ts";

export interface JobOfferOptions extends Pick<RemoteWatch, "signal"> {
  /** Receives a text for users: what the dispatch waits for. */
  readonly onWaiting: (what: string) => void;
  /** How long the queue may be unreachable before it has a job. */
  readonly absentMs: number;
  readonly everyMs: number;
}

/** After this time an attempt that ended was no failure to begin. */
const SHORTEST_PAUSE_MS = 500;

/**
 * Call it whenever the step is ready. An unreachable queue is no failure once it may have a job: the store shows what happens to
 * the step.
 */
export function createJobOffer(
  openQueue: () => Promise<JobQueue>,
  work: JobWork,
  { absentMs, everyMs, signal, onWaiting }: JobOfferOptions,
): (step: StepRecord) => Promise<void> {
  const { pool } = work;
  const giveUpAt = performance.now() + absentMs;
  let nextAt = -Infinity;
  let number = 1;
  let offered: string | undefined;
  let attempt: string | undefined;
  let offeredAt = -Infinity;
  let pauseMs = SHORTEST_PAUSE_MS;

  return async (step) => {
    const ended = step.earlier?.at(-1)?.at;
    // The worker that gave the step back has finished the job. Where none can begin it, each offer comes later than the last.
    if (ended !== attempt) {
      const isQuick = performance.now() - offeredAt < 2 * pauseMs;
      pauseMs = isQuick ? Math.min(2 * pauseMs, everyMs) : SHORTEST_PAUSE_MS;
      nextAt = Math.min(nextAt, offeredAt + pauseMs);
    }
    attempt = ended;
    if (performance.now() < nextAt) return;
    const job = toJob(work, step, number);
    try {
      const end = await inTime(putJob(job), { signal });
      if (end.kind !== "done") return;
      if (offered === undefined) onWaiting(`waits for a worker of the pool ${pool}`);
      if (end.value) {
        offered = job.id;
        number += 1;
      }
      offeredAt = performance.now();
      nextAt = offeredAt + everyMs;
    } catch (error) {
      const isAway = error instanceof QueueError && error.code === "queue_failed";
      if (!isAway || (offered === undefined && performance.now() > giveUpAt)) throw error;
      if (offered === undefined) onWaiting(`waits for the queue. ${error.message}`);
    }
  };

  /** Returns whether the job was added. An earlier job that still waits in the queue keeps its place. */
  async function putJob(job: Job): Promise<boolean> {
    const queue = await openQueue();
    if (offered !== undefined) return queue.replace(pool, offered, job);
    await queue.add(pool, job);
    return true;
  }
}
