// Reads the name of a store on the command line: a home directory, or the address of a database, whose password may be in a variable.

import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { KnownSecret } from "@soong/core";
import { DEFAULT_SCHEMA } from "@soong/platform";
import type { StoreOptions } from "@soong/store";
import { loadConfig } from "../../config/index.ts";
import { UsageError, visibleLine } from "../../output/index.ts";
import {
  addPassword,
  checkStoreUrl,
  findStoreUrl,
  listUrlSecrets,
  STORE_URL_NAME,
} from "../../runtime/store-url.ts";
import { resolveHome } from "../context.ts";
import type { CommandContext } from "../handler.ts";

export interface NamedStore {
  /** Without credentials. */
  readonly label: string;
  /** Two names of the same store have the same identity. */
  readonly identity: string;
  readonly options: Pick<StoreOptions, "directory" | "url">;
  /** Whether the store may exist. For a database this is known only after opening it, so it is true. */
  readonly isThere: boolean;
  readonly secrets: readonly KnownSecret[];
}

/** `role`: FROM or TO, for messages. */
export async function readNamedStore(
  context: CommandContext,
  given: string,
  role: string,
): Promise<NamedStore> {
  const text = readVariable(context, given);
  if (text === "") throw new UsageError(`${role} is empty. Name a directory or a database.`);
  if (/^postgres(?:ql)?:\/\//.test(text)) return nameDatabase(context, text, role);
  if (text !== given || ADDRESS.test(text)) {
    throw new UsageError(
      `${role} is neither a directory nor an address that begins with postgres://.`,
    );
  }
  const directory = resolve(context.cwd, text);
  return {
    label: visibleLine(directory),
    identity: await realpath(directory).catch(() => directory),
    options: { directory },
    isThere: existsSync(join(directory, "store", "soong.db")),
    secrets: [],
  };
}

/** Also matches a mistyped address: taken for the name of a directory, it would show the password. */
const ADDRESS = /^\w+:\/\/|^postgres(?:ql)?:|^[^./~\\][^/\\]*:[^\\].*@/i;

async function nameDatabase(
  context: CommandContext,
  text: string,
  role: string,
): Promise<NamedStore> {
  const home = resolveHome(context);
  const whole = await findWholeUrl(context, checkStoreUrl(text, role), home);
  const url = new URL(whole);
  const schema = url.searchParams.get("schema") ?? DEFAULT_SCHEMA;
  const label = `${url.protocol}//${url.host}${url.pathname}`;
  return {
    label: visibleLine(label),
    identity: `${findServer(url)}${url.pathname} ${schema}`,
    options: { directory: home, url: whole },
    isThere: true,
    secrets: listUrlSecrets(whole, role),
  };
}

/** Parameters take precedence, as in the driver: a socket is named by one. */
function findServer({ searchParams, hostname, port }: URL): string {
  return `${searchParams.get("host") ?? hostname}:${searchParams.get("port") ?? (port || "5432")}`;
}

async function findWholeUrl(context: CommandContext, text: string, home: string): Promise<string> {
  const { password } = new URL(text);
  if (password !== "") {
    const named = readVariable(context, password);
    return named === password ? text : addPassword(text, named);
  }
  const values = await loadConfig({ home }).then(
    (config) => config.values,
    () => undefined,
  );
  const { url } = values?.store ?? {};
  if (url === undefined) return text;
  const own = checkStoreUrl(url, "store.url of the config");
  if (new URL(own).href !== new URL(text).href) return text;
  return findStoreUrl(values, { ...context.env, [STORE_URL_NAME]: undefined }) ?? text;
}

/** Resolves `$NAME` if it was quoted for the shell, so that the value is not in the list of processes. */
function readVariable({ env }: CommandContext, text: string): string {
  const name = /^\$(\w+)$/.exec(text)?.[1];
  if (name === undefined) return text;
  const value = env[name] ?? "";
  if (value === "") throw new UsageError(`$${name} is not set.`);
  return value;
}
