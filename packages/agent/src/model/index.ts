// The model module: the model interface, how a model fails, and what it costs.
// The interface of every model (MODEL-1): one request in, a stream of events out. Loop and tools know
// nothing else of a model.

import type { AnyHook, ContentBlock, JsonObject, ModelProfile, ModelTool } from "@soong/core";

export interface Model {
  /** `provider:model`, or `script:FILE`. */
  readonly id: string;
  readonly profile: ModelProfile;
  /** Without it, the cost of its answers is not known (EVENT-7). */
  readonly prices?: ModelPrices;
  /** What it adds to each request, such as options of its provider; on record with the request (MODEL-7). */
  readonly settings?: JsonObject;
  /** Hooks for the session: a script may say what guards answer to its calls. */
  readonly hooks?: readonly AnyHook[];
  /**
   * One answer, event by event; ends after `completed` or `failed`. Never throws: what goes wrong is an
   * event. When the signal fires the stream ends, with `failed` of kind `aborted`.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

export interface ModelRequest {
  /** Which request of its run this is, from 1. */
  readonly index: number;
  /** The run that asks; its requests are counted by `index`. */
  readonly run_id?: string;
  /** Whose run asks: a scripted model has turns for each. */
  readonly agent_definition_id?: string;
  readonly system: readonly string[];
  readonly messages: readonly ModelMessage[];
  /** Under the names of the wire. */
  readonly tools: readonly ModelTool[];
  readonly max_output_tokens?: number;
}

export type ModelMessage = UserMessage | AssistantMessage | ToolMessage;

export interface UserMessage {
  readonly role: "user";
  readonly content: readonly ContentBlock[];
}

export interface AssistantMessage {
  readonly role: "assistant";
  readonly text: string;
  readonly calls: readonly ModelCall[];
  /** What the provider wants to see again with this message, such as signatures of its reasoning. */
  readonly provider_data?: JsonObject;
}

/** All results of the calls of the assistant message before it, in call order. */
export interface ToolMessage {
  readonly role: "tool";
  readonly results: readonly ModelResult[];
}

export interface ModelCall {
  readonly tool_call_id: string;
  /** As the model sent it. */
  readonly name: string;
  readonly arguments: string;
}

export interface ModelResult {
  readonly tool_call_id: string;
  readonly name: string;
  readonly content: readonly ContentBlock[];
  readonly is_error: boolean;
}

export type ModelEvent =
  | { readonly type: "text_delta"; readonly text: string }
  /** What it thinks aloud: a sign of life that counts for the length of the answer, and is no part of it. */
  | { readonly type: "reasoning_delta"; readonly text: string }
  /** A piece of a call's arguments. `key` distinguishes the calls of one answer; the name may come first or late. */
  | {
      readonly type: "call_delta";
      readonly key: string;
      readonly name?: string;
      readonly arguments: string;
    }
  /** Its arguments are complete, whether or not they are valid: it may start now. */
  | {
      readonly type: "call_complete";
      readonly key: string;
      /** The provider's own; absent where it gives none (MODEL-3). */
      readonly id?: string;
      readonly name: string;
      readonly arguments: string;
    }
  | {
      readonly type: "completed";
      readonly stop: StopReason;
      readonly usage: ModelUsage;
      readonly provider_data?: JsonObject;
    }
  | { readonly type: "failed"; readonly error: ModelError; readonly usage?: ModelUsage };

export type StopReason = "end_turn" | "tool_use" | "max_tokens" | "refused" | "other";

// How a model fails, in the few kinds the loop treats differently (LOOP-3).

export type ModelErrorKind =
  | "overloaded"
  | "rate_limited"
  /** The connection broke in the middle of an answer. */
  | "disconnect"
  | "network"
  | "timeout"
  /** Any other 5xx. */
  | "server_error"
  /** The answer is not of the provider's own format. */
  | "malformed_stream"
  | "prompt_too_long"
  /** It continued for longer, or for more bytes, than one answer may. */
  | "answer_too_slow"
  | "answer_too_large"
  /** The request asks for what this model cannot do (MODEL-2). */
  | "unsupported_capability"
  | "authentication"
  /** Paid for, and used up: it does not pass with time. */
  | "quota"
  | "unknown_model"
  | "invalid_request"
  /** A script that ran out of turns, or an expectation it missed. */
  | "script"
  /** The budget of the run is used up, or cannot be kept with this model. */
  | "budget"
  | "aborted";

export interface ModelError {
  readonly kind: ModelErrorKind;
  /** For the user: what happened and what to do about it. No key, no header. */
  readonly message: string;
  readonly status?: number;
  /** The provider's own wish. */
  readonly retry_after_ms?: number;
}

const RETRYABLE: ReadonlySet<ModelErrorKind> = new Set([
  "overloaded",
  "rate_limited",
  "disconnect",
  "network",
  "timeout",
  "server_error",
  "malformed_stream",
]);

export function isRetryable({ kind }: ModelError): boolean {
  return RETRYABLE.has(kind);
}

// What a model costs (EVENT-7): prices come from the configuration, or are known of common models. Amounts are whole
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
  /** For requests with more tokens in than these. */
  readonly above?: Omit<ModelPrices, "currency" | "above"> & { readonly input_tokens: number };
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
  const { above } = prices;
  const rates = above !== undefined && input_tokens > above.input_tokens ? above : prices;
  const shares: readonly (readonly [number, number | undefined])[] = [
    [input_tokens - cache_read_tokens - cache_write_tokens, rates.input],
    [output_tokens, rates.output],
    [cache_read_tokens, rates.cache_read],
    [cache_write_tokens, rates.cache_write],
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
