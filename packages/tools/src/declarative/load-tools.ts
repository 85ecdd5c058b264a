// The declarative tools of a user (DECL-1): every `*.json` directly in one directory, which is never one of
// a project. All of them or, with every problem at once, none.

import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { ToolSource } from "@soong/core";
import { problemAt, type Problem } from "@soong/platform";
import { directoryTrustProblem } from "../json/index.ts";
import {
  readDeclaration,
  SOURCE,
  type DeclaredTool,
  type ReadOptions,
} from "./read-declaration.ts";

/** `maxTimeoutMs`: the largest timeout_ms a file may name, tools.max_timeout_ms of the config. */
export type DeclarativeToolsOptions = Partial<ReadOptions>;

export type LoadedTools =
  | { ok: true; source: ToolSource }
  | { ok: false; problems: readonly Problem[] };

export const MAX_TIMEOUT_MS = 600_000;

/** A directory that is not there has no tools. */
export async function loadDeclarativeTools(
  directory: string,
  options: DeclarativeToolsOptions = {},
): Promise<LoadedTools> {
  const found = await declarationFiles(directory);
  if (!found.ok) return found;
  const problems: Problem[] = [];
  const declared: DeclaredTool[] = [];
  for (const file of found.files) {
    const read = await readDeclaration(file, { maxTimeoutMs: MAX_TIMEOUT_MS, ...options });
    if (read.ok) declared.push(read.declared);
    else problems.push(...read.problems);
  }
  problems.push(...repeatedNames(declared));
  return problems.length > 0
    ? { ok: false, problems }
    : { ok: true, source: sourceOf(directory, declared) };
}

/** A tool whose program is not installed is known and not offered, with the reason. */
export function sourceOf(file: string, declared: readonly DeclaredTool[]): ToolSource {
  return {
    ...SOURCE,
    file,
    tools: declared.flatMap(({ definition, missing }) =>
      missing === undefined ? [definition] : [],
    ),
    excluded: declared.flatMap(({ definition, missing }) =>
      missing === undefined
        ? []
        : [{ tool_name: definition.name, reason: "setup_required" as const, detail: missing }],
    ),
  };
}

type Files = { ok: true; files: readonly string[] } | { ok: false; problems: Problem[] };

export async function declarationFiles(directory: string): Promise<Files> {
  const refused = (message: string): Files => ({
    ok: false,
    problems: [{ file: directory, message }],
  });
  try {
    const untrusted = await directoryTrustProblem(directory);
    if (untrusted !== undefined) return refused(untrusted);
    const real = await realpath(directory);
    const names = await readdir(real);
    const files = names
      .filter((name) => name.endsWith(".json") && !name.startsWith("."))
      .toSorted()
      .map((name) => join(real, name));
    return { ok: true, files };
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === "ENOENT") return { ok: true, files: [] };
    if (code === "ENOTDIR") return refused("is not a directory");
    return refused(`cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function repeatedNames(declared: readonly DeclaredTool[]): Problem[] {
  const holders = new Map<string, string>();
  return declared.flatMap(({ file, document, definition: { name } }) => {
    const holder = holders.get(name);
    if (holder !== undefined) {
      return [problemAt(document, ["name"], `"${name}" is declared in ${holder} already`)];
    }
    holders.set(name, file);
    return [];
  });
}
