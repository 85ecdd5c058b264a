// The steps that this worker was offered and leaves to others. The dispatching runs read them.

import type { DeclinedStep } from "@soong/store";
import type { JobWork } from "../dispatch/index.ts";

export interface DeclinedSteps {
  add(work: JobWork, why: string): Declined;
  /** Call it when the worker takes the step after all. */
  remove(work: JobWork): void;
  /** The steps that were declined in the last minute. */
  list(): DeclinedStep[];
}

export interface Declined {
  readonly isNewStep: boolean;
  readonly isNewReason: boolean;
  /** A later job of the same dispatch was here before, so this one is not needed. */
  readonly isOutdated: boolean;
}

/** A job for a step that is still wanted is delivered again every second. */
const KEPT_MS = 60_000;
const MOST = 200;
/** A reason may quote text of a job, of any length. */
const MOST_CHARS = 500;

export function createDeclinedSteps(): DeclinedSteps {
  const steps = new Map<string, { readonly step: DeclinedStep; seenAt: number; newest: number }>();
  return {
    add(work, reason) {
      const { task_id, step_id, from, number = 0 } = work;
      const { run_id, tool_call_id } = from;
      const why = reason.length > MOST_CHARS ? `${reason.slice(0, MOST_CHARS)}…` : reason;
      const key = keyOf(work);
      const known = steps.get(key);
      const isNewStep = known?.step.why !== why;
      const isNewReason =
        isNewStep && !Array.from(steps.values()).some(({ step }) => step.why === why);
      const newest = Math.max(known?.newest ?? 0, number);
      const about = { task_id, step_id, run_id, tool_call_id, why };
      const step = isNewStep ? { ...about, since: new Date().toISOString() } : known.step;
      // Moved behind all others: the step that was not seen for the longest time is removed first.
      steps.delete(key);
      steps.set(key, { step, seenAt: performance.now(), newest });
      forgetOld();
      return { isNewStep, isNewReason, isOutdated: number < newest };
    },
    remove: (work) => void steps.delete(keyOf(work)),
    list() {
      forgetOld();
      return Array.from(steps.values(), ({ step }) => step);
    },
  };

  function keyOf({ task_id, step_id, from: { run_id, tool_call_id } }: JobWork): string {
    return JSON.stringify([task_id, step_id, run_id, tool_call_id]);
  }

  function forgetOld(): void {
    for (const [key, { seenAt }] of steps) {
      if (performance.now() - seenAt <= KEPT_MS && steps.size <= MOST) return;
      steps.delete(key);
    }
  }
}
