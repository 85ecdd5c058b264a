// The steps that were given to this worker and that it leaves to others, for whoever waits for them.

import type { DeclinedStep } from "@soong/store";
import type { JobWork } from "../dispatch/index.ts";

export interface DeclinedSteps {
  add(work: JobWork, why: string): Declined;
  /** Of the last minute. */
  list(): DeclinedStep[];
}

export interface Declined {
  readonly isNewStep: boolean;
  readonly isNewReason: boolean;
  /** A later job of the same dispatch was here: this one is not needed. */
  readonly isOutdated: boolean;
}

/** A step that is still wanted comes again every second. */
const KEPT_MS = 60_000;
const MOST = 200;

export function createDeclinedSteps(): DeclinedSteps {
  const steps = new Map<string, { readonly step: DeclinedStep; seenAt: number; newest: number }>();
  const reasons = new Set<string>();
  return {
    add({ task_id, step_id, from, number = 0 }, why) {
      const key = JSON.stringify([task_id, step_id, from.run_id, from.tool_call_id, why]);
      const known = steps.get(key);
      const newest = Math.max(known?.newest ?? 0, number);
      const step = known?.step ?? { task_id, step_id, since: new Date().toISOString(), why };
      // Behind all others: the ones that were not seen for longest are forgotten first.
      steps.delete(key);
      steps.set(key, { step, seenAt: performance.now(), newest });
      forgetOld();
      const isNewReason = !reasons.has(why);
      reasons.add(why);
      return { isNewStep: known === undefined, isNewReason, isOutdated: number < newest };
    },
    list() {
      forgetOld();
      return Array.from(steps.values(), ({ step }) => step);
    },
  };

  function forgetOld(): void {
    for (const [key, { seenAt }] of steps) {
      if (performance.now() - seenAt <= KEPT_MS && steps.size <= MOST) return;
      steps.delete(key);
    }
  }
}
