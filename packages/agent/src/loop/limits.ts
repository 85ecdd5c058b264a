// The bounds of a run, with their defaults.

import { omitUndefined } from "@soong/schema";
import { type Model, describeCost, type Cost } from "../model/index.ts";
import type { ProviderProfile } from "../provider/profile.ts";
import type { UsageTotal } from "./usage.ts";

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
  const { budget } = limits;
  for (const name of NUMBERS) checkLeast(name, limits[name], name === "retries" ? 0 : 1);
  checkLeast("budget.tokens", budget?.tokens, 1);
  checkLeast("budget.cost.micros", budget?.cost?.micros, 1);
  return limits;
}

const NUMBERS = Object.keys(DEFAULTS).filter((name) => name !== "budget") as Exclude<
  keyof LoopLimits,
  "budget"
>[];

function checkLeast(name: string, value: number | undefined, least: number): void {
  if (value === undefined || value >= least) return;
  throw new RangeError(`limits.${name} is ${value}; it must be ${least} or more`);
}

/** What a request may hold: as it is limited, or what all of the models take beside an answer. */
export function findContextTokens(
  { context_tokens, max_output_tokens }: LoopLimits,
  models: readonly Model[],
): number | undefined {
  if (context_tokens !== undefined) return context_tokens;
  const rooms = models.flatMap(({ profile }) => {
    const { context_window, max_output_tokens: own = 0 } = profile as Partial<ProviderProfile>;
    if (context_window === undefined) return [];
    // However long an answer may be: a conversation needs half of it.
    return Math.max(Math.ceil(context_window / 2), context_window - (max_output_tokens ?? own));
  });
  return rooms.length === 0 ? undefined : Math.min(...rooms);
}

// What one run may use (MODEL-4), looked at before each request: one under way is not cut, so that a run may go over
// by one answer. What a provider did not report counts as zero, and as `untold`.

export interface RunBudget {
  /** In and out, over all requests of a run. */
  readonly tokens?: number;
  /** Only models with prices in this currency can keep to it. */
  readonly cost?: Cost;
}

/** A sentence, once it is used up. */
export function checkBudget(budget: RunBudget = {}, usage: UsageTotal): string | undefined {
  const { tokens, cost } = budget;
  const used = sumTokens(usage);
  if (tokens !== undefined && used >= tokens) {
    return `The run's budget is used up: ${used} of ${tokens} tokens. Raise the budget, or send another prompt to continue.`;
  }
  const paid = findCost(usage, cost?.currency);
  if (cost === undefined || paid < cost.micros) return undefined;
  const spent = describeCost({ currency: cost.currency, micros: paid });
  return `The run's budget is used up: ${spent} of ${describeCost(cost)}. Raise the budget, or send another prompt to continue.`;
}

/** Why a model cannot keep to it, as a clause. */
export function findBudgetExclusion(
  { prices }: Model,
  { cost }: RunBudget = {},
): string | undefined {
  if (cost === undefined || prices?.currency === cost.currency) return undefined;
  return `its prices in ${cost.currency} are not known, and the run has a budget`;
}

export function describeBudget(budget: RunBudget = {}, usage: UsageTotal) {
  const { tokens, cost } = budget;
  return {
    max_tokens: tokens ?? null,
    tokens_left: tokens === undefined ? null : Math.max(0, tokens - sumTokens(usage)),
    max_cost: cost ?? null,
    cost_left:
      cost === undefined
        ? null
        : { ...cost, micros: Math.max(0, cost.micros - findCost(usage, cost.currency)) },
  };
}

function sumTokens({ input_tokens = 0, output_tokens = 0 }: UsageTotal): number {
  return input_tokens + output_tokens;
}

function findCost({ cost }: UsageTotal, currency: string | undefined): number {
  return cost?.find((one) => one.currency === currency)?.micros ?? 0;
}
