// Every value that must never be shown (REDACT-3), found in one place for all commands: keys of models, variables that
// an allowlist hands to programs, headers of a collector, the password of the store, values in mcp.json, logins, the gateway's token.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { KnownSecret } from "@soong/core";
import { secretVariables } from "@soong/core/internal";
import type { LoadedConfig, SoongConfig } from "../config/index.ts";
import { homePaths } from "./home.ts";
import { serverSecrets } from "./servers.ts";
import { listStoreSecrets } from "./store-url.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The variables of providers' keys when the config names no others. */
const PROVIDER_KEYS = [
  "ANTHROPIC_API_KEY",
  "OPENAI_API_KEY",
  "GOOGLE_GENERATIVE_AI_API_KEY",
  "GEMINI_API_KEY",
  "SOONG_OPENAI_API_KEY",
] as const;

/** The names of variables that hold keys of models. */
export function listKeyNames({ models }: SoongConfig): string[] {
  const named = Object.values(models.profiles).flatMap(({ api_key_env }) => api_key_env ?? []);
  return [...new Set([...PROVIDER_KEYS, ...named])];
}

/**
 * What cannot be read is left to the part that uses it: that part reports the mistake. Without the values of a config,
 * every variable of the environment that looks like a secret counts as one.
 */
export async function collectSecrets(
  { home, values }: Pick<LoadedConfig, "home"> & Partial<Pick<LoadedConfig, "values">>,
  env: Environment,
): Promise<KnownSecret[]> {
  const [servers, logins, token, named, telemetry] = await Promise.all([
    serverSecrets(home, env),
    loginSecrets(home),
    gatewayToken(home),
    allowlistedNames(home),
    telemetrySecrets(env, values?.telemetry.headers_env),
  ]);
  return [
    ...(values === undefined ? [] : listKeyNames(values)).flatMap((name) => {
      const value = env[name] ?? "";
      return value === "" ? [] : [{ name, value }];
    }),
    ...secretVariables([...(values?.tools.env_allowlist ?? Object.keys(env)), ...named], env),
    ...listStoreSecrets(values, env),
    ...telemetry,
    ...servers,
    ...logins,
    ...token,
  ];
}

async function loginSecrets(home: string): Promise<readonly KnownSecret[]> {
  const folder = homePaths(home).logins;
  const names = await readdir(folder).catch((): string[] => []);
  if (names.length === 0) return [];
  const { openMcpLogins } = await import("@soong/mcp");
  return openMcpLogins(folder).secrets();
}

async function gatewayToken(home: string): Promise<KnownSecret[]> {
  const value = (await readFile(homePaths(home).gatewayToken, "utf8").catch(() => "")).trim();
  return value === "" ? [] : [{ name: "gateway_token", value }];
}

/** Headers and passwords for a collector. */
async function telemetrySecrets(
  env: Environment,
  headersEnv: string | undefined,
): Promise<readonly KnownSecret[]> {
  const isNamed =
    headersEnv !== undefined ||
    Object.keys(env).some((name) => name.startsWith("OTEL_EXPORTER_OTLP_"));
  if (!isNamed) return [];
  const { listTelemetrySecrets } = await import("@soong/export");
  return listTelemetrySecrets(env, headersEnv);
}

/** Variables that declarative tools and hooks are given by name. */
async function allowlistedNames(home: string): Promise<string[]> {
  const folder = homePaths(home).tools;
  const names = await readdir(folder).catch((): string[] => []);
  const files = names.filter((name) => name.endsWith(".json")).map((name) => join(folder, name));
  const texts = await Promise.all(
    [...files, homePaths(home).hooks].map((file) => readFile(file, "utf8").catch(() => "")),
  );
  return texts.flatMap((text) => {
    const lists = text.matchAll(/"env_allowlist"\s*:\s*\[([^\]]*)\]/g);
    return Array.from(lists, ([, list = ""]) =>
      Array.from(list.matchAll(/"(\w+)"/g), ([, name = ""]) => name),
    ).flat();
  });
}
