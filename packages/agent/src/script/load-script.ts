// A script from a file. Whatever kind of file it is, it is read whole or refused.

import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { messageOf } from "@soong/core";
import { MAX_SCRIPT_BYTES, parseScript, TOO_LARGE } from "./parse-script.ts";
import type { Script } from "./script.ts";
import { describeScriptProblem, type ScriptProblem } from "./script-problem.ts";

export class ScriptError extends Error {
  readonly problems: readonly ScriptProblem[];

  constructor(file: string, problems: readonly ScriptProblem[]) {
    const lines = problems.map((problem) => `\n  ${describeScriptProblem(problem)}`);
    super(`the script ${file} cannot be played:${lines.join("")}`);
    this.name = "ScriptError";
    this.problems = problems;
  }
}

/** Throws a ScriptError that names every problem. */
export async function loadScript(file: string): Promise<Script> {
  const parsed = parseScript(await textOf(file), file);
  if (!parsed.ok) throw new ScriptError(file, parsed.problems);
  return parsed.script;
}

async function textOf(file: string): Promise<string> {
  const refused = (message: string): ScriptError =>
    new ScriptError(file, [{ file, line: 1, column: 1, message }]);
  let bytes: Uint8Array;
  try {
    // A pipe without a writer would be waited for otherwise.
    const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) throw refused("is not a regular file");
      if (stats.size > MAX_SCRIPT_BYTES) throw refused(TOO_LARGE);
      bytes = await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof ScriptError) throw error;
    throw refused(`cannot be read: ${unreadable(error)}`);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw refused("is not UTF-8 text");
  }
}

function unreadable(error: unknown): string {
  const { code } = error as { code?: string };
  if (code === "ENOENT") return "there is no such file";
  if (code === "EACCES") return "permission is denied";
  return messageOf(error);
}
