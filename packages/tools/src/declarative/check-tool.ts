// Checks one declaration and, given a sample, runs it the way every call runs: through a kernel (DECL-6).

import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  createKernel,
  type AskPermission,
  type JsonObject,
  type SessionOptions,
  type ToolResult,
} from "@soong/core";
import { isRecord } from "@soong/schema";
import { problemAt, type Problem } from "@soong/platform";
import { directoryTrustProblem, readJsonFile } from "../json/index.ts";
import {
  declarationFiles,
  MAX_TIMEOUT_MS,
  sourceOf,
  type DeclarativeToolsOptions,
} from "./load-tools.ts";
import { MAX_FILE_BYTES, readDeclaration, type DeclaredTool } from "./read-declaration.ts";

export interface CheckOptions extends DeclarativeToolsOptions {
  /** Where the tools of the user are: no other file there may have its name. */
  readonly directory?: string;
  /** Run it once with this input, in this project. */
  readonly sample?: {
    readonly input: JsonObject;
    readonly project: string;
    /** Left out, giving the sample is the yes. */
    readonly ask?: AskPermission;
    readonly secrets?: SessionOptions["secrets"];
  };
}

export type CheckedTool =
  | { ok: false; problems: readonly Problem[] }
  | { ok: true; tool_name: string; result?: ToolResult };

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
    return refused(`cannot be read: ${error instanceof Error ? error.message : String(error)}`);
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
    sources: [sourceOf(canonical, [declared])],
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
      if (read.document.value["name"] === name) {
        return problemAt(document, ["name"], `"${name}" is declared in ${other} already`);
      }
    }
  }
  return undefined;
}
