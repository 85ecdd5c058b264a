// Models by name, `provider:model`: which package, which key, which address. The packages are the user's own
// choice: each is loaded only when a model of it is opened.

import { type KnownSecret, messageOf } from "@soong/core";
import type { LanguageModelV3 } from "@ai-sdk/provider";
import type { ModelPrices } from "../model/index.ts";
import { omitUndefined } from "@soong/schema";
import { boundedFetch } from "./bounded-fetch.ts";
import { findKnownModel } from "./known-models.ts";
import { languageModel, type ProviderModel } from "./language-model.ts";
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
  const server = { baseURL, apiKey: key?.value, fetch: boundedFetch(options.fetch) };
  const isAnyone = provider === COMPATIBLE && given === FIRST_LISTED;
  const model = isAnyone ? await findFirstListedModel(server) : given;
  const loaded = await loadPackage(provider.package, () => provider.load(server, model));
  const known = findKnownModel(name);
  const { context_window = known?.context_window ?? provider.profile.context_window } =
    options.limits ?? {};
  const opened = languageModel(loaded, {
    id: isAnyone ? `openai-compatible:${model}` : name,
    profile: { ...provider.profile, ...options.limits, ...omitUndefined({ context_window }) },
    secrets: key === undefined ? [] : [key],
  });
  // What another server takes for a model of the same name is not known.
  const usual = baseURL === provider.base_url ? known?.prices : undefined;
  return { ...opened, prices: options.prices ?? usual };
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
  readonly package: string;
  readonly load: (settings: LoadSettings, model: string) => Promise<LanguageModelV3>;
}

interface LoadSettings {
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
  package: "@ai-sdk/openai-compatible",
  async load(settings, model) {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    const name = "openai-compatible";
    return createOpenAICompatible({ ...settings, name, includeUsage: true })(model);
  },
};

const PROVIDERS: ReadonlyMap<string, Provider> = new Map<string, Provider>(
  Object.entries({
    anthropic: {
      profile: ANTHROPIC_PROFILE,
      default_model: "claude-sonnet-5",
      base_url: "https://api.anthropic.com/v1",
      address_variables: [{ name: "ANTHROPIC_BASE_URL", path: "/v1" }],
      key_variables: ["ANTHROPIC_API_KEY"],
      package: "@ai-sdk/anthropic",
      load: async (settings, model) =>
        (await import("@ai-sdk/anthropic")).createAnthropic(settings)(model),
    },
    openai: {
      profile: OPENAI_PROFILE,
      default_model: "gpt-5.5",
      base_url: "https://api.openai.com/v1",
      address_variables: [{ name: "OPENAI_BASE_URL" }],
      key_variables: ["OPENAI_API_KEY"],
      package: "@ai-sdk/openai",
      load: async (settings, model) =>
        (await import("@ai-sdk/openai")).createOpenAI(settings).responses(model),
    },
    google: {
      profile: GOOGLE_PROFILE,
      default_model: "gemini-flash-latest",
      base_url: "https://generativelanguage.googleapis.com/v1beta",
      address_variables: [{ name: "GOOGLE_GEMINI_BASE_URL", path: "/v1beta" }],
      key_variables: ["GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
      package: "@ai-sdk/google",
      load: async (settings, model) =>
        (await import("@ai-sdk/google")).createGoogleGenerativeAI(settings)(model),
    },
    "openai-compatible": COMPATIBLE,
  } satisfies Record<string, Provider>),
);

function splitName(name: string): { provider: Provider; model: string } {
  const [first = "", ...rest] = name.split(":");
  const provider = PROVIDERS.get(first);
  const model = rest.join(":");
  if (provider !== undefined && model !== "") return { provider, model };
  const known = [...PROVIDERS.keys()].map((id) => `${id}:MODEL`).join(", ");
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
  if (provider === COMPATIBLE && apiKeyEnv === undefined) return undefined;
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

// The address of a provider as an environment variable gives it. Each is written by other programs, too, and read as
// those write it.

interface AddressVariable {
  readonly name: string;
  /** Added where the variable names a server and no path on it. */
  readonly path?: string;
  /** As Ollama's own: a scheme and a port may be missing, and an address to listen on is one to ask. */
  readonly form?: "ollama";
}

function readAddress(variable: AddressVariable, value: string): string {
  const text = variable.form === "ollama" ? ollamaAddress(value) : value;
  const { path } = variable;
  if (path === undefined || !URL.canParse(text)) return text;
  const url = new URL(text);
  return url.pathname === "/" ? `${url.origin}${path}` : text;
}

const OLLAMA_PORT = 11_434;

function ollamaAddress(value: string): string {
  const hasScheme = /^https?:\/\//.test(value);
  const host = value.startsWith(":") ? `127.0.0.1${value}` : value;
  const text = hasScheme ? host : `http://${host}`;
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (!hasScheme && url.port === "" && !/:80(\/|$)/.test(text)) url.port = String(OLLAMA_PORT);
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.hostname === "[::]") url.hostname = "[::1]";
  return url.href.replace(/\/$/, "");
}

// Loading a package the user may not have installed.

/** Runs what imports the package; when it is not there, says which one to install. */
export async function loadPackage<Result>(
  packageName: string,
  load: () => Promise<Result>,
): Promise<Result> {
  try {
    return await load();
  } catch (error) {
    if (!isMissing(error, packageName)) throw error;
    throw new Error(
      `The package ${packageName} is not installed. Install it beside Soong: npm install ${packageName}`,
      { cause: error },
    );
  }
}

/** A package that is there but lacks one of its own is another matter. */
function isMissing(error: unknown, packageName: string): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return (
    code === "ERR_MODULE_NOT_FOUND" &&
    typeof message === "string" &&
    message.includes(`'${packageName}'`)
  );
}

// Which model of an OpenAI-compatible server is used where none is named: the first listed one that can chat.

const LONGEST_MS = 10_000;
/** Nothing that could disturb a screen or a record. */
const PLAIN = /^[\x21-\x7e]{1,200}$/;
const NO_TALK = /embed|rerank|whisper|tts|dall-e|moderation/i;

/** Throws an error that says what to do. */
async function findFirstListedModel(server: LoadSettings): Promise<string> {
  const { baseURL, apiKey, fetch: ask } = server;
  const url = `${baseURL.replace(/\/+$/, "")}/models`;
  let why: string;
  try {
    const response = await ask(url, {
      headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.timeout(LONGEST_MS),
    });
    const listed = response.ok ? readModelIds(await response.json()) : [];
    const first = listed.find((id) => PLAIN.test(id) && !NO_TALK.test(id));
    if (first !== undefined) return first;
    why = response.ok
      ? "it lists none that answers prompts"
      : `it answered with ${response.status}`;
  } catch (error) {
    // What is under a failed fetch says more than the fetch does.
    const { cause } = error as { readonly cause?: { readonly code?: unknown } };
    const isClosed = cause?.code === "ECONNREFUSED";
    why = isClosed ? "nothing listens there" : messageOf(error).replace(/\.$/, "");
  }
  throw new Error(`No model could be chosen at ${url}: ${why}. Name one with SOONG_MODEL.`);
}

function readModelIds(listed: unknown): string[] {
  const { data } = (listed ?? {}) as { readonly data?: unknown };
  if (!Array.isArray(data)) return [];
  return data.flatMap((entry: unknown) => {
    const { id } = (entry ?? {}) as { readonly id?: unknown };
    return typeof id === "string" ? [id] : [];
  });
}
