// The dispatching side: puts a step into the queue of a pool and waits until the task shows its end. The queue is only transport,
// so a ready step is added repeatedly; the claim in the store decides which worker does it.

import { setTimeout as delay } from "node:timers/promises";
import type { RemoteChild, RemoteEnd, RemoteWatch, RemoteWork, RemoteWorkers } from "@soong/agent";
import { messageOf, type AnyHook } from "@soong/core";
import { describeOpenQuestion, type PatternPlaces } from "@soong/core/internal";
import { StoreError, type RunRecord, type Store } from "@soong/store";
import type { EarlierAttempt, StepRecord, Tasks } from "@soong/tasks";
import type { JobQueue } from "../queue/index.ts";
import { createChangeWaiter } from "./change-waiter.ts";
import {
  createWaitingReporter,
  describeDeclined,
  refuseDeserted,
  refuseTwice,
  refuseUnready,
} from "./dispatch-messages.ts";
import { followChild } from "./follow-child.ts";
import { listGuards } from "./guards.ts";
import { createJobOffer } from "./offer-job.ts";
import { watchPool } from "./pool-watch.ts";
import { endExceeded, nothingDone, readChildEnd, toChild } from "./read-child.ts";
import { recordMissingCompletion } from "./record-completion.ts";

export interface RemoteWorkersOptions {
  readonly tasks: Tasks;
  readonly store: () => Promise<Store>;
  /** Opened with the first dispatch. */
  readonly queue: () => Promise<JobQueue>;
  /** The hooks of this process. A worker takes a step only if it also has those that can stop or change calls. */
  readonly hooks: readonly AnyHook[];
  /** The directories to which the path patterns of the hooks refer. */
  readonly places: PatternPlaces;
}

/** How often the step is read without a notification; more often if the lease is short. */
const POLL_MS = 2_000;
const BEGINNING_POLL_MS = 100;
const BEGINNING_MS = 3_000;
/** How long a pool may be without any worker, and the queue unreachable. */
const ABSENT_MS = 30_000;
/** The interval at which an ended step's run is read until its end is recorded. */
const END_POLL_MS = 100;
/** How long a worker may take to stop. */
const STOP_WITHIN_MS = 10_000;
const STOP_POLL_MS = 50;

