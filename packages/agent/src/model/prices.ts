// What a model costs (EVENT-7): prices come from the configuration, none are built in. Amounts are whole
// millionths of a currency, so that sums are exact; what cannot be worked out is not known, and never a guess.

/** For a million tokens each, in units of the currency: `3` or `0.075`. */
export interface ModelPrices {
  /** Such as `USD`. */
  readonly currency: string;
  readonly input: number;
  readonly output: number;
  /** Without it, the cost of requests that used the cache is not known. */
  readonly cache_read?: number;
  readonly cache_write?: number;
}

export interface Cost {
  readonly currency: string;
  /** Millionths of one unit of the currency. */
  readonly micros: number;
}

/**
 * Null: not known. Tokens in are all of them, those of the cache among them; what a provider does not report of
 * its cache it has not used.
 */
export function computeCost(
  prices: ModelPrices | undefined,
  usage: ModelUsage | undefined,
): Cost | null {
  const {
    input_tokens,
    output_tokens,
    cache_read_tokens = 0,
    cache_write_tokens = 0,
  } = usage ?? {};
  if (prices === undefined || input_tokens === undefined || output_tokens === undefined)
    return null;
  const shares: readonly (readonly [number, number | undefined])[] = [
    [input_tokens - cache_read_tokens - cache_write_tokens, prices.input],
    [output_tokens, prices.output],
    [cache_read_tokens, prices.cache_read],
    [cache_write_tokens, prices.cache_write],
  ];
  let total = 0n;
  for (const [tokens, price] of shares) {
    if (!Number.isSafeInteger(tokens) || tokens < 0) return null;
    if (tokens === 0) continue;
    const micros = Math.round((price ?? Number.NaN) * MILLION);
    if (!Number.isSafeInteger(micros) || micros < 0) return null;
    total += BigInt(tokens) * BigInt(micros);
  }
  // Rounded once, half of a millionth up.
  const micros = Number((total + PER_MILLION / 2n) / PER_MILLION);
  return Number.isSafeInteger(micros) ? { currency: prices.currency, micros } : null;
}

const MILLION = 1_000_000;
const PER_MILLION = BigInt(MILLION);

/** `0.0123 USD`: at least two decimals, and no more than it takes. */
export function describeCost({ currency, micros }: Cost): string {
  const whole = Math.floor(micros / MILLION);
  const decimals = String(micros % MILLION)
    .padStart(6, "0")
    .replace(/0{1,4}$/, "");
  return `${whole}.${decimals} ${currency}`;
}

/** Token counts of one answer; a count the provider did not report is absent (EVENT-7). */
export interface ModelUsage {
  input_tokens?: number;
  output_tokens?: number;
  cache_read_tokens?: number;
  cache_write_tokens?: number;
  reasoning_tokens?: number;
}
