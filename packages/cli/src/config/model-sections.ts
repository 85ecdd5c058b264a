// The sections `model` and `models`: which model answers, what is known about it, and who stands in for it.

import { nearestName } from "@soong/schema";
import type { Table } from "./definition.ts";
import {
  PROVIDERS,
  type ModelSettings,
  type PriceSettings,
  type SoongConfig,
} from "./soong-config.ts";
import {
  amount,
  choice,
  CURRENCY,
  ENVIRONMENT_NAME,
  milliseconds,
  plainText,
  text,
  texts,
  type ValueKind,
  WEB_ADDRESS,
  wholeNumber,
} from "./value-kinds.ts";

const TOKENS: ValueKind = wholeNumber(1, 100_000_000);
export const MODEL_REFERENCE = plainText(
  '`"provider:model"`, `"script:FILE"` or the name of a profile',
);

export const modelSection: Table<SoongConfig["model"]> = {
  says: "The model that answers.",
  keys: {
    default: {
      says: "The model of every run that names no other. Default: one of a provider whose key is in the environment.",
      kind: text(MODEL_REFERENCE),
      default: undefined,
      example: '"local"',
    },
    max_output_tokens: {
      says: "How long one answer may be. Default: as long as the provider allows.",
      kind: TOKENS,
      default: undefined,
      example: "8_192",
    },
    retries: {
      says: "How often a request that failed in passing is sent again before another model is tried.",
      kind: wholeNumber(0, 100),
      default: 3,
    },
    idle_timeout_ms: {
      says: "A model that says nothing for so long has failed; comments and empty pieces of a stream say nothing.",
      kind: milliseconds(),
      default: 300_000,
    },
    max_answer_ms: {
      says: "How long one answer may take in all. A longer one is cut off, and the run ends as failed with `answer_too_slow`.",
      kind: milliseconds(),
      default: 3_600_000,
    },
    max_answer_bytes: {
      says: "How many bytes of text, reasoning and arguments one answer may have; a piece of the stream counts for at least 64, a call for 1024. A longer one is cut off, and the run ends as failed with `answer_too_large`.",
      kind: wholeNumber(1024, 1024 ** 3),
      default: 16 * 1024 * 1024,
    },
    max_retry_after_ms: {
      says: "A provider that asks for a longer wait is given up.",
      kind: milliseconds(),
      default: 120_000,
    },
    budget: {
      says: "What one run may use. It is looked at before each request, and a run that has used it up ends there as failed; a request under way is not cut.",
      keys: {
        max_tokens: {
          says: "Tokens in and out, over all requests of a run. What a provider does not tell is not counted.",
          kind: wholeNumber(1, Number.MAX_SAFE_INTEGER),
          default: undefined,
          example: "2_000_000",
        },
        max_cost: {
          says: "What a run may cost. Only models with prices in this currency are asked then.",
          kind: amount(1_000_000, { above: 0 }),
          default: undefined,
          example: "2.50",
        },
        currency: {
          says: "The currency of `max_cost`.",
          kind: text(CURRENCY),
          default: "USD",
        },
      },
    },
  },
};

const PRICE: ValueKind = amount(1_000_000);

const prices: Table<PriceSettings> = {
  says: "What a million tokens cost. Without `input` and `output` the cost of its answers is not known, and shown as such.",
  keys: {
    currency: {
      says: "What the prices are in.",
      kind: text(CURRENCY),
      default: "USD",
    },
    input: {
      says: "Tokens that are sent, without those of the cache.",
      kind: PRICE,
      default: undefined,
    },
    output: {
      says: "Tokens that are answered, reasoning among them.",
      kind: PRICE,
      default: undefined,
    },
    cache_read: {
      says: "Tokens that the provider had in its cache. Default: the cost of a request that used it is not known.",
      kind: PRICE,
      default: undefined,
    },
    cache_write: {
      says: "Tokens that the provider put into its cache. Default: the same.",
      kind: PRICE,
      default: undefined,
    },
  },
};

const profile: Table<ModelSettings> = {
  says: "One model under a name of yours.",
  keys: {
    provider: {
      says: "Whose interface it is.",
      kind: choice(PROVIDERS),
      default: "openai-compatible",
      needed: true,
    },
    model: {
      says: "Its name there.",
      kind: text(plainText("name of a model")),
      default: "",
      needed: true,
    },
    base_url: {
      says: "Where it is asked, if not at the provider's own address; openai-compatible needs it.",
      kind: text(WEB_ADDRESS),
      default: undefined,
    },
    api_key_env: {
      says: "The environment variable that holds the key. Default: the one the provider usually has.",
      kind: text(ENVIRONMENT_NAME),
      default: undefined,
    },
    context_window: {
      says: "How many tokens it can read.",
      kind: TOKENS,
      default: undefined,
    },
    max_output_tokens: {
      says: "How long one of its answers may be, where `model.max_output_tokens` says nothing.",
      kind: TOKENS,
      default: undefined,
    },
    prices,
  },
};

export const modelsSection: Table<SoongConfig["models"]> = {
  says: "Models under names of yours, and which replace one that is overloaded.",
  keys: {
    fallback: {
      says: "The models to go on with, in this order.",
      kind: texts(MODEL_REFERENCE),
      default: [],
    },
    profiles: {
      says: "One table for each model.",
      nameProblem: (name) =>
        /^[A-Za-z0-9_.-]+$/.test(name)
          ? undefined
          : 'is not a name for a profile: letters, digits, "_", "-" and "."',
      each: profile,
      example: [
        "[models.profiles.local]",
        'provider = "openai-compatible"',
        'model = "qwen3:8b"',
        'base_url = "http://localhost:11434/v1"',
        'api_key_env = "LOCAL_MODEL_KEY"',
        "context_window = 32_768",
        "prices = { input = 0, output = 0 }   # a million tokens; with cache_read, cache_write, currency",
      ],
    },
  },
};

/** Whether a text names a model, as a clause; `profiles` are the names in this config. */
export function modelReferenceProblem(
  reference: string,
  profiles: readonly string[],
): string | undefined {
  if (profiles.includes(reference)) return undefined;
  const colon = reference.indexOf(":");
  const prefixes = [...PROVIDERS, "script"];
  if (colon === -1) {
    const near = nearestName(reference, profiles);
    if (near !== undefined) return `is no profile; did you mean "${near}"?`;
    return 'is no profile of [models.profiles]; write one there, or "provider:model"';
  }
  const prefix = reference.slice(0, colon);
  if (!prefixes.includes(prefix)) {
    const near = nearestName(prefix, prefixes);
    const hint =
      near === undefined ? `known are ${prefixes.join(", ")}` : `did you mean "${near}"?`;
    return `names no known provider before its colon; ${hint}`;
  }
  return colon === reference.length - 1 ? "names nothing behind its colon" : undefined;
}
