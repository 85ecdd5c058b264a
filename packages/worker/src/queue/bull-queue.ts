// The job queue on BullMQ, with tables in PostgreSQL or keys in Redis.

import { setMaxListeners } from "node:events";
import { inTime } from "@soong/platform";
import type { IQueueBackend, Queue } from "bullmq";
import type { OpenBullBackends } from "./bull-backends.ts";
import { refuseIncompleteTables } from "./bull-postgres.ts";
import { startBullTaker } from "./bull-taker.ts";
import { createErrorReporter } from "./error-reporter.ts";
import type { Job, JobQueue, JobQueueOptions, JobTaker } from "./job-queue.ts";
import { loadPackage } from "./load-package.ts";
import { asQueueError, QueueError, type QueueAddress } from "./queue-error.ts";
import { encodeJobId, encodePool, storeJob, type StoredJob } from "./queue-names.ts";

const DEFAULT_LOCK_MS = 10_000;
const MIN_LOCK_MS = 500;
/** How long an answer is waited for, also from an unreachable queue. */
const ANSWER_MS = 10_000;
/** An ended job is removed, so that its id can be added again; one that fails is delivered again without end. */
const JOB_OPTIONS = {
  removeOnComplete: true,
  removeOnFail: true,
  attempts: 2 ** 31 - 1,
  backoff: { type: "fixed", delay: 1000 },
  stackTraceLimit: 0,
};
/** How long closing waits for a queue that is being opened. */
const OPENED_MS = 2_000;
/** BullMQ keeps this many events for each queue. Soong reads none. */
const KEPT_EVENTS = 100;

type AnyQueue = Queue<StoredJob, void, string, StoredJob, void, string, IQueueBackend>;

export async function openBullQueue(
  address: QueueAddress,
  openBackends: OpenBullBackends,
  { lockMs = DEFAULT_LOCK_MS, onError }: JobQueueOptions,
): Promise<JobQueue> {
  checkCount("lockMs", lockMs, MIN_LOCK_MS);
  const report = createErrorReporter(address, onError);
  const bull = await loadPackage("bullmq", "6.7", () => import("bullmq"));
  const backends = await openBackends(address, bull, report).catch((error: unknown) => {
    throw asQueueError(error, address, "cannot be opened");
  });
  const schema = address.url.searchParams.get("schema") ?? undefined;
  const nameOf = (pool: string): string => encodePool(pool, schema);
  const queues = new Map<string, Promise<AnyQueue>>();
  const takers = new Set<JobTaker>();
  const closing = new AbortController();
  // Each request under way adds a listener.
  setMaxListeners(0, closing.signal);
  let closed: Promise<void> | undefined;

  return {
    async add(pool, job) {
      await askQueue(pool, "could not add a job", (queue) => addTo(queue, job));
    },
    replace: (pool, id, job) =>
      askQueue(pool, "could not replace a job", async (queue) => {
        const jobId = encodeJobId(id);
        if ((await queue.getJobState(jobId)) === "waiting") return false;
        // A job that a worker has cannot be removed; if it is delivered again, the store shows that it is not wanted.
        await queue.remove(jobId);
        await addTo(queue, job);
        return true;
      }),
    async take(pool, { concurrency, handle }) {
      const name = nameOf(pool);
      checkCount("concurrency", concurrency, 1);
      const options = { bull, backends, name, lockMs, report, concurrency, handle };
      let isAwaited = true;
      try {
        return await ask("could not be asked for jobs", async () => {
          const taker = await startBullTaker(options);
          takers.add(taker);
          if (isAwaited && closed === undefined) return taker;
          // The caller has given up, so no one else closes the taker.
          await taker.close();
          throw refuseClosed();
        });
      } finally {
        isAwaited = false;
      }
    },
    async count(pool) {
      const counts = await askQueue(pool, "could not count its jobs", (queue) =>
        queue.getJobCounts("waiting", "delayed", "active"),
      );
      const { waiting = 0, delayed = 0, active = 0 } = counts;
      return { waiting: waiting + delayed, active };
    },
    close() {
      closing.abort();
      closed ??= closeAll();
      return closed;
    },
  };

  async function addTo(queue: AnyQueue, job: Job): Promise<void> {
    await queue.add("job", storeJob(job), { ...JOB_OPTIONS, jobId: encodeJobId(job.id) });
  }

  async function askQueue<Answer>(
    pool: string,
    what: string,
    work: (queue: AnyQueue) => Promise<Answer>,
  ): Promise<Answer> {
    const name = nameOf(pool);
    return ask(what, async () => work(await openQueue(name)));
  }

  async function ask<Answer>(what: string, work: () => Promise<Answer>): Promise<Answer> {
    if (closing.signal.aborted) throw refuseClosed();
    try {
      return await inAnswerTime(() => withTables(work), closing.signal);
    } catch (error) {
      throw asQueueError(error, address, what);
    }
  }

  async function withTables<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    try {
      return await work();
    } catch (error) {
      if (!(await backends.repair(error))) throw error;
    }
    try {
      return await work();
    } catch (error) {
      refuseIncompleteTables(error);
      throw error;
    }
  }

  function openQueue(name: string): Promise<AnyQueue> {
    const known = queues.get(name);
    if (known !== undefined) return known;
    const opening = connectQueue(name);
    queues.set(name, opening);
    opening.catch(() => queues.delete(name));
    return opening;
  }

  async function connectQueue(name: string): Promise<AnyQueue> {
    const { backend, connection } = await backends.connect(name, {}, { takes: false });
    const streams = { events: { maxLen: KEPT_EVENTS } };
    const queue: AnyQueue = new bull.Queue(name, { connection, streams }, () => backend);
    queue.on("error", (error) => report(error));
    return queue;
  }

  async function closeAll(): Promise<void> {
    await Promise.allSettled(Array.from(takers, (taker) => taker.close()));
    // A queue that is being opened may wait for a connection that never comes.
    await inTime(Promise.allSettled(queues.values()), { ms: OPENED_MS });
    const ended = backends.close();
    const ending = Array.from(queues.values(), async (queue) => (await queue).close());
    await inTime(Promise.allSettled([ended, ...ending]), { ms: ANSWER_MS });
  }
}

function refuseClosed(): QueueError {
  return new QueueError("queue_closed", "The job queue is closed.");
}

/** Ends when the queue is closed: nothing answers after that. */
async function inAnswerTime<Answer>(
  work: () => Promise<Answer>,
  closing: AbortSignal,
): Promise<Answer> {
  const end = await inTime(work(), { ms: ANSWER_MS, signal: closing });
  if (end.kind === "done") return end.value;
  if (end.kind === "aborted") throw refuseClosed();
  throw new Error(`no answer within ${ANSWER_MS / 1000} seconds`);
}

function checkCount(name: string, value: number, least: number): void {
  if (Number.isInteger(value) && value >= least) return;
  throw new QueueError("queue_input", `${name} is a whole number, ${least} or more.`);
}
