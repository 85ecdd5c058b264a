// Keeps the claims of this process alive (TASK-4): a heartbeat by timer for each, also while a call takes minutes, until
// the step is finished, the claim is lost, or its run has left.

import { systemClock, type Clock } from "@soong/core";
import type { Claimed, ClaimRequest, HeldClaim } from "./plan-claim.ts";
import { TaskRefused } from "./refusal.ts";
import type { RecordTaskFact, ReleaseReason, TaskCaller, Tasks } from "./acting.ts";

export interface ClaimKeeper {
  /** Claims a step for the caller's run and keeps it. */
  claim(caller: TaskCaller, request: ClaimRequest): Promise<Claimed>;
  /** Also a lost one, until the run claims another or leaves: what comes under it is refused as late. */
  claimOf(run_id: string): HeldClaim | undefined;
  /** The step was finished: no more heartbeats for it. */
  forget(claim: Pick<HeldClaim, "run_id" | "token">): void;
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
  readonly clock?: Pick<Clock, "after">;
  /** Left out: a third of the lease. */
  readonly heartbeatMs?: number;
  /** A run has lost its claim: what it still does on the step will not count. */
  readonly onLost?: (claim: HeldClaim) => void;
}

interface Kept {
  readonly claim: HeldClaim;
  readonly record: RecordTaskFact | undefined;
  stop: () => void;
}

export function createClaimKeeper(options: ClaimKeeperOptions): ClaimKeeper {
  const { tasks, clock = systemClock(), onLost } = options;
  const heartbeatMs = options.heartbeatMs ?? tasks.leaseMs / 3;
  /** By run, which has one at most. */
  const kept = new Map<string, Kept>();

  return {
    async claim(caller, request) {
      const claimed = await tasks.claim(caller, request);
      if (claimed.kind === "claimed") keep(claimed.claim, caller.record);
      return claimed;
    },
    claimOf: (run_id) => kept.get(run_id)?.claim,
    forget,
    leave,
    async close() {
      await Promise.all([...kept.keys()].map((run_id) => leave(run_id, "aborted")));
    },
  };

  function keep(claim: HeldClaim, record: RecordTaskFact | undefined): void {
    kept.get(claim.run_id)?.stop();
    const one: Kept = { claim, record, stop: () => {} };
    kept.set(claim.run_id, one);
    schedule(one);
  }

  function schedule(one: Kept): void {
    one.stop = clock.after(heartbeatMs, () => void beat(one));
  }

  async function beat(one: Kept): Promise<void> {
    try {
      await tasks.renew(one.claim, one.record);
    } catch (error) {
      // A store that is busy or gone for a moment: the lease has room for another try.
      if (error instanceof TaskRefused) {
        if (isKept(one)) onLost?.(one.claim);
        return;
      }
    }
    if (isKept(one)) schedule(one);
  }

  /** It may have been finished while its heartbeat was under way. */
  function isKept(one: Kept): boolean {
    return kept.get(one.claim.run_id) === one;
  }

  function forget({ run_id, token }: Pick<HeldClaim, "run_id" | "token">): void {
    const one = kept.get(run_id);
    if (one?.claim.token !== token) return;
    one.stop();
    kept.delete(run_id);
  }

  async function leave(run_id: string, how: ReleaseReason, record?: RecordTaskFact): Promise<void> {
    const one = kept.get(run_id);
    if (one === undefined) return;
    forget(one.claim);
    await tasks.release(one.claim, how, record ?? one.record);
  }
}
