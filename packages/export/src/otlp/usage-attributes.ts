// Token counts of one request or of a run (EVENT-7), in the names of the conventions. Input includes what was cached, output
// what was reasoned, as the conventions want it.

import type { Attributes } from "./attributes.ts";
import { readCount } from "./fact-fields.ts";

const COUNTS = {
  input_tokens: "gen_ai.usage.input_tokens",
  output_tokens: "gen_ai.usage.output_tokens",
  cache_read_tokens: "gen_ai.usage.cache_read.input_tokens",
  cache_write_tokens: "gen_ai.usage.cache_creation.input_tokens",
  reasoning_tokens: "gen_ai.usage.reasoning.output_tokens",
} as const;

/** A count that the provider did not report is absent. */
export function addUsage(attributes: Attributes, usage: Readonly<Record<string, unknown>>): void {
  for (const [field, key] of Object.entries(COUNTS)) attributes.int(key, readCount(usage, field));
}
