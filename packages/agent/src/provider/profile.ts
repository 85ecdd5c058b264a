// What each provider takes (MODEL-2), as data: names, limits, schema keywords, strict rules, parallel calls,
// deferral, images. An adapter reads it before anything is sent; nothing else knows one provider from another.

import { PORTABLE_NAMES, type JsonObject, type ModelProfile } from "@soong/core";

export interface ProviderProfile extends ModelProfile {
  /** Whether one answer may hold several calls. */
  readonly parallel_calls: boolean;
  readonly strict: StrictRules;
  /**
   * `native`: the provider itself can hold back tools until they are searched for. `search`: only our own
   * search tools can.
   */
  readonly deferral: "native" | "search";
  /** Where the provider takes pictures; anywhere else they become a line of text or are refused. */
  readonly images: { readonly user: boolean; readonly tool_results: boolean };
  /** `joined` where a second system message is refused by some of the models behind it. */
  readonly system: "separate" | "joined";
  /** Asked for when the request names none. */
  readonly max_output_tokens?: number;
  readonly context_window?: number;
  /** Sent with every request, under the provider's own key. */
  readonly request_options?: ProviderOptions;
  /** Put on the last system block and the last message, where a provider caches what comes before. */
  readonly cache_mark?: ProviderOptions;
}

/** `unsent`: nothing is said. `explicit`: said of each tool, and true only of a schema within the rules. */
export type StrictRules =
  | { readonly mode: "unsent" }
  | {
      readonly mode: "explicit";
      /** Every object must list all its properties as required and allow no others. */
      readonly closed_objects: boolean;
      readonly refused_keywords: readonly string[];
    };

export type ProviderOptions = { readonly [provider: string]: JsonObject };

export const ANTHROPIC_PROFILE: ProviderProfile = {
  id: "anthropic",
  names: { first_chars: "A-Za-z0-9_-", chars: "A-Za-z0-9_-", max_length: 128 },
  extended_schemas: true,
  refused_at_root: ["anyOf", "oneOf", "allOf"],
  parallel_calls: true,
  strict: { mode: "unsent" },
  deferral: "native",
  images: { user: true, tool_results: true },
  system: "separate",
  max_output_tokens: 32_000,
  context_window: 200_000,
  cache_mark: { anthropic: { cacheControl: { type: "ephemeral" } } },
};

export const OPENAI_PROFILE: ProviderProfile = {
  id: "openai",
  names: { first_chars: "A-Za-z0-9_-", chars: "A-Za-z0-9_-", max_length: 64 },
  max_tools: 128,
  extended_schemas: true,
  refused_at_root: ["anyOf", "oneOf", "allOf", "enum", "not"],
  parallel_calls: true,
  strict: {
    mode: "explicit",
    closed_objects: true,
    refused_keywords: [
      "oneOf",
      "not",
      "if",
      "dependentSchemas",
      "allOf",
      "patternProperties",
      "propertyNames",
      "minProperties",
      "maxProperties",
      "unevaluatedProperties",
      "dependentRequired",
      "contains",
      "prefixItems",
      "uniqueItems",
      "default",
    ],
  },
  deferral: "search",
  images: { user: true, tool_results: true },
  system: "separate",
  context_window: 400_000,
  // Nothing is left with the provider: what it wants to see again travels with the message.
  request_options: { openai: { store: false } },
};

export const GOOGLE_PROFILE: ProviderProfile = {
  id: "google",
  names: { first_chars: "A-Za-z_", chars: "A-Za-z0-9_-", max_length: 64 },
  max_tools: 128,
  extended_schemas: false,
  parallel_calls: true,
  strict: { mode: "unsent" },
  deferral: "search",
  images: { user: true, tool_results: true },
  system: "separate",
  context_window: 1_048_576,
};

/** For any server behind such an endpoint: only what all of them take. */
export const OPENAI_COMPATIBLE_PROFILE: ProviderProfile = {
  id: "openai-compatible",
  names: PORTABLE_NAMES,
  max_tools: 128,
  extended_schemas: false,
  parallel_calls: true,
  strict: { mode: "unsent" },
  deferral: "search",
  images: { user: true, tool_results: false },
  system: "joined",
};
