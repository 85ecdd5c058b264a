// Which models have said that they take no more for now, and until when where they said so (MODEL-4). Known as long
// as the model is: the next run of a conversation need not find it out again.

import type { Clock } from "@soong/core";
import type { Model, ModelError } from "../model/index.ts";

export interface RateLimit {
  readonly model: string;
  readonly kind: "rate_limited" | "overloaded";
  /** As the provider asked for; null: it gave none. */
  readonly retry_after_ms: number | null;
  /** ISO time; null: not given. */
  readonly until: string | null;
}

const known = new WeakMap<Model, RateLimit & { readonly untilMs: number }>();

/** After every attempt; undefined: it answered. */
export function noteAttempt(model: Model, error: ModelError | undefined, clock: Clock): void {
  if (error === undefined) known.delete(model);
  else if (error.kind === "rate_limited" || error.kind === "overloaded") {
    const wait = error.retry_after_ms;
    const waitMs = wait !== undefined && wait >= 0 ? wait : Number.NaN;
    const at = clock.now() + waitMs;
    const until = Math.abs(at) <= MAX_TIME ? new Date(at).toISOString() : null;
    // By the monotonic clock; the time of day is for display.
    const untilMs = clock.monotonic() + waitMs;
    known.set(model, {
      model: model.id,
      kind: error.kind,
      retry_after_ms: until === null ? null : (wait ?? null),
      until,
      untilMs,
    });
  }
}

/** Undefined: it is not limited, as far as is known. */
export function findRateLimit(model: Model, clock: Clock): RateLimit | undefined {
  const limit = known.get(model);
  if (limit === undefined || limit.untilMs <= clock.monotonic()) return undefined;
  const { untilMs: _, ...told } = limit;
  return told;
}

/** How long to wait before the next request to it; 0 where no limit is known. */
export function getWaitMs(model: Model, clock: Clock): number {
  const now = clock.monotonic();
  const { untilMs = now } = known.get(model) ?? {};
  return untilMs > now ? untilMs - now : 0;
}

/** What a date can hold. */
const MAX_TIME = 8.64e15;
