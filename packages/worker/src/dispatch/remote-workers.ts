// The dispatching side: puts a step into the queue of a pool and waits until the task says what became of it. The queue is only
// transport, so a step that is ready is added again and again; the claim in the store decides who works on it.

import { setTimeout as delay } from "node:timers/promises";
import {
  sumUsage,
  type RemoteChild,
  type RemoteEnd,
  type RemoteWatch,
  type RemoteWork,
  type RemoteWorkers,
  type UsageTotal,
} from "@soong/agent";
import { messageOf, type AnyHook } from "@soong/core";
import type { PatternPlaces } from "@soong/core/internal";
import { StoreError, type Store } from "@soong/store";
import type { EarlierAttempt, StepRecord, Tasks } from "@soong/tasks";
import type { JobQueue } from "../queue/index.ts";
import { createChangeWaiter } from "./change-waiter.ts";
import {
  describeDeclined,
  describeQuestion,
  refuseDeserted,
  refuseTwice,
  refuseUnready,
} from "./dispatch-messages.ts";
import { followChild } from "./follow-child.ts";
import { listGuards } from "./guards.ts";
import { createJobOffer } from "./offer-job.ts";
import { watchPool } from "./pool-watch.ts";
import { readChildEnd } from "./read-child.ts";
import { recordMissingCompletion } from "./record-completion.ts";

export interface RemoteWorkersOptions {
  readonly tasks: Tasks;
  readonly store: () => Promise<Store>;
  /** Opened with the first dispatch. */
  readonly queue: () => Promise<JobQueue>;
  /** Of this process. A worker takes a step only if it has those that can stop or change calls, too. */
  readonly hooks: readonly AnyHook[];
  /** What their paths mean. */
  readonly places: PatternPlaces;
}

/** Besides being woken; of a short lease, a part of it. */
const POLL_MS = 2_000;
/** How long a pool may be without any worker, and the queue out of reach. */
const ABSENT_MS = 30_000;
/** Until its run says how it ended. */
const LAST_WORDS_MS = 100;
/** How long a worker may take to stop. */
const STOP_WITHIN_MS = 10_000;
const STOP_POLL_MS = 50;

