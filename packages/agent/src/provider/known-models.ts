// What is known of common models (EVENT-7): their prices and how much a conversation may hold. Data as the providers
// published it on the day below; a profile of the config goes before it, and a model that is not here has no price.

import type { ModelPrices } from "../model/index.ts";

/** When the prices were looked up. */
export const PRICES_AS_OF = "2026-07-01";

export interface KnownModel {
  /** Tokens of a request, and of the answer where the two share it. */
  readonly context_window: number;
  readonly prices: ModelPrices;
}

/** Under its own name, or that of one of its dated versions. `name`: `provider:model`. */
export function findKnownModel(name: string): KnownModel | undefined {
  return KNOWN.get(name) ?? KNOWN.get(name.replace(DATE, ""));
}

const DATE = /-(\d{8}|\d{4}-\d\d-\d\d)$/;

const usd = (
  input: number,
  output: number,
  more: Omit<ModelPrices, "currency" | "input" | "output"> = {},
): ModelPrices => ({ currency: "USD", input, output, ...more });

/** Writing into the cache costs a quarter more than reading anew, reading from it a tenth. */
const claude = (input: number, output: number): ModelPrices =>
  usd(input, output, { cache_read: input / 10, cache_write: input * 1.25 });

/** Up to 200 000 tokens in, and the prices above. */
const gemini = (input: number, output: number): ModelPrices =>
  usd(input, output, {
    cache_read: input / 10,
    above: { input_tokens: 200_000, input: 2 * input, output: 1.5 * output, cache_read: input / 5 },
  });

/** What is read from the cache costs a tenth. */
const cached = (input: number, output: number): ModelPrices =>
  usd(input, output, { cache_read: input / 10 });

const K = 1000;
const MILLION = 1_048_576;

const KNOWN: ReadonlyMap<string, KnownModel> = new Map(
  (
    [
      ["anthropic:claude-fable-5", K * K, claude(10, 50)],
      ["anthropic:claude-sonnet-5", K * K, claude(2, 10)],
      ["anthropic:claude-opus-4-8", K * K, claude(5, 25)],
      ["anthropic:claude-opus-4-7", K * K, claude(5, 25)],
      ["anthropic:claude-opus-4-6", K * K, claude(5, 25)],
      ["anthropic:claude-opus-4-5", 200 * K, claude(5, 25)],
      ["anthropic:claude-opus-4-1", 200 * K, claude(15, 75)],
      ["anthropic:claude-sonnet-4-6", K * K, claude(3, 15)],
      ["anthropic:claude-sonnet-4-5", 200 * K, claude(3, 15)],
      ["anthropic:claude-haiku-4-5", 200 * K, claude(1, 5)],
      // Longer requests than these cost twice as much with some of them.
      ["openai:gpt-5.5", 272 * K, cached(5, 30)],
      ["openai:gpt-5.4", 272 * K, cached(2.5, 15)],
      ["openai:gpt-5.4-mini", 272 * K, cached(0.75, 4.5)],
      ["openai:gpt-5.4-nano", 272 * K, cached(0.2, 1.25)],
      ["openai:gpt-5.3-codex", 272 * K, cached(1.75, 14)],
      ["openai:gpt-5.2", 272 * K, cached(1.75, 14)],
      ["openai:gpt-5.2-codex", 272 * K, cached(1.75, 14)],
      ["openai:gpt-5.1", 272 * K, cached(1.25, 10)],
      ["openai:gpt-5.1-codex", 272 * K, cached(1.25, 10)],
      ["openai:gpt-5.1-codex-mini", 272 * K, cached(0.25, 2)],
      ["openai:gpt-5", 272 * K, cached(1.25, 10)],
      ["openai:gpt-5-mini", 272 * K, cached(0.25, 2)],
      ["openai:gpt-5-nano", 272 * K, cached(0.05, 0.4)],
      ["openai:gpt-4.1", MILLION, usd(2, 8, { cache_read: 0.5 })],
      ["openai:gpt-4.1-mini", MILLION, usd(0.4, 1.6, { cache_read: 0.1 })],
      ["openai:gpt-4o", 128 * K, usd(2.5, 10, { cache_read: 1.25 })],
      ["openai:gpt-4o-mini", 128 * K, usd(0.15, 0.6, { cache_read: 0.075 })],
      ["openai:o3", 200 * K, usd(2, 8, { cache_read: 0.5 })],
      ["openai:o4-mini", 200 * K, usd(1.1, 4.4, { cache_read: 0.275 })],
      ["google:gemini-3.5-flash", MILLION, cached(1.5, 9)],
      ["google:gemini-3.1-pro-preview", MILLION, gemini(2, 12)],
      ["google:gemini-3.1-flash-lite", MILLION, cached(0.25, 1.5)],
      ["google:gemini-3-flash-preview", MILLION, cached(0.5, 3)],
      ["google:gemini-2.5-pro", MILLION, gemini(1.25, 10)],
      ["google:gemini-2.5-flash", MILLION, cached(0.3, 2.5)],
      ["google:gemini-2.5-flash-lite", MILLION, cached(0.1, 0.4)],
    ] as const
  ).map(([name, context_window, prices]) => [name, { context_window, prices }]),
);
