// Finds out whether any worker may still take a step. While workers are running but busy, a dispatch waits. If no worker of the
// pool can take the step, it waits only for as long as a restart of one takes.

import type { RemoteWork } from "@soong/agent";
import type { DeclinedStep, Store } from "@soong/store";

/** How often a worker reports that it runs. */
export const REPORT_MS = 10_000;
/** A worker that missed two reports is probably gone. */
export const LOST_AFTER_MS = 25_000;
/** Longer than between two looks. */
const BLIND_AFTER_MS = 2 * REPORT_MS;

export interface PoolWatch {
  /** `isFresh`: asks the store, and does not return the cached result. */
  look(how: { readonly isFresh: boolean }): Promise<PoolLook>;
}

export interface PoolLook {
  readonly isDeserted: boolean;
  /** No worker of the pool is there. */
  readonly isEmpty: boolean;
  /** Why workers of the pool do not take the step. */
  readonly declined: readonly (Pick<DeclinedStep, "why"> & { readonly worker_id: string })[];
  /** The pools that have workers. */
  readonly pools: readonly string[];
}

export function watchPool(
  store: Store,
  { pool, task_id, step_id, from }: RemoteWork,
  absentMs: number,
): PoolWatch {
  let presentAt = performance.now();
  let lookAt = presentAt;
  let answeredAt = presentAt;
  let last: PoolLook = { isDeserted: false, isEmpty: false, declined: [], pools: [] };
  return {
    async look({ isFresh }) {
      const now = performance.now();
      if (now < lookAt && !isFresh) return last;
      lookAt = now + absentMs / 4;
      const seen = (await store.cluster?.workers({ seenWithinMs: LOST_AFTER_MS })) ?? [];
      const present = seen.filter(({ draining }) => !draining);
      const own = present.filter((one) => one.pool === pool);
      const declined = own.flatMap(({ worker_id, declined: all = [] }) => {
        const one = all.find(
          (step) =>
            step.task_id === task_id &&
            step.step_id === step_id &&
            step.run_id === from.run_id &&
            step.tool_call_id === from.tool_call_id,
        );
        return one === undefined ? [] : [{ worker_id, why: one.why }];
      });
      const answered = performance.now();
      // Without an answer for so long, workers may have been unable to report, too.
      const wasBlind = answered - answeredAt > BLIND_AFTER_MS;
      answeredAt = answered;
      if (own.length > declined.length || wasBlind) presentAt = answered;
      last = {
        isDeserted: answered - presentAt > absentMs,
        isEmpty: own.length === 0 && !wasBlind,
        declined,
        pools: [...new Set(present.map((one) => one.pool))].toSorted(),
      };
      return last;
    },
  };
}
