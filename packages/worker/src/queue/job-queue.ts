// The port to a job queue. A queue is only transport: it delivers each job at least once, sometimes twice, and what a
// worker may do is decided by its claim in the store. So a queue may lose its tables: the driver adds ready steps again.

import type { JsonObject } from "@soong/schema";

export interface Job {
  /** Such as `<task>/<step>/<attempt>`. While a job of this id waits or runs, adding it again changes nothing. */
  readonly id: string;
  readonly data: JsonObject;
}

/** With `retryInMs` the job is delivered again later, here or elsewhere, and does not count as failed. */
export type JobEnd = "done" | { readonly retryInMs: number };

export type HandleJob = (job: Job, signal: AbortSignal) => Promise<JobEnd>;

export interface TakeOptions {
  /** How many jobs run at a time, at most. */
  readonly concurrency: number;
  /** If it throws, the job is delivered again a second later. */
  readonly handle: HandleJob;
}

export interface JobQueue {
  /** After an error the job may have been added nevertheless. */
  add(pool: string, job: Job): Promise<void>;
  /**
   * Adds `job` in place of the job `id`, unless that one still waits in the queue. It may be missing there because its worker was
   * lost, or has delayed it by a wrong clock. Returns whether `job` was added.
   */
  replace(pool: string, id: string, job: Job): Promise<boolean>;
  take(pool: string, options: TakeOptions): Promise<JobTaker>;
  count(pool: string): Promise<JobCount>;
  /** Also closes its takers. */
  close(): Promise<void>;
}

export interface JobCount {
  /** Includes delayed jobs. */
  readonly waiting: number;
  readonly active: number;
}

export interface JobTaker {
  /** Accepts no new jobs; settles when the running jobs have ended. */
  drain(): Promise<void>;
  /**
   * Accepts no new jobs and aborts the running jobs. A job goes back when its handler has ended, and after five seconds in
   * any case: a handler that gives up its claim first lets another worker begin at once.
   */
  close(): Promise<void>;
}

export interface JobQueueOptions {
  /** How long the job of a killed worker is kept from others. Default: 10 seconds. */
  readonly lockMs?: number;
  /** Receives what goes wrong in the background. The same message again within 30 seconds is omitted. */
  readonly onError?: (error: Error) => void;
}
