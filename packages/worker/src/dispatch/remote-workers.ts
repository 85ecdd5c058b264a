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
import { messageOf, ToolFailure } from "@soong/core";
import type { Store } from "@soong/store";
import type { EarlierAttempt, StepRecord, Tasks } from "@soong/tasks";
import type { JobQueue } from "../queue/index.ts";
import { followChild } from "./follow-child.ts";
import { toJob } from "./job.ts";
import { readChildEnd } from "./read-child.ts";

export interface RemoteWorkersOptions {
  readonly tasks: Tasks;
  readonly store: () => Promise<Store>;
  /** Opened with the first dispatch. */
  readonly queue: () => Promise<JobQueue>;
}

/** Besides being woken; of a short lease, a part of it. */
const POLL_MS = 2_000;
/** Until its run says how it ended. */
const LAST_WORDS_MS = 100;
/** How long a pool may be without any worker. */
const ABSENT_MS = 30_000;
/** How long a worker may take to stop. */
const STOP_WITHIN_MS = 10_000;

export function createRemoteWorkers(options: RemoteWorkersOptions): RemoteWorkers {
  const { tasks } = options;
  return { dispatch };

  async function dispatch(work: RemoteWork, watch: RemoteWatch): Promise<RemoteEnd> {
    const { signal } = watch;
    const store = await options.store();
    const first = await findStep(work, watch);
    if (first?.status !== "ready") throw refuseUnready(work, first);
    let addedAt = -Infinity;
    let child: RemoteChild | undefined;
    const attendance = watchAttendance(store, work.pool, watch.startWithinMs);
    const pollMs = Math.min(POLL_MS, tasks.leaseMs / 6);
    const changes = createWaiter(store, `step/${work.task_id}/${work.step_id}`, { signal, pollMs });
    const follower = followChild(store, watch);
    try {
      for (let step: StepRecord | undefined = first; ; step = await findStep(work, watch)) {
        const now = (await findChild(store, step)) ?? child;
        if (child !== undefined && now?.run_id !== child.run_id) await takeLeave(child);
        child = now;
        if (child !== undefined) {
          watch.onClaimed(child);
          changes.listen(`questions/${child.session_id}`);
        }
        if (step === undefined || isAtRest(step, first)) {
          const end = await readEnd(store, step, child, signal);
          await chargeEarlier(step);
          if (end.child === undefined) return end;
          await follower.look(end.child.session_id);
          const usage = follower.usageOf(end.child.session_id);
          return { ...end, result: { ...end.result, usage } };
        }
        if (signal.aborted) throw signal.reason;
        const exceeded = child && (await follower.look(child.session_id));
        if (child !== undefined && exceeded !== undefined) {
          await stopChild(store, work, child, exceeded);
          await follower.look(child.session_id);
          return endExceeded(child, exceeded, follower.usageOf(child.session_id));
        }
        const isWaiting = step.status === "ready";
        if (isWaiting && performance.now() - addedAt > tasks.leaseMs / 3) {
          await add(work, step);
          if (addedAt === -Infinity) watch.onWaiting(`waits for a worker of the pool ${work.pool}`);
          addedAt = performance.now();
        }
        if (isWaiting && (await attendance.isDeserted())) throw refuseDeserted(work);
        await changes.wait();
      }
    } catch (error) {
      // It may have been claimed just now, also by another run than before.
      const now = await findStep(work, watch)
        .then((step) => findChild(store, step))
        .catch(() => undefined);
      child = now ?? child;
      if (child !== undefined) await stopChild(store, work, child, messageOf(error));
      throw error;
    } finally {
      changes.close();
    }

    /** What it had used is charged, also where nothing came of it. */
    async function takeLeave(lost: RemoteChild): Promise<void> {
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

  async function add(work: RemoteWork, step: StepRecord): Promise<void> {
    const queue = await options.queue();
    await queue.add(work.pool, toJob(work, step));
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

  async function stopChild(
    store: Store,
    { task_id, step_id }: RemoteWork,
    { session_id, run_id }: RemoteChild,
    reason: string,
  ): Promise<void> {
    const until = performance.now() + STOP_WITHIN_MS;
    await store.cluster?.send(session_id, { kind: "abort", run_id, reason }).catch(() => false);
    while (performance.now() < until) {
      const step = await tasks.reader.step(task_id, step_id).catch(() => undefined);
      if (step?.claim?.run_id !== run_id) return;
      await delay(50);
    }
  }
}

/** Nothing more comes of this dispatch. A step whose worker was lost or stopped goes to another one. */
function isAtRest(step: StepRecord, first: StepRecord): boolean {
  if (step.status === "claimed" || step.status === "running") return false;
  if (step.status !== "ready") return true;
  return findEnded(step, first).some(
    ({ outcome }) => outcome !== "lease_lost" && outcome !== "stopped",
  );
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

function refuseUnready({ step_id }: RemoteWork, step: StepRecord | undefined): ToolFailure {
  const how = step === undefined ? "not there" : step.status;
  return new ToolFailure({
    code: "step_not_ready",
    error_class: "invalid_arguments",
    message: `No worker was dispatched. Step ${step_id} is ${how}, not ready.`,
    recovery: "change_arguments",
    details: { started: false },
  });
}

/** Those that are there may all be busy: that may take long. Where there is none, only for one to be started again. */
function watchAttendance(
  store: Store,
  pool: string,
  startWithinMs: number,
): { isDeserted(): Promise<boolean> } {
  const absentMs = Math.min(ABSENT_MS, startWithinMs / 2);
  let presentAt = performance.now();
  let lookAt = presentAt;
  return {
    async isDeserted() {
      const now = performance.now();
      if (now < lookAt) return false;
      lookAt = now + absentMs / 4;
      const workers = (await store.cluster?.workers()) ?? [];
      if (workers.some((one) => one.pool === pool && !one.draining)) presentAt = now;
      return now - presentAt > absentMs;
    },
  };
}

function refuseDeserted({ pool, step_id }: RemoteWork): ToolFailure {
  return new ToolFailure({
    code: "no_worker",
    error_class: "dependency_unavailable",
    message: `Step ${step_id} was not begun: there is no worker of the pool ${pool}. \`soong worker --pool ${pool}\` starts one; \`soong workers\` lists those of all pools.`,
    recovery: "retry_after_delay",
    details: { started: false },
  });
}

interface Waiter {
  /** To this topic, too. */
  listen(topic: string): void;
  wait(): Promise<void>;
  close(): void;
}

/** Until someone says that it changed, or it is time to look. */
function createWaiter(
  store: Store,
  topic: string,
  { signal, pollMs }: { readonly signal: AbortSignal; readonly pollMs: number },
): Waiter {
  let wake = (): void => {};
  let isWoken = false;
  const woken = (): void => {
    isWoken = true;
    wake();
  };
  const topics = new Map<string, (() => void) | undefined>();
  listen(topic);
  signal.addEventListener("abort", woken);
  return {
    listen,
    async wait() {
      if (!isWoken && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, pollMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      isWoken = false;
    },
    close() {
      for (const unlisten of topics.values()) unlisten?.();
      signal.removeEventListener("abort", woken);
    },
  };

  function listen(name: string): void {
    if (!topics.has(name)) topics.set(name, store.cluster?.listen(name, woken));
  }
}
