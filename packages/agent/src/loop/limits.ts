// The bounds of a run, with their defaults.

import { omitUndefined } from "@soong/schema";
import type { RunBudget } from "./budget.ts";
import type { Model } from "../model/index.ts";
import type { ProviderProfile } from "../provider/index.ts";

export interface LoopLimits {
  /** Model requests of one run. */
  readonly max_turns: number;
  readonly max_output_tokens: number | undefined;
  /** What a request may hold by estimate; above it the conversation is compacted. Undefined: the provider says. */
  readonly context_tokens: number | undefined;
  /** All instruction files in a request together, in bytes; later ones are omitted. */
  readonly instruction_bytes: number;
  /** Further attempts at one model after a failure that may pass. */
  readonly retries: number;
  /** A stream that says nothing for so long has failed; empty pieces say nothing. */
  readonly idle_timeout_ms: number;
  /** One answer, from the request to its last piece. */
  readonly max_answer_ms: number;
  /** One answer: text, reasoning and arguments; a piece counts for at least 64 bytes, a call for 1024. */
  readonly max_answer_bytes: number;
  /** A provider that asks for a longer wait than this is given up. */
  readonly max_retry_after_ms: number;
  /** How long `abort` waits for the run's end. */
  readonly abort_wait_ms: number;
  readonly budget: RunBudget | undefined;
}

const DEFAULTS: LoopLimits = {
  max_turns: 128,
  max_output_tokens: undefined,
  context_tokens: undefined,
  instruction_bytes: 128 * 1024,
  retries: 3,
  idle_timeout_ms: 300_000,
  max_answer_ms: 3_600_000,
  max_answer_bytes: 16 * 1024 * 1024,
  max_retry_after_ms: 120_000,
  abort_wait_ms: 10_000,
  budget: undefined,
};

/** Throws on a value that makes no sense: no run starts on it. */
export function loopLimits(given: Partial<LoopLimits> = {}): LoopLimits {
  const limits: LoopLimits = { ...DEFAULTS, ...omitUndefined(given) };
  const { budget, ...numbers } = limits;
  const ofBudget = { "budget.tokens": budget?.tokens, "budget.cost.micros": budget?.cost?.micros };
  for (const [name, value] of Object.entries({ ...numbers, ...ofBudget })) {
    if (value === undefined) continue;
    const least = name === "retries" ? 0 : 1;
    if (!(value >= least)) {
      throw new RangeError(`limits.${name} is ${value}; it must be ${least} or more`);
    }
  }
  return limits;
}

export function fillContextTokens(limits: LoopLimits, models: readonly Model[]): LoopLimits {
  if (limits.context_tokens !== undefined) return limits;
  const rooms = models.flatMap((model) => computeContextTokens(model, limits) ?? []);
  return rooms.length === 0 ? limits : { ...limits, context_tokens: Math.min(...rooms) };
}

function computeContextTokens({ profile }: Model, limits: LoopLimits): number | undefined {
  const { context_window, max_output_tokens } = profile as Partial<ProviderProfile>;
  if (context_window === undefined) return undefined;
  const answer = limits.max_output_tokens ?? max_output_tokens ?? 0;
  // However long an answer may be: a conversation needs half of it.
  return Math.max(Math.ceil(context_window / 2), context_window - answer);
}