export function createRemoteWorkers(options: RemoteWorkersOptions): RemoteWorkers {
  const { tasks } = options;
  const dispatched = new Set<string>();
  return {
    async dispatch(work, watch) {
      const step = `${work.task_id}/${work.step_id}`;
      // Two dispatches would follow the same run: both would charge it, and either could stop it.
      if (dispatched.has(step)) throw refuseTwice(work);
      dispatched.add(step);
      try {
        return await dispatch(work, watch);
      } finally {
        dispatched.delete(step);
      }
    },
  };

  async function dispatch(work: RemoteWork, watch: RemoteWatch): Promise<RemoteEnd> {
    const { signal } = watch;
    const store = await options.store();
    const first = await findStep(work, watch);
    if (first?.status !== "ready") throw refuseUnready(work, first);
    /** Runs of lost attempts that were reported already, with their usage. */
    const settled = new Set<string>();
    const withdrawn = new Set<string>();
    const absentMs = Math.min(ABSENT_MS, watch.startWithinMs / 2);
    const everyMs = tasks.leaseMs / 3;
    const reporter = createWaitingReporter(watch);
    const { onWaiting } = reporter;
    const job = { ...work, guards: listGuards(options.hooks, options.places) };
    const offerJob = createJobOffer(options.queue, job, { absentMs, everyMs, signal, onWaiting });
    const pool = watchPool(store, work, absentMs);
    const pollMs = Math.min(POLL_MS, tasks.leaseMs / 6);
    const changes = createChangeWaiter(store, { signal, pollMs });
    changes.listen(`step/${work.task_id}/${work.step_id}`);
    const follower = followChild(store, watch);
    let isFresh = false;
    let beginningUntil: number | undefined;
    try {
      for (let step: StepRecord | undefined = first; ; step = await findStep(work, watch)) {
        await settleLost(step, step && isOver(step, first) ? step.last_run_id : undefined);
        await withdrawQuestions((step?.earlier ?? []).map(({ run_id }) => run_id));
        for (const { at, outcome, message } of findEnded(step, first)) {
          if (isGivenBack(outcome)) reporter.reportAttempt(at, `is ready again: ${message}`);
        }
        const child = await findChild(store, work, step);
        if (child !== undefined) {
          watch.onClaimed(child);
          changes.listen(`questions/${child.session_id}`);
          onWaiting(`runs on ${child.worker}`);
        }
        if (step === undefined || isOver(step, first)) {
          const end = await readEnd(store, work, step, { settled, signal });
          if (step?.last_run_id !== undefined) await withdrawQuestions([step.last_run_id]);
          await recordMissingCompletion(store, work, step, watch.caller);
          if (end.child === undefined) return end;
          await follower.look(end.child.session_id);
          const usage = follower.usageOf(end.child.session_id);
          return { ...end, result: { ...end.result, usage } };
        }
        if (signal.aborted) throw signal.reason;
        if (child !== undefined) {
          const { exceeded, questions } = await follower.look(child.session_id);
          for (const one of questions) onWaiting(`waits for ${describeOpenQuestion(one)}`);
          if (exceeded !== undefined) {
            const left = await stopClaim(store, work, exceeded);
            await follower.look(child.session_id);
            await settleLost(left, child.run_id);
            return endExceeded(child, exceeded, follower.usageOf(child.session_id));
          }
        }
        if (step.status === "ready") {
          await offerJob(step);
          const { isDeserted, isEmpty, declined, pools } = await pool.look({ isFresh });
          const wasBegun = findEnded(step, first).length > 0;
          if (isDeserted) throw refuseDeserted(work, { wasBegun, pools, declined });
          if (isEmpty) {
            onWaiting(
              `has no worker yet: \`soong worker --pool ${work.pool}\` starts one; the dispatch waits ${Math.ceil(absentMs / 1_000)} s`,
            );
          }
          for (const one of declined) {
            onWaiting(`waits for a worker that can take it: ${describeDeclined([one])}`);
          }
        }
        // Its run is on record a moment after the claim, and may ask something at once.
        if (step.claim === undefined || child !== undefined) beginningUntil = undefined;
        else beginningUntil ??= performance.now() + BEGINNING_MS;
        const isBeginning = performance.now() < (beginningUntil ?? 0);
        isFresh = await changes.wait(isBeginning ? Math.min(BEGINNING_POLL_MS, pollMs) : pollMs);
      }
    } catch (error) {
      // An aborted wait rejects with a bare AbortError: the signal has the reason.
      const why = signal.aborted ? (signal.reason as unknown) : error;
      const left = await stopClaim(store, work, messageOf(why));
      // If the usage cannot be read now, it is not charged.
      await settleLost(left).catch(() => {});
      throw why;
    } finally {
      changes.close();
    }

    /** Reports attempts that ended without a result, also between two looks. `kept`: the run whose end is the end of the dispatch. */
    async function settleLost(step: StepRecord | undefined, kept?: string): Promise<void> {
      for (const { run_id, worker } of findEnded(step, first)) {
        if (run_id === kept || settled.has(run_id)) continue;
        const run = await findRemoteRun(store, work, run_id);
        if (run === undefined) continue;
        await follower.look(run.session_id);
        settled.add(run_id);
        watch.onLost(toChild(run, worker), follower.usageOf(run.session_id));
      }
    }

    /** Of attempts that have ended, also before this dispatch: no one waits for the answers. */
    async function withdrawQuestions(run_ids: readonly string[]): Promise<void> {
      for (const run_id of run_ids) {
        if (withdrawn.has(run_id)) continue;
        withdrawn.add(run_id);
        const run = await findRemoteRun(store, work, run_id);
        if (run !== undefined) await store.questions().withdrawAll(run.session_id);
      }
    }
  }

  /** The query also releases steps whose lease has expired. */
  async function findStep(
    { task_id, step_id }: RemoteWork,
    { caller }: RemoteWatch,
  ): Promise<StepRecord | undefined> {
    const [step] = await tasks.querySteps(caller, { task_id, step_ids: [step_id] });
    return step;
  }

  async function readEnd(
    store: Store,
    work: RemoteWork,
    step: StepRecord | undefined,
    { settled, signal }: { readonly settled: ReadonlySet<string>; readonly signal: AbortSignal },
  ): Promise<RemoteEnd> {
    const nothing = { child: undefined, result: nothingDone(step), answer: "" };
    const { last_run_id, last_worker } = step ?? {};
    if (last_run_id === undefined || settled.has(last_run_id)) return nothing;
    // The worker records the end of its run after the step is done.
    for (;;) {
      const run = await findRemoteRun(store, work, last_run_id);
      // The worker was lost between the claim and its first fact, or it is not of a remote pool.
      if (run === undefined) return nothing;
      const end = await readChildEnd(store, run);
      const isHeld = (await store.heldSessions([run.session_id])).length > 0;
      if (end !== undefined || !isHeld)
        return { ...nothing, ...end, child: toChild(run, last_worker) };
      await delay(END_POLL_MS, undefined, { signal });
    }
  }

  /** Withdraws the dispatch, so that a worker that has or gets the step gives it back, and waits until no one has it. */
  async function stopClaim(
    store: Store,
    { task_id, step_id, from: { run_id, tool_call_id } }: RemoteWork,
    reason: string,
  ): Promise<StepRecord | undefined> {
    let isWithdrawn = false;
    const until = performance.now() + STOP_WITHIN_MS;
    let step: StepRecord | undefined;
    while (performance.now() < until) {
      try {
        if (!isWithdrawn) {
          await store.cluster?.withdrawDispatch({ run_id, tool_call_id }, reason);
          isWithdrawn = true;
        }
        step = await tasks.reader.step(task_id, step_id);
        if (step?.claim === undefined) return step;
      } catch (error) {
        if (error instanceof StoreError && error.code === "store_closed") return step;
        // The database is unreachable: the loop tries again.
      }
      await delay(STOP_POLL_MS);
    }
    return step;
  }
}

