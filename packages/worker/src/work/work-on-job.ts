// One job from its delivery to its end: check it, claim the step, do it in a new session, give it back if it was not finished. A
// job that is delivered twice is claimed once.

import { bufferFacts, type Agents, type RunEnd, type WorkCeiling } from "@soong/agent";
import { messageOf, randomIds, SoongError, systemClock } from "@soong/core";
import { TaskRefused, type StepRecord } from "@soong/tasks";
import { readJob, type JobWork } from "../dispatch/index.ts";
import type { Job, JobEnd } from "../queue/index.ts";
import { readCeiling } from "./ceiling.ts";
import { findMismatch } from "./find-mismatch.ts";
import { isWanted, watchWithdrawal } from "./watch-dispatch.ts";
import type { WorkerHost, WorkerSession } from "./worker-host.ts";
import type { DeclinedSteps } from "./declined-steps.ts";
import { createReadCalls } from "./read-calls.ts";

export interface JobWatch {
  readonly declined: DeclinedSteps;
  /** The worker has declined a step, for the first time or for a new reason. */
  readonly onDeclined: (work: JobWork) => void;
  /** The worker has claimed the step and begins; then again with the session that it has for it. */
  readonly onBegun: (work: JobWork, session_id?: string) => void;
}

/** When a declined job is delivered again. Another worker may be able to do it, but this one may get it first. */
const ELSEWHERE_MS = 1_000;

export async function workOnJob(
  host: WorkerHost,
  job: Job,
  signal: AbortSignal,
  watch: JobWatch,
): Promise<JobEnd> {
  const work = readJob(job);
  if (typeof work === "string") {
    host.report(`The job ${job.id} was dropped: ${work}.`);
    return "done";
  }
  const pool = host.agents.workers.pools.find(({ name }) => name === work.pool);
  if (pool === undefined) {
    host.report(`The job ${job.id} was dropped: it is for another pool.`);
    return "done";
  }
  const ids = randomIds();
  const { task_id, step_id } = work;
  const ceiling = readCeiling(host.store, work.from, host.places);
  // If the work is not wanted, this is not awaited, and a rejection must not count as unhandled.
  ceiling.catch(() => {});
  const [isStillWanted, found] = await Promise.all([
    isWanted(host.store, work),
    host.tasks.reader.get(task_id),
  ]);
  const task = found?.task;
  // The dispatch may have ended before the job was delivered.
  if (!isStillWanted || task === undefined) return "done";
  const why = (await findMismatch(host, work, pool, signal)) ?? (await findNoCeiling(ceiling));
  if (why !== undefined) return decline(host, work, why, watch);
  const taken = host.agents.workers.take(
    { pool: pool.name },
    {
      session_id: task.session_id,
      agent_id: ids.next("agent"),
      run_id: ids.next("run"),
      task_id,
      step_id,
    },
  );
  if (taken.kind !== "taken") return { retryInMs: ELSEWHERE_MS };
  const { assignment } = taken;
  try {
    const step = { work, assignment, title: task.title };
    return await claimAndWork(host, step, await ceiling, signal, watch);
  } finally {
    host.agents.workers.free(assignment);
  }
}

/** A sentence: without the policy of the dispatch nothing may be done. */
function findNoCeiling(ceiling: Promise<WorkCeiling>): Promise<string | undefined> {
  return ceiling.then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof SoongError && error.code === "no_ceiling") return error.message;
      throw error;
    },
  );
}

/** The job is delivered again every second until another worker has the step or this one can take it. */
function decline(host: WorkerHost, work: JobWork, why: string, watch: JobWatch): JobEnd {
  const { isNewStep, isNewReason, isOutdated } = watch.declined.add(work, why);
  if (isNewReason) {
    host.report(`Step ${work.step_id} of ${work.task_id} is left to other workers: ${why}`);
  }
  if (isNewStep) watch.onDeclined(work);
  return isOutdated ? "done" : { retryInMs: ELSEWHERE_MS };
}

type Taken = Pick<Parameters<Agents["workOnStep"]>[0], "assignment" | "title"> & {
  readonly work: JobWork;
};

