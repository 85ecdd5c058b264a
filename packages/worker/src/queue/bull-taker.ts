// Takes jobs of one pool with a worker of BullMQ: runs the handler, then ends the job, puts it back or delays it.

import { setMaxListeners } from "node:events";
import { inTime } from "@soong/platform";
import type { IQueueBackend, Job as BullJob } from "bullmq";
import { POLL_SECONDS, type Bull, type BullBackends } from "./bull-backends.ts";
import type { ReportError } from "./error-reporter.ts";
import type { Job, JobEnd, JobTaker, TakeOptions } from "./job-queue.ts";
import { QueueError } from "./queue-error.ts";
import { readStoredJob } from "./queue-names.ts";

/** Between a failure of a handler or of the queue and the next attempt. */
const RETRY_MS = 1000;
/** How often BullMQ looks for jobs of killed workers. */
const CHECK_MS = 1000;
/** How long an aborted handler may take to end. */
const GRACE_MS = 5000;
const CLOSE_MS = 10_000;
const ALWAYS = 2 ** 31 - 1;

export interface BullTakerOptions extends TakeOptions {
  readonly bull: Bull;
  readonly backends: BullBackends;
  readonly name: string;
  readonly lockMs: number;
  readonly report: ReportError;
}

export async function startBullTaker(given: BullTakerOptions): Promise<JobTaker> {
  const { bull, backends, name, lockMs, concurrency, report } = given;
  const options = {
    concurrency,
    lockDuration: lockMs,
    stalledInterval: Math.min(CHECK_MS, lockMs / 2),
    maxStalledCount: ALWAYS,
    drainDelay: POLL_SECONDS,
    runRetryDelay: RETRY_MS,
  };
  const connected = await backends.connect(name, options, { takes: true });
  const { backend, connection } = connected;
  const ending = new AbortController();
  const aborting = new AbortController();
  // Each job adds a listener.
  setMaxListeners(0, aborting.signal);
  pauseAfterFailure(backend, given, ending.signal);
  const worker = new bull.Worker(
    name,
    (job: BullJob, token?: string) => processJob(job, token ?? ""),
    { ...options, connection },
    () => backend,
  );
  worker.on("error", (error) => {
    if (!isReplaced(error)) report(error);
  });
  let ended: Promise<void> | undefined;
  return {
    drain: end,
    async close() {
      aborting.abort(new Error("the worker was stopped"));
      await inTime(end(), { ms: CLOSE_MS });
      // Also where BullMQ still waits for a server that does not answer.
      await connected.close();
    },
  };

  function end(): Promise<void> {
    ending.abort();
    ended ??= worker.close().then(() => connected.close());
    return ended;
  }

  async function processJob(taken: BullJob, token: string): Promise<void> {
    const job = readStoredJob(taken.data);
    if (job === undefined) throw new bull.UnrecoverableError("This is not a job of Soong.");
    // If BullMQ is closed while it waits for a job, it takes one more.
    const jobEnd = ending.signal.aborted ? "back" : await runHandler(job, given, aborting.signal);
    if (jobEnd === "done") return;
    if (jobEnd === "back") {
      await taken.moveToWait(token);
      throw new bull.WaitingError();
    }
    await taken.moveToDelayed(Date.now() + jobEnd.retryInMs, token);
    throw new bull.DelayedError();
  }
}

/** `back`: the handler was aborted, and another worker may take the job at once. */
async function runHandler(
  job: Job,
  { handle, report }: BullTakerOptions,
  signal: AbortSignal,
): Promise<JobEnd | "back"> {
  try {
    const work = handle(job, signal);
    const first = await inTime(work, { signal });
    const last = first.kind === "aborted" ? await inTime(work, { ms: GRACE_MS }) : first;
    return last.kind === "done" ? checkEnd(last.value) : "back";
  } catch (error) {
    if (signal.aborted) return "back";
    report(error, `delivers job ${job.id} again, because its handler failed`);
    return { retryInMs: RETRY_MS };
  }
}

function checkEnd(end: JobEnd): JobEnd {
  if (end === "done" || end.retryInMs >= 0) return end;
  throw new QueueError(
    "queue_input",
    'The handler of a job returns "done" or { retryInMs }, with zero or more milliseconds.',
  );
}

/** Whether the error means that the dispatch has replaced the job while it was delayed here. */
function isReplaced({ message }: Error): boolean {
  return message.startsWith("Missing key for job ");
}

/** Without a pause, BullMQ would query a failing database in an endless loop. */
function pauseAfterFailure(
  backend: IQueueBackend,
  { backends, report }: BullTakerOptions,
  signal: AbortSignal,
): void {
  const moveToActive = backend.moveToActive.bind(backend);
  const waitForJob = backend.waitForJob.bind(backend);
  backend.moveToActive = (...args) => paused(() => moveToActive(...args));
  backend.waitForJob = (...args) => paused(() => waitForJob(...args));

  async function paused<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    try {
      return await ask();
    } catch (error) {
      await backends.repair(error).catch((failure: unknown) => report(failure));
      if (!signal.aborted) await inTime(new Promise<never>(() => {}), { ms: RETRY_MS, signal });
      throw error;
    }
  }
}
