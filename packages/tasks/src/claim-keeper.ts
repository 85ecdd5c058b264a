// Keeps the claims of this process alive (TASK-4): a heartbeat by timer for each, also while a call takes minutes, until
// the step is finished, the claim is lost, or its run has left.

import { systemClock, type Clock } from "@soong/core";
import { leaseMargin } from "@soong/platform";
import type { Claimed, ClaimRequest, HeldClaim } from "./claims.ts";
import { TaskRefused } from "./refusal.ts";
import type { RecordTaskFact, ReleaseReason, TaskCaller, Tasks } from "./tasks.ts";

export interface ClaimKeeper {
  /** Claims a step for the caller's run and keeps it. */
  claim(caller: TaskCaller, request: ClaimRequest): Promise<Claimed>;
  /** Also a lost one, until the run claims another or leaves: what comes under it is refused as late. */
  getClaim(run_id: string): HeldClaim | undefined;
  /** An update under the claim: while it is under way, a heartbeat that finds the claim gone proves nothing. */
  during<T>(claim: Pick<HeldClaim, "run_id" | "token">, update: () => Promise<T>): Promise<T>;
  /** The step was finished: no more heartbeats for it. */
  forget(claim: Pick<HeldClaim, "run_id" | "token">): void;
  /** Calls `lost` once when a run has lost its claim: nothing it still does on the step counts. Returns an unsubscribe function. */
  watch(run_id: string, lost: (claim: HeldClaim, why: string) => void): () => void;
  /**
   * When a run has come to its end, whichever: a step it has not finished is given back. `record`: where that is put
   * on record when the run itself takes no more facts.
   */
  leave(run_id: string, how: ReleaseReason, record?: RecordTaskFact): Promise<void>;
  /** Gives back everything, as `leave` with `aborted`. */
  close(): Promise<void>;
}

export interface ClaimKeeperOptions {
  readonly tasks: Tasks;
  readonly clock?: Clock;
  /** Default: a third of the lease. */
  readonly heartbeatMs?: number;
}

const SHORTEST_PAUSE_MS = 20;

const UNREACHED = "Its lease ran out, and the store could not be reached to renew it.";

interface Kept {
  readonly claim: HeldClaim;
  readonly record: RecordTaskFact | undefined;
  /** By the monotonic clock: a margin before the lease can end. */
  holdUntil: number;
  /** Updates under way. */
  updates: number;
  lost: string | undefined;
  stop: () => void;
}

export function createClaimKeeper(options: ClaimKeeperOptions): ClaimKeeper {
  const { tasks, clock = systemClock() } = options;
  const heartbeatMs = options.heartbeatMs ?? tasks.leaseMs / 3;
  const marginMs = leaseMargin(tasks.leaseMs);
  const holdMs = tasks.leaseMs - marginMs;
  /** By run, which has one at most. */
  const kept = new Map<string, Kept>();
  const watchers = new Map<string, (claim: HeldClaim, why: string) => void>();

  return {
    async claim(caller, request) {
      const since = clock.monotonic();
      const claimed = await tasks.claim(caller, request);
      if (claimed.kind === "claimed") keepClaim(claimed.claim, caller.record, since);
      return claimed;
    },
    getClaim: (run_id) => kept.get(run_id)?.claim,
    async during({ run_id, token }, update) {
      const one = kept.get(run_id);
      if (one?.claim.token !== token) return update();
      one.updates += 1;
      try {
        return await update();
      } finally {
        one.updates -= 1;
      }
    },
    forget,
    watch(run_id, lost) {
      watchers.set(run_id, lost);
      const one = kept.get(run_id);
      if (one?.lost !== undefined) lost(one.claim, one.lost);
      return () => {
        if (watchers.get(run_id) === lost) watchers.delete(run_id);
      };
    },
    leave,
    async close() {
      await Promise.all([...kept.keys()].map((run_id) => leave(run_id, "aborted")));
    },
  };

  function keepClaim(claim: HeldClaim, record: RecordTaskFact | undefined, since: number): void {
    const before = kept.get(claim.run_id);
    if (before !== undefined) forget(before.claim);
    const holdUntil = since + holdMs;
    const one: Kept = { claim, record, holdUntil, updates: 0, lost: undefined, stop: () => {} };
    kept.set(claim.run_id, one);
    tasks.alive.add(claim.token);
    // Getting the claim took longer than the lease. The store counts from the commit, so the claim may be valid: it is renewed.
    if (clock.monotonic() < holdUntil) schedule(one);
    else void renewClaim(one);
  }

  function schedule(one: Kept): void {
    const left = one.holdUntil - clock.monotonic();
    // After a failure there is less time: each further attempt takes half of it.
    const ms = Math.min(heartbeatMs, left / 2);
    one.stop =
      ms < SHORTEST_PAUSE_MS
        ? clock.after(Math.max(0, left), () => loseClaim(one, UNREACHED))
        : clock.after(ms, () => void renewClaim(one));
  }

  async function renewClaim(one: Kept): Promise<void> {
    const since = clock.monotonic();
    // Whether the store answers or not: past its lease a claim may belong to another run. A process that was suspended for
    // longer than its lease asks first: the claim may still be its own.
    const timeoutMs = since < one.holdUntil ? one.holdUntil - since : marginMs;
    one.stop = clock.after(timeoutMs, () => loseClaim(one, UNREACHED));
    try {
      await tasks.renew(one.claim, one.record);
      one.holdUntil = since + holdMs;
    } catch (error) {
      // A store that is busy or gone for a moment: the lease leaves time for another try.
      if (!(error instanceof TaskRefused)) {
        if (clock.monotonic() >= one.holdUntil) loseClaim(one, UNREACHED);
      } else if (one.updates === 0) loseClaim(one, error.message);
    }
    if (!isKept(one) || one.lost !== undefined) return;
    one.stop();
    schedule(one);
  }

  function loseClaim(one: Kept, why: string): void {
    if (!isKept(one) || one.lost !== undefined) return;
    one.stop();
    tasks.alive.delete(one.claim.token);
    one.lost = why;
    watchers.get(one.claim.run_id)?.(one.claim, why);
  }

  /** It may have been finished while its heartbeat was under way. */
  function isKept(one: Kept): boolean {
    return kept.get(one.claim.run_id) === one;
  }

  function forget({ run_id, token }: Pick<HeldClaim, "run_id" | "token">): void {
    const one = kept.get(run_id);
    if (one?.claim.token !== token) return;
    one.stop();
    tasks.alive.delete(token);
    kept.delete(run_id);
  }

  async function leave(run_id: string, how: ReleaseReason, record?: RecordTaskFact): Promise<void> {
    const one = kept.get(run_id);
    if (one === undefined) return;
    one.stop();
    kept.delete(run_id);
    try {
      await tasks.release(one.claim, how, record ?? one.record);
    } finally {
      tasks.alive.delete(one.claim.token);
    }
  }
}