async function claimAndWork(
  host: WorkerHost,
  taken: Taken,
  ceiling: WorkCeiling,
  signal: AbortSignal,
  watch: JobWatch,
): Promise<JobEnd> {
  const { keeper } = host;
  const { work, assignment } = taken;
  const { run_id, agent_id, session_id, worker } = assignment;
  const { task_id, step_id } = work;
  const facts = bufferFacts();
  const actor = { kind: "worker", session_id, run_id, agent_id, task_id, worker, step_id } as const;
  const claimed = await claim();
  if (claimed.kind !== "claimed") return claimed.end;
  const { step } = claimed;
  const wakeDispatch = (): void => host.store.cluster?.wake(`step/${task_id}/${step_id}`);
  wakeDispatch();
  let opened: WorkerSession | undefined;
  const stop = new AbortController();
  const unwatch = watchWithdrawal(host, work, (reason) => stop.abort(reason));
  try {
    // If the dispatch ended between the first look and the claim, no one knows of the claim.
    if (!(await isWanted(host.store, work))) {
      await keeper.leave(run_id, "aborted", facts.record);
      return "done";
    }
    watch.onBegun(work);
    opened = await host.openSession({
      title: `${taken.title}: ${step.title}`,
      dispatchedBy: { ...work.from, task_id, step_id },
    });
    watch.declined.remove(work);
    watch.onBegun(work, opened.session.session_id);
    host.report(`→ ${step_id} of ${task_id}: ${step.title}`);
    opened.onAbort((reason) => stop.abort(reason));
    const end = await host.agents.workOnStep(
      { ...taken, step, facts },
      {
        session: opened.session,
        models: host.models,
        limits: host.limits,
        clock: systemClock(),
        ids: randomIds(),
        toolProvider: host.toolProvider,
        ceiling,
        readCalls: createReadCalls(host.store),
        signal: AbortSignal.any([signal, stop.signal, opened.lost]),
      },
    );
    host.report(`← ${step_id} of ${task_id}: ${describeEnd(end, await readOwnEnd())}`);
  } catch (error) {
    // The step is given back: another worker may be able to do it.
    await keeper.leave(run_id, "aborted", facts.record).catch(() => {});
    if (opened === undefined) return decline(host, work, messageOf(error), watch);
    host.report(`← ${step_id} of ${task_id}: not finished: ${messageOf(error)}`);
    return { retryInMs: ELSEWHERE_MS };
  } finally {
    unwatch();
    wakeDispatch();
    await opened?.close().catch((error: unknown) => {
      host.report(`The session of ${step_id} could not be closed: ${messageOf(error)}`);
    });
  }
  return "done";

  /** Undefined if the store cannot be read now, or another run has the step already. */
  async function readOwnEnd(): Promise<StepRecord | undefined> {
    const now = await host.tasks.reader.step(task_id, step_id).catch(() => undefined);
    return now?.last_run_id === run_id ? now : undefined;
  }

  async function claim() {
    try {
      const got = await keeper.claim({ actor, record: facts.record }, { task_id, step_id });
      if (got.kind === "claimed") return got;
    } catch (error) {
      if (!(error instanceof TaskRefused)) throw error;
    }
    const step = await host.tasks.reader.step(task_id, step_id);
    const until = step?.claim?.lease_expires_at;
    // Another worker has the step: the job is delivered again when that lease may have ended.
    const end: JobEnd =
      until === undefined
        ? "done"
        : {
            retryInMs: Math.max(
              1_000,
              Math.min(host.tasks.leaseMs, Date.parse(until) - Date.now()),
            ),
          };
    return { kind: "refused", end } as const;
  }
}

/** A run may end well without having finished its step. */
function describeEnd({ error, reason }: RunEnd, step: StepRecord | undefined): string {
  if (step?.status === "completed") return "completed";
  const isOver = step?.status === "failed" || step?.status === "blocked";
  const why = isOver ? (step.failure?.message ?? step.reason) : undefined;
  const end = error?.message ?? why ?? `its run ended as ${reason.replaceAll("_", " ")}`;
  return `${isOver ? step.status : "not finished"}: ${end}`;
}
