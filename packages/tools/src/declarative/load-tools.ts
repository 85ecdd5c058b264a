// The declarative tools of a user (DECL-1): every `*.json` directly in one directory, which is never one of
// a project. All of them or, with every problem at once, none.

import { readdir, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  createKernel,
  messageOf,
  type AskPermission,
  type JsonObject,
  type SessionOptions,
  type ToolResult,
  type ToolSource,
} from "@soong/core";
import { qualifyName } from "@soong/core/internal";
import { readErrno, problemAt, type Problem } from "@soong/platform";
import { isRecord } from "@soong/schema";
import { directoryTrustProblem, readJsonFile } from "../json/trusted-file.ts";
import {
  MAX_FILE_BYTES,
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

const MAX_TIMEOUT_MS = 600_000;

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
    : { ok: true, source: createSource(directory, declared) };
}

/** A tool whose program is not installed is known and not offered, with the reason. */
function createSource(file: string, declared: readonly DeclaredTool[]): ToolSource {
  const reason = "setup_required" as const;
  return {
    ...SOURCE,
    file,
    tools: declared.filter(({ missing }) => missing === undefined).map((tool) => tool.definition),
    excluded: declared.flatMap(({ definition, missing: detail }) =>
      detail === undefined ? [] : [{ tool_name: definition.name, reason, detail }],
    ),
  };
}

type Files = { ok: true; files: readonly string[] } | { ok: false; problems: Problem[] };

async function declarationFiles(directory: string): Promise<Files> {
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
    const errno = readErrno(error);
    if (errno === "ENOENT") return { ok: true, files: [] };
    if (errno === "ENOTDIR") return refused("is not a directory");
    return refused(`cannot be read: ${messageOf(error)}`);
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

export interface CheckOptions extends DeclarativeToolsOptions {
  /** Where the tools of the user are: no other file there may have its name. */
  readonly directory?: string;
  /** Run it once with this input, in this project. */
  readonly sample?: {
    readonly input: JsonObject;
    readonly project: string;
    /** By default, giving the sample is the yes. */
    readonly ask?: AskPermission;
    readonly secrets?: SessionOptions["secrets"];
  };
}

export type CheckedTool =
  | { ok: false; problems: readonly Problem[] }
  | { ok: true; tool_name: string; result?: ToolResult };

/** Checks one declaration and, given a sample, runs it the way every call runs: through a kernel (DECL-6). */
export async function checkDeclarativeTool(
  file: string,
  options: CheckOptions = {},
): Promise<CheckedTool> {
  const { sample, directory, ...given } = options;
  const reading = { maxTimeoutMs: MAX_TIMEOUT_MS, ...given };
  const refused = (message: string): CheckedTool => ({ ok: false, problems: [{ file, message }] });
  let canonical: string;
  try {
    const untrusted = await directoryTrustProblem(dirname(file));
    if (untrusted !== undefined) return refused(`its directory ${untrusted}`);
    canonical = join(await realpath(dirname(file)), basename(file));
  } catch (error) {
    return refused(`cannot be read: ${messageOf(error)}`);
  }
  const read = await readDeclaration(canonical, reading);
  if (!read.ok) return read;
  const { declared } = read;
  const taken = await takenByAnother(declared, [dirname(canonical), directory ?? ""]);
  if (taken !== undefined) return { ok: false, problems: [taken] };
  if (declared.missing !== undefined) return refused(declared.missing);
  const { name: tool_name } = declared.definition;
  if (sample === undefined) return { ok: true, tool_name };
  const kernel = createKernel({
    sources: [createSource(canonical, [declared])],
    config: { tools: { max_timeout_ms: reading.maxTimeoutMs } },
  });
  const run = await kernel.startRun({
    roots: { project: await realpath(sample.project), write: [] },
    ask: sample.ask ?? (() => ({ decision: "allow_once" })),
    secrets: sample.secrets,
  });
  return { ok: true, tool_name, result: await run.call(tool_name, sample.input) };
}

/** Another version of the same file elsewhere is no other tool. */
async function takenByAnother(
  { file, document, definition: { name } }: DeclaredTool,
  directories: readonly string[],
): Promise<Problem | undefined> {
  for (const directory of new Set(directories)) {
    const found = directory === "" ? undefined : await declarationFiles(directory);
    for (const other of found?.ok === true ? found.files : []) {
      if (basename(other) === basename(file)) continue;
      const read = await readJsonFile(other, { maxBytes: MAX_FILE_BYTES });
      if (!read.ok || !isRecord(read.document.value)) continue;
      const taken = read.document.value["name"];
      if (typeof taken === "string" && qualifyName(taken, "declarative") === name) {
        return problemAt(document, ["name"], `"${name}" is declared in ${other} already`);
      }
    }
  }
  return undefined;
}
