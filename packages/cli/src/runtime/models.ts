// Which models answer a run: the one that was asked for, the config's, or one the environment has a key for;
// behind it those that stand in for it (MODEL-4).

import type { Model, ModelPrices } from "@soong/agent";
import { omitUndefined } from "@soong/schema";
import type { ModelSettings, SoongConfig } from "../config/index.ts";
import { SetupError } from "./home.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** `given`: a profile's name, `provider:model` or `script:FILE`. */
export async function openModels(
  values: SoongConfig,
  env: Environment,
  given?: string,
): Promise<[Model, ...Model[]]> {
  const { modelFromEnvironment } = await import("@soong/agent");
  const first = given ?? values.model.default ?? modelFromEnvironment(env);
  if (first === undefined) {
    throw new SetupError(
      ["There is no model to ask."],
      "Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or OPENAI_BASE_URL or OLLAMA_HOST for a server of your own, name one with --model provider:model, or play a script with --model script:FILE; `soong demo` shows Soong at work without any.",
    );
  }
  const fallback = values.models.fallback.filter((reference) => reference !== first);
  const main = await open(values, env, first);
  const others = await Promise.all(fallback.map((reference) => open(values, env, reference)));
  return [main, ...others];
}

async function open(values: SoongConfig, env: Environment, reference: string): Promise<Model> {
  try {
    return await openReference(values, env, reference);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new SetupError([message], "`soong doctor` checks what a run needs.");
  }
}

async function openReference(
  values: SoongConfig,
  env: Environment,
  reference: string,
): Promise<Model> {
  // On use: most commands ask no model.
  const { loadScript, openModel, scriptedModel } = await import("@soong/agent");
  const script = /^script:(.+)$/s.exec(reference)?.[1];
  if (script !== undefined) return scriptedModel(await loadScript(script), { id: reference });
  const profile = values.models.profiles[reference];
  if (profile === undefined) return openModel(reference, { env });
  const { provider, model, base_url, api_key_env, context_window, max_output_tokens } = profile;
  const prices = readPrices(profile);
  return openModel(`${provider}:${model}`, {
    env,
    limits: {
      ...omitUndefined({ context_window, max_output_tokens }),
    },
    ...omitUndefined({ prices, baseURL: base_url, apiKeyEnv: api_key_env }),
  });
}

function readPrices({ prices }: ModelSettings): ModelPrices | undefined {
  const { currency, input, output, cache_read, cache_write } = prices;
  if (input === undefined || output === undefined) return undefined;
  return {
    currency,
    input,
    output,
    ...omitUndefined({ cache_read, cache_write }),
  };
}
