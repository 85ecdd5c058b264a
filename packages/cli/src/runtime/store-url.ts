// Which database keeps the sessions of a home: that of SOONG_STORE_URL, else of [store] in the config, else SQLite in the home.

import { SoongError, type KnownSecret } from "@soong/core";
import { STORE_ADDRESS, type SoongConfig } from "../config/index.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export const STORE_URL_NAME = "SOONG_STORE_URL";

/** With its password; undefined for SQLite in the home. `values`: undefined where the config cannot be read. */
export function findStoreUrl(
  values: Pick<SoongConfig, "store"> | undefined,
  env: Environment,
): string | undefined {
  const { url: given, password_env: name } = values?.store ?? {};
  const own = given && checkServerToo(given);
  const whole = env[STORE_URL_NAME] ?? "";
  const url = whole === "" ? own : checkStoreUrl(whole, STORE_URL_NAME);
  // The password is that of the config's address, also where the variable repeats it.
  if (url === undefined || name === undefined || !isSame(url, own)) return url;
  const password = env[name] ?? "";
  if (password === "" && whole !== "") return url;
  if (password === "") {
    throw invalid(
      `${name} is not set, and store.password_env of the config names it. Set it to the password of the database.`,
    );
  }
  return addPassword(url, password);
}

function isSame(url: string, own: string | undefined): boolean {
  return own !== undefined && new URL(url).href === new URL(own).href;
}

/** `what`: how the user gave it. The text itself is never repeated: it may hold a password. */
export function checkStoreUrl(url: string, what: string): string {
  const problem = STORE_ADDRESS.problem(stripPassword(url));
  if (problem === undefined) return checkServerToo(url);
  throw invalid(`${what} ${problem}${problem.endsWith("?") ? "" : "."}`);
}

/** The driver reads these modes so, too, and warns of it: a mode that only encrypts would trust any server. */
function checkServerToo(text: string): string {
  const url = new URL(text);
  const mode = url.searchParams.get("sslmode") ?? "";
  if (!["prefer", "require", "verify-ca"].includes(mode)) return text;
  url.searchParams.set("sslmode", "verify-full");
  return url.href;
}

function invalid(message: string): SoongError {
  return new SoongError("invalid_setup", message, { exitCode: 2 });
}

export function addPassword(text: string, password: string): string {
  const url = new URL(text);
  // The URL of a socket has no host, and so no place for it before one.
  if (url.host === "") url.searchParams.set("password", password);
  else url.password = encodeURIComponent(password);
  return url.href;
}

function stripPassword(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  url.password = "";
  for (const name of PASSWORD_PARAMETERS) {
    // Deleting encodes all others anew.
    if (url.searchParams.has(name)) url.searchParams.delete(name);
  }
  return url.href;
}

const PASSWORD_PARAMETERS = ["password", "sslpassword"] as const;

/** Passwords of the database (REDACT-3), as they are and as a URL spells them. */
export function listStoreSecrets(
  values: Pick<SoongConfig, "store"> | undefined,
  env: Environment,
): KnownSecret[] {
  const { url, password_env } = values?.store ?? {};
  const whole = env[STORE_URL_NAME] ?? "";
  const names = [password_env, ...(url === undefined && whole === "" ? [] : ["PGPASSWORD"])];
  return [
    ...listUrlSecrets(whole, STORE_URL_NAME),
    ...names.flatMap((name) => {
      const value = name === undefined ? undefined : env[name];
      return name === undefined || value === undefined ? [] : spell(name, value);
    }),
  ];
}

export function listUrlSecrets(text: string, name: string): KnownSecret[] {
  if (!URL.canParse(text)) return text === "" ? [] : [{ name, value: text }];
  const { password, searchParams } = new URL(text);
  const given = PASSWORD_PARAMETERS.flatMap((key) => searchParams.getAll(key));
  return [
    ...(password === "" ? [] : [{ name, value: password }, ...spell(name, decode(password))]),
    ...given.flatMap((value) => spell(name, value)),
  ];
}

function spell(name: string, value: string): KnownSecret[] {
  const spelled = new Set([value, encodeURIComponent(value)]);
  return Array.from(spelled, (one) => ({ name, value: one }));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