export function createRemoteWorkers(options: RemoteWorkersOptions): RemoteWorkers {
  const { tasks } = options;
  const dispatched = new Set<string>();
  return {
    async dispatch(work, watch) {
      const step = `${work.task_id}/${work.step_id}`;
      // The two would follow one run, charge it twice, and either would stop it.
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
    const absentMs = Math.min(ABSENT_MS, watch.startWithinMs / 2);
    const everyMs = tasks.leaseMs / 3;
    const onWaiting = createWaitingReporter(watch);
    const job = { ...work, guards: listGuards(options.hooks, options.places) };
    const offerJob = createJobOffer(options.queue, job, { absentMs, everyMs, signal, onWaiting });
    const pool = watchPool(store, work, absentMs);
    const pollMs = Math.min(POLL_MS, tasks.leaseMs / 6);
    const changes = createChangeWaiter(store, { signal, pollMs });
    changes.listen(`step/${work.task_id}/${work.step_id}`);
    let child: RemoteChild | undefined;
    const follower = followChild(store, watch);
    let isFresh = false;
    try {
      for (let step: StepRecord | undefined = first; ; step = await findStep(work, watch)) {
        const now = (await findChild(store, step)) ?? child;
        if (child !== undefined && now?.run_id !== child.run_id) await chargeLost(child);
        for (const { outcome, message } of findEnded(step, first)) {
          if (isGivenBack(outcome)) onWaiting(`goes to another worker: ${message}`);
        }
        child = now;
        if (child !== undefined) {
          watch.onClaimed(child);
          changes.listen(`questions/${child.session_id}`);
          onWaiting(`runs on ${child.worker}`);
        }
        if (step === undefined || isOver(step, first)) {
          const end = await readEnd(store, step, child, signal);
          await recordMissingCompletion(store, step, watch.caller);
          await chargeEarlier(step);
          if (end.child === undefined) return end;
          await follower.look(end.child.session_id);
          const usage = follower.usageOf(end.child.session_id);
          return { ...end, result: { ...end.result, usage } };
        }
        if (signal.aborted) throw signal.reason;
        if (child !== undefined) {
          const { exceeded, questions } = await follower.look(child.session_id);
          for (const one of questions) onWaiting(`waits for ${describeQuestion(one)}`);
          if (exceeded !== undefined) {
            await stopClaim(store, work, exceeded);
            await follower.look(child.session_id);
            return endExceeded(child, exceeded, follower.usageOf(child.session_id));
          }
        }
        if (step.status === "ready") {
          await offerJob(step);
          const { isDeserted, declined, pools } = await pool.look({ isFresh });
          const wasBegun = child !== undefined || findEnded(step, first).length > 0;
          if (isDeserted) throw refuseDeserted(work, { wasBegun, pools, declined });
          for (const one of declined) {
            onWaiting(`waits for a worker that can take it: ${describeDeclined([one])}`);
          }
        }
        isFresh = await changes.wait();
      }
    } catch (error) {
      const stopped = await stopClaim(store, work, messageOf(error));
      if (stopped !== undefined) {
        watch.onClaimed(stopped);
        await follower.look(stopped.session_id).catch(() => {});
      }
      throw error;
    } finally {
      changes.close();
    }

    /** What it had used is charged, also where nothing came of it. */
    async function chargeLost(lost: RemoteChild): Promise<void> {
      await follower.look(lost.session_id);
      watch.onLost(lost, follower.usageOf(lost.session_id));
    }

    /** Attempts that came and went between two looks. */
    async function chargeEarlier(step: StepRecord | undefined): Promise<void> {
      for (const { run_id } of findEnded(step, first)) {
        const run = await store.findRun(run_id);
        if (run === undefined || follower.hasLookedAt(run.session_id)) continue;
        await follower.look(run.session_id);
      }
    }
  }

  /** What lost workers held is ready again. */
  async function findStep(
    { task_id, step_id }: RemoteWork,
    { caller }: RemoteWatch,
  ): Promise<StepRecord | undefined> {
    const [step] = await tasks.querySteps(caller, { task_id, step_ids: [step_id] });
    return step;
  }

  async function readEnd(
    store: Store,
    step: StepRecord | undefined,
    child: RemoteChild | undefined,
    signal: AbortSignal,
  ): Promise<RemoteEnd> {
    const last = step?.last_run_id;
    if (last === undefined) return { child, result: nothingDone(step), answer: "" };
    // It says its last words after the step is done.
    for (;;) {
      const run = await store.findRun(last);
      // Its worker was lost between the claim and the first fact.
      if (run === undefined) return { child, result: nothingDone(step), answer: "" };
      const end = await readChildEnd(store, run);
      const isHeld = (await store.heldSessions([run.session_id])).length > 0;
      if (end !== undefined || !isHeld) {
        const whose = child?.run_id === last ? child : toChild(run, step);
        return { child: whose, ...(end ?? { result: nothingDone(step), answer: "" }) };
      }
      await delay(LAST_WORDS_MS, undefined, { signal });
    }
  }

  /**
   * Until no one has the step: a worker that claims it gives it back, and one that has it, with or without a run, stops. Returns
   * the run that was stopped.
   */
  async function stopClaim(
    store: Store,
    { task_id, step_id, from }: RemoteWork,
    reason: string,
  ): Promise<RemoteChild | undefined> {
    const { run_id: caller, tool_call_id } = from;
    let isWithdrawn = false;
    const until = performance.now() + STOP_WITHIN_MS;
    let stopped: RemoteChild | undefined;
    while (performance.now() < until) {
      try {
        if (!isWithdrawn) {
          await store.cluster?.withdrawDispatch({ run_id: caller, tool_call_id }, reason);
          isWithdrawn = true;
        }
        const step = await tasks.reader.step(task_id, step_id);
        if (step?.claim === undefined) return stopped;
        stopped = (await findChild(store, step)) ?? stopped;
      } catch (error) {
        if (error instanceof StoreError && error.code === "store_closed") return stopped;
        // The database is away: there is time to ask again.
      }
      await delay(STOP_POLL_MS);
    }
    return stopped;
  }
}

/** Nothing more comes of this dispatch. A step whose worker was lost or stopped goes to another one. */
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
  step: StepRecord | undefined,
): Promise<RemoteChild | undefined> {
  const run_id = step?.claim?.run_id;
  if (run_id === undefined) return undefined;
  const run = await store.findRun(run_id);
  return run && toChild(run, step);
}

function toChild(
  { session_id, run_id, agent_id }: Pick<RemoteChild, "session_id" | "run_id" | "agent_id">,
  step: StepRecord | undefined,
): RemoteChild {
  const { claim, last_run_id, last_worker } = step ?? {};
  const worker = claim?.run_id === run_id ? claim.worker : undefined;
  const last = last_run_id === run_id ? last_worker : undefined;
  return { session_id, run_id, agent_id, worker: worker ?? last ?? "a worker" };
}

function nothingDone(step: StepRecord | undefined): RemoteEnd["result"] {
  const message = step === undefined ? "the step is gone" : `the step is ${step.status}`;
  return {
    status: "failed",
    usage: sumUsage([]),
    reason: "aborted_tools",
    turns: 0,
    error: { code: "worker_lost", message },
  };
}

function endExceeded(child: RemoteChild, message: string, usage: UsageTotal): RemoteEnd {
  const error = { code: "budget", message };
  const result = {
    status: "failed",
    usage,
    reason: "failed",
    turns: usage.requests,
    error,
  } as const;
  return { child, result, answer: "" };
}

/** Each thing is reported once. */
function createWaitingReporter(watch: RemoteWatch): (what: string) => void {
  const reported = new Set<string>();
  return (what) => {
    if (reported.has(what)) return;
    reported.add(what);
    watch.onWaiting(what);
  };
}
