// Entries of mcp.json, written by a command: everything else in the file stays as it is, comments too. What the file would
// then say is checked before it is written; several processes do it one after the other.

import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import type { KnownSecret } from "@soong/core";
import { describeProblem, editJson, withFileLock, writeWholeFile } from "@soong/platform";
import { readSettingsFile } from "../config/index.ts";
import { homePaths, SetupError } from "./home.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** By server: its entry, as mcp.json has it; undefined removes it. */
export type ServerChanges = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

export interface ChangedServers {
  readonly file: string;
  /** Empty where there was no file. */
  readonly before: string;
  readonly after: string;
  /** What is odd in the changed entries and no mistake, each with its place. */
  readonly warnings: readonly string[];
  /** Values of the file that must not be shown. */
  readonly secrets: readonly KnownSecret[];
}

/** What the file would say. Throws a SetupError that names every problem of it. */
export async function planServerChanges(
  home: string,
  env: Environment,
  changes: ServerChanges,
): Promise<ChangedServers> {
  const file = await findFile(home);
  const before = (await readSettingsFile(file))?.text ?? "";
  const { parseMcpSettings } = await import("@soong/mcp/settings");
  const check = (text: string) => {
    const parsed = parseMcpSettings(text, file, env);
    if (parsed.ok) {
      return { warnings: parsed.warnings.map(describeProblem), secrets: parsed.secrets };
    }
    throw new SetupError(parsed.problems.map(describeProblem), "Nothing was written.");
  };
  const known = before.trim() === "" ? undefined : check(before);
  let after = before;
  for (const [id, entry] of Object.entries(changes)) {
    after = editJson(after, ["mcpServers", id], entry);
  }
  const next = check(after);
  // Lines may have moved.
  const isNew = (warning: string) =>
    known?.warnings.some((one) => withoutPlace(one) === withoutPlace(warning)) !== true;
  const secrets = [...(known?.secrets ?? []), ...next.secrets];
  return { file, before, after, warnings: next.warnings.filter(isNew), secrets };
}

/** The same, and writes it. */
export async function changeServers(
  home: string,
  env: Environment,
  changes: ServerChanges,
): Promise<ChangedServers> {
  return withFileLock(await findFile(home), {}, async () => {
    const planned = await planServerChanges(home, env, changes);
    if (planned.after !== planned.before) await writeWholeFile(planned.file, planned.after);
    return planned;
  });
}

/** Takes an entry out again that was just added: the file as it was, unless someone has written it since. */
export async function undoAddition(
  home: string,
  env: Environment,
  id: string,
  { file, before, after }: ChangedServers,
): Promise<void> {
  if (before === after) return;
  await withFileLock(file, {}, async () => {
    const planned = await planServerChanges(home, env, { [id]: undefined });
    const isOurs = planned.before === after;
    await writeWholeFile(file, isOurs ? (before === "" ? "{}\n" : before) : planned.after);
  });
}

/** A link stays a link. */
async function findFile(home: string): Promise<string> {
  const named = homePaths(home).servers;
  return existsSync(named) ? realpath(named) : named;
}

function withoutPlace(warning: string): string {
  return warning.replace(/:\d+:\d+: /, ": ");
}
