// Models by name, `provider:model`: which package, which key, which address. The packages are the user's own
// choice: each is loaded only when a model of it is opened.

import type { KnownSecret } from "@soong/core";
import type { LanguageModelV3 } from "@ai-sdk/provider";
import type { ModelPrices } from "../model/index.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { readAddress, type AddressVariable } from "./base-address.ts";
import { findFirstListedModel } from "./first-listed-model.ts";
import { languageModel, type ProviderModel } from "./language-model.ts";
import { loadPackage } from "./load-package.ts";
import {
  ANTHROPIC_PROFILE,
  GOOGLE_PROFILE,
  OPENAI_COMPATIBLE_PROFILE,
  OPENAI_PROFILE,
  type ProviderProfile,
} from "./profile.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface OpenModelOptions {
  readonly env: Environment;
  readonly baseURL?: string;
  /** The variable that holds the key, instead of the provider's usual one. */
  readonly apiKeyEnv?: string;
  /** What is known of this model, over what is known of its provider. */
  readonly limits?: Pick<ProviderProfile, "context_window" | "max_output_tokens">;
  readonly prices?: ModelPrices;
  readonly fetch?: typeof fetch;
}

/** Throws an error that says what to set or install. */
export async function openModel(name: string, options: OpenModelOptions): Promise<ProviderModel> {
  const { provider, model: given } = splitName(name);
  const { env } = options;
  const baseURL = options.baseURL ?? findAddress(provider, env)?.url ?? provider.base_url;
  if (baseURL === undefined) {
    const variables = provider.address_variables.map((variable) => variable.name);
    throw new Error(
      `No address for the model ${name}: set ${variables.join(" or ")}, or give it a base URL.`,
    );
  }
  const key = findKey(name, provider, options);
  const server = {
    baseURL,
    ...(key === undefined ? {} : { apiKey: key.value }),
    fetch: boundedFetch(options.fetch),
  };
  const isAnyone = provider === COMPATIBLE && given === FIRST_LISTED;
  const model = isAnyone ? await findFirstListedModel(server) : given;
  const loaded = await provider.load({ model, ...server });
  const opened = languageModel(loaded, {
    id: isAnyone ? `openai-compatible:${model}` : name,
    profile: { ...provider.profile, ...options.limits },
    secrets: key === undefined ? [] : [key],
  });
  return options.prices === undefined ? opened : { ...opened, prices: options.prices };
}

/** In place of a model's name at an OpenAI-compatible server: the first it lists. */
const FIRST_LISTED = "*";

/**
 * What to use when nothing is configured: `provider:model`, or undefined when no key and no address is set. A
 * server without a key is asked for its models once it is opened: `openai-compatible:*`.
 */
export function modelFromEnvironment(env: Environment): string | undefined {
  const wanted = readVariable(env, "SOONG_MODEL");
  const local = findAddress(COMPATIBLE, env);
  if (wanted !== undefined) {
    if (PROVIDERS.has(wanted.split(":", 1)[0] ?? "")) return wanted;
    if (local !== undefined) return `openai-compatible:${wanted}`;
  }
  const anyone = `openai-compatible:${FIRST_LISTED}`;
  if (local?.variable === OWN_ADDRESS) return anyone;
  for (const [name, { default_model, key_variables }] of PROVIDERS) {
    if (default_model === undefined) continue;
    if (key_variables.some((variable) => readVariable(env, variable) !== undefined)) {
      return `${name}:${default_model}`;
    }
  }
  return local === undefined ? undefined : anyone;
}

interface Provider {
  readonly profile: ProviderProfile;
  readonly default_model?: string;
  readonly base_url?: string;
  /** The first one set counts. */
  readonly address_variables: readonly AddressVariable[];
  readonly key_variables: readonly string[];
  readonly needs_key: boolean;
  readonly load: (settings: LoadSettings) => Promise<LanguageModelV3>;
}

interface LoadSettings {
  readonly model: string;
  readonly baseURL: string;
  readonly apiKey?: string;
  readonly fetch: typeof fetch;
}

const OWN_ADDRESS = "SOONG_OPENAI_BASE_URL";

