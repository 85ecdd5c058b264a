// What a request may hold where no limit is set: what the smallest model of the chain can read, less its answer.
// A model of which that is not known leaves it to its provider to say.

import type { Model } from "../model/index.ts";
import type { ProviderProfile } from "../provider/index.ts";
import type { LoopLimits } from "./limits.ts";

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
