// What one run may use (MODEL-4), looked at before each request: one under way is not cut, so that a run may go over
// by one answer. What a provider did not report counts as zero, and as `untold`.

import { describeCost, type Cost, type Model } from "../model/index.ts";
import type { UsageTotal } from "./usage.ts";

export interface RunBudget {
  /** In and out, over all requests of a run. */
  readonly tokens?: number;
  /** Only models with prices in this currency can keep to it. */
  readonly cost?: Cost;
}

/** A sentence, once it is used up. */
export function checkBudget(budget: RunBudget, usage: UsageTotal): string | undefined {
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
export function findBudgetExclusion({ prices }: Model, { cost }: RunBudget): string | undefined {
  if (cost === undefined || prices?.currency === cost.currency) return undefined;
  return `its prices in ${cost.currency} are not known, and the run has a budget`;
}

export function describeBudget(budget: RunBudget, usage: UsageTotal) {
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