const COMPATIBLE: Provider = {
  profile: OPENAI_COMPATIBLE_PROFILE,
  address_variables: [
    { name: OWN_ADDRESS },
    { name: "OPENAI_BASE_URL" },
    { name: "OLLAMA_HOST", path: "/v1", form: "ollama" },
  ],
  key_variables: ["SOONG_OPENAI_API_KEY"],
  needs_key: false,
  load: ({ model, ...settings }) =>
    loadPackage("@ai-sdk/openai-compatible", async () => {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const name = "openai-compatible";
      return createOpenAICompatible({ ...settings, name, includeUsage: true })(model);
    }),
};

const PROVIDERS: ReadonlyMap<string, Provider> = new Map<string, Provider>([
  [
    "anthropic",
    {
      profile: ANTHROPIC_PROFILE,
      default_model: "claude-sonnet-5",
      base_url: "https://api.anthropic.com/v1",
      address_variables: [{ name: "ANTHROPIC_BASE_URL", path: "/v1" }],
      key_variables: ["ANTHROPIC_API_KEY"],
      needs_key: true,
      load: ({ model, ...settings }) =>
        loadPackage("@ai-sdk/anthropic", async () => {
          const { createAnthropic } = await import("@ai-sdk/anthropic");
          return createAnthropic(settings)(model);
        }),
    },
  ],
  [
    "openai",
    {
      profile: OPENAI_PROFILE,
      default_model: "gpt-5.5",
      base_url: "https://api.openai.com/v1",
      address_variables: [{ name: "OPENAI_BASE_URL" }],
      key_variables: ["OPENAI_API_KEY"],
      needs_key: true,
      load: ({ model, ...settings }) =>
        loadPackage("@ai-sdk/openai", async () => {
          const { createOpenAI } = await import("@ai-sdk/openai");
          return createOpenAI(settings).responses(model);
        }),
    },
  ],
  [
    "google",
    {
      profile: GOOGLE_PROFILE,
      default_model: "gemini-flash-latest",
      base_url: "https://generativelanguage.googleapis.com/v1beta",
      address_variables: [{ name: "GOOGLE_GEMINI_BASE_URL", path: "/v1beta" }],
      key_variables: ["GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
      needs_key: true,
      load: ({ model, ...settings }) =>
        loadPackage("@ai-sdk/google", async () => {
          const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
          return createGoogleGenerativeAI(settings)(model);
        }),
    },
  ],
  ["openai-compatible", COMPATIBLE],
]);

function splitName(name: string): { provider: Provider; model: string } {
  const colon = name.indexOf(":");
  const provider = PROVIDERS.get(colon === -1 ? name : name.slice(0, colon));
  const model = colon === -1 ? "" : name.slice(colon + 1);
  if (provider !== undefined && model !== "") return { provider, model };
  const known = [...PROVIDERS.keys()].map((known) => `${known}:MODEL`).join(", ");
  throw new Error(
    provider === undefined
      ? `No provider of that name: "${name}". Name the model as one of ${known}.`
      : `No model is named in "${name}". Name it as one of ${known}.`,
  );
}

function findAddress(
  { address_variables }: Provider,
  env: Environment,
): { readonly variable: string; readonly url: string } | undefined {
  for (const variable of address_variables) {
    const value = readVariable(env, variable.name);
    if (value !== undefined) return { variable: variable.name, url: readAddress(variable, value) };
  }
  return undefined;
}

function findKey(
  name: string,
  provider: Provider,
  { env, baseURL, apiKeyEnv }: OpenModelOptions,
): KnownSecret | undefined {
  const variables = apiKeyEnv === undefined ? keyVariables(provider, env, baseURL) : [apiKeyEnv];
  for (const variable of variables) {
    const value = readVariable(env, variable);
    if (value !== undefined) return { name: variable, value };
  }
  if (!provider.needs_key && apiKeyEnv === undefined) return undefined;
  throw new Error(`No key for the model ${name}: set ${variables.join(" or ")}.`);
}

/** The key of OpenAI itself goes to another endpoint only when both come from the same pair of variables. */
function keyVariables(provider: Provider, env: Environment, baseURL: string | undefined) {
  const paired =
    provider === COMPATIBLE &&
    baseURL === undefined &&
    findAddress(provider, env)?.variable === "OPENAI_BASE_URL";
  return paired ? [...provider.key_variables, "OPENAI_API_KEY"] : provider.key_variables;
}

function readVariable(env: Environment, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === undefined || value === "" ? undefined : value;
}
