// The steps that were given to this worker and that it leaves to others, for whoever waits for them.

import type { RemoteWork } from "@soong/agent";
import type { DeclinedStep } from "@soong/store";

export interface DeclinedSteps {
  /** Whether that is the first time for this reason. */
  add(work: Pick<RemoteWork, "task_id" | "step_id">, why: string): boolean;
  /** Of the last minute. */
  list(): DeclinedStep[];
}

/** A step that is still wanted comes again every second. */
const KEPT_MS = 60_000;
const MOST = 20;

export function createDeclinedSteps(): DeclinedSteps {
  const steps = new Map<string, { readonly step: DeclinedStep; seenAt: number }>();
  const reasons = new Set<string>();
  return {
    add({ task_id, step_id }, why) {
      const key = JSON.stringify([task_id, step_id, why]);
      const known = steps.get(key);
      if (known === undefined) {
        const step = { task_id, step_id, since: new Date().toISOString(), why };
        steps.set(key, { step, seenAt: performance.now() });
      } else known.seenAt = performance.now();
      const isNew = !reasons.has(why);
      reasons.add(why);
      return isNew;
    },
    list() {
      for (const [key, { seenAt }] of steps) {
        if (performance.now() - seenAt > KEPT_MS || steps.size > MOST) steps.delete(key);
      }
      return Array.from(steps.values(), ({ step }) => step);
    },
  };
}
