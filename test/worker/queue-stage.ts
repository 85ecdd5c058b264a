// Job queues for a test, closed when it ends, and handlers that record what they were given.

import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import { expect, onTestFinished, vi } from "vitest";
import {
  openJobQueue,
  type HandleJob,
  type Job,
  type JobQueue,
} from "../../packages/worker/src/index.ts";

/** With it the job of a killed worker is soon taken by another; so may be the job of a slow one. */
export const SHORT_LOCK_MS = 1000;
export const WAIT = { timeout: 40_000, interval: 20 };

export interface StagedQueue extends JobQueue {
  /** What was sent to `onError`. */
  readonly errors: readonly Error[];
}

export async function openQueue(url: string, lockMs = 10_000): Promise<StagedQueue> {
  const errors: Error[] = [];
  const onError = (error: Error): void => void errors.push(error);
  const queue = await openJobQueue(url, { lockMs, onError });
  onTestFinished(() => queue.close());
  return { ...queue, errors };
}

/** A pool that no other test has. */
export function newPool(): string {
  return `pool ${randomUUID()}`;
}

export interface RecordingHandler {
  readonly handle: HandleJob;
  /** Ids, in the order they were delivered. */
  readonly ids: string[];
  readonly jobs: Job[];
}

export function recordJobs(end: HandleJob = async () => "done"): RecordingHandler {
  const jobs: Job[] = [];
  const ids: string[] = [];
  return {
    ids,
    jobs,
    async handle(job, signal) {
      ids.push(job.id);
      jobs.push(job);
      return end(job, signal);
    },
  };
}

export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function createGate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

export async function waitForCount(
  queue: JobQueue,
  pool: string,
  count: { readonly waiting: number; readonly active: number },
): Promise<void> {
  await vi.waitFor(async () => expect(await queue.count(pool)).toEqual(count), WAIT);
}

export async function waitForIds(handler: RecordingHandler, ids: readonly string[]): Promise<void> {
  await vi.waitFor(() => expect(new Set(handler.ids)).toEqual(new Set(ids)), WAIT);
}

/** Under the workers that use it. Of two that wait for each other PostgreSQL ends one, which may be this one: again, then. */
export async function drop(database: Client, what: string): Promise<void> {
  for (;;) {
    try {
      await database.query(`drop ${what} cascade`);
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== DEADLOCK) throw error;
    }
  }
}

const DEADLOCK = "40P01";