/** Whether the dispatch has ended. A step whose worker was lost or stopped goes to another worker. */
function isOver(step: StepRecord, first: StepRecord): boolean {
  if (step.status === "claimed" || step.status === "running") return false;
  if (step.status !== "ready") return true;
  return findEnded(step, first).some(({ outcome }) => !isGivenBack(outcome));
}

function isGivenBack(outcome: EarlierAttempt["outcome"]): boolean {
  return outcome === "lease_lost" || outcome === "stopped";
}

/** The attempts that ended since the dispatch. */
function findEnded(
  step: StepRecord | undefined,
  first: StepRecord | undefined,
): readonly EarlierAttempt[] {
  const before = new Set((first?.earlier ?? []).map(({ at }) => at));
  return (step?.earlier ?? []).filter(({ at }) => !before.has(at));
}

async function findChild(
  store: Store,
  work: RemoteWork,
  step: StepRecord | undefined,
): Promise<RemoteChild | undefined> {
  if (step?.claim === undefined) return undefined;
  const { run_id, worker } = step.claim;
  const run = await findRemoteRun(store, work, run_id);
  return run && toChild(run, worker);
}

/** Ignores a run of the dispatching session: a worker of that process has claimed the step, and its usage is charged already. */
async function findRemoteRun(
  store: Store,
  { from }: RemoteWork,
  run_id: string,
): Promise<RunRecord | undefined> {
  const run = await store.findRun(run_id);
  return run?.session_id === from.session_id ? undefined : run;
}
