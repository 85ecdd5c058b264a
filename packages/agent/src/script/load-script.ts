// A script from a file, read whole or refused.

import { SoongError } from "@soong/core";
import { describeProblem, type Problem } from "@soong/platform";
import { readTextFile } from "../document/index.ts";
import { MAX_SCRIPT_BYTES, parseScript } from "./parse-script.ts";
import type { Script } from "./script.ts";

export class ScriptError extends SoongError {
  override readonly name = "ScriptError";
  readonly problems: readonly Problem[];

  constructor(file: string, problems: readonly Problem[]) {
    const lines = problems.map((problem) => `\n  ${describeProblem(problem)}`);
    super("invalid_script", `the script ${file} cannot be played:${lines.join("")}`);
    this.problems = problems;
  }
}

/** Throws a ScriptError that names every problem. */
export async function loadScript(file: string): Promise<Script> {
  const parsed = parseScript(await readScriptFile(file), file);
  if (!parsed.ok) throw new ScriptError(file, parsed.problems);
  return parsed.script;
}

async function readScriptFile(file: string): Promise<string> {
  const read = await readTextFile(file, MAX_SCRIPT_BYTES);
  if (read.ok) return read.text;
  throw new ScriptError(file, [{ file, line: 1, column: 1, message: read.message }]);
}
