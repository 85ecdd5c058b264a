// The job queue on BullMQ, whose tables are in PostgreSQL or whose keys are in Redis.

import { inTime } from "@soong/platform";
import type { IQueueBackend, Queue } from "bullmq";
import type { OpenBullBackends } from "./bull-backends.ts";
import { refuseIncompleteTables } from "./bull-postgres.ts";
import { startBullTaker } from "./bull-taker.ts";
import { createErrorReporter } from "./error-reporter.ts";
import type { JobQueue, JobQueueOptions, JobTaker } from "./job-queue.ts";
import { loadPackage } from "./load-package.ts";
import { asQueueError, QueueError, type QueueAddress } from "./queue-error.ts";
import { encodeJobId, encodePool, storeJob, type StoredJob } from "./queue-names.ts";

const DEFAULT_LOCK_MS = 10_000;
const MIN_LOCK_MS = 500;
/** For an answer, of a queue that cannot be reached as well. */
const ANSWER_MS = 10_000;
/** An ended job is removed, so that its id can be added again; one that fails is delivered again without end. */
const JOB_OPTIONS = {
  removeOnComplete: true,
  removeOnFail: true,
  attempts: 2 ** 31 - 1,
  backoff: { type: "fixed", delay: 1000 },
  stackTraceLimit: 0,
};
/** We read none of them. */
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
  let closed: Promise<void> | undefined;

  return {
    async add(pool, job) {
      const name = nameOf(pool);
      const jobId = encodeJobId(job.id);
      const data = storeJob(job);
      await ask("could not add a job", async () => {
        await (await openQueue(name)).add("job", data, { ...JOB_OPTIONS, jobId });
      });
    },
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
          // No one else would ever close it.
          await taker.close();
          throw refuseClosed();
        });
      } finally {
        isAwaited = false;
      }
    },
    async count(pool) {
      const name = nameOf(pool);
      const counts = await ask("could not count its jobs", async () =>
        (await openQueue(name)).getJobCounts("waiting", "delayed", "active"),
      );
      const { waiting = 0, delayed = 0, active = 0 } = counts;
      return { waiting: waiting + delayed, active };
    },
    close() {
      closed ??= closeAll();
      return closed;
    },
  };

  async function ask<Answer>(what: string, work: () => Promise<Answer>): Promise<Answer> {
    if (closed !== undefined) throw refuseClosed();
    try {
      return await inAnswerTime(() => withTables(work));
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
    const ended = backends.close();
    // Those that still wait for a connection fail now.
    const closing = Array.from(queues.values(), async (queue) => (await queue).close());
    await inTime(Promise.allSettled([ended, ...closing]), { ms: ANSWER_MS });
  }
}

function refuseClosed(): QueueError {
  return new QueueError("queue_closed", "The job queue is closed.");
}

async function inAnswerTime<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  const end = await inTime(work(), { ms: ANSWER_MS });
  if (end.kind === "done") return end.value;
  throw new Error(`no answer within ${ANSWER_MS / 1000} seconds`);
}

function checkCount(name: string, value: number, least: number): void {
  if (Number.isInteger(value) && value >= least) return;
  throw new QueueError("queue_input", `${name} is a whole number, ${least} or more.`);
}
