// The keys of models, which are never shown (REDACT-1): the config names variables, the environment has them.

import type { KnownSecret } from "@soong/core";
import type { SoongConfig } from "../config/index.ts";

/** Where the keys of providers are looked for when a config names no other place. */
const PROVIDER_KEYS = [
  "ANTHROPIC_API_KEY",
  "OPENAI_API_KEY",
  "GOOGLE_GENERATIVE_AI_API_KEY",
  "GEMINI_API_KEY",
  "SOONG_OPENAI_API_KEY",
] as const;

/** The names of variables that hold keys of models. */
export function keyNamesOf({ models }: SoongConfig): string[] {
  const named = Object.values(models.profiles).flatMap(({ api_key_env }) => api_key_env ?? []);
  return [...new Set([...PROVIDER_KEYS, ...named])];
}

export function secretsOf(
  values: SoongConfig,
  env: Readonly<Record<string, string | undefined>>,
): KnownSecret[] {
  return keyNamesOf(values).flatMap((name) => {
    const value = env[name];
    return value === undefined || value === "" ? [] : [{ name, value }];
  });
}
