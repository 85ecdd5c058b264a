// From the text of a script to the script, or to everything that is wrong with it.

import { stringify } from "yaml";
import { checkScript } from "./check-script.ts";
import type { YamlProblem } from "./node-problems.ts";
import type { Script } from "./script.ts";
import { fieldName, type ScriptProblem } from "./script-problem.ts";
import { readYaml } from "./yaml-document.ts";

export type ParsedScript =
  | { ok: true; script: Script }
  | { ok: false; problems: readonly ScriptProblem[] };

export const MAX_SCRIPT_BYTES = 5 * 1024 * 1024;
/** More are not read by anybody. */
const MAX_PROBLEMS = 100;

/** `file` is only for the problems. Takes YAML, and so JSON. */
export function parseScript(text: string, file: string): ParsedScript {
  if (Buffer.byteLength(text) > MAX_SCRIPT_BYTES) {
    return { ok: false, problems: [{ file, line: 1, column: 1, message: TOO_LARGE }] };
  }
  const read = readYaml(text);
  if (!read.ok) return { ok: false, problems: placed(file, read.problems) };
  const { document } = read;
  const problems = [...document.repeatedKeys];
  let unreported = 0;
  checkScript(document.value, [], (path, message, of = "value") => {
    if (problems.length >= MAX_PROBLEMS) unreported += 1;
    else problems.push({ path, message, ...document.positionOf(path, of) });
  });
  if (problems.length === 0) return { ok: true, script: document.value as Script };
  return { ok: false, problems: placed(file, problems, unreported) };
}

export const TOO_LARGE = `is larger than ${MAX_SCRIPT_BYTES / 1024 / 1024} MiB, the most a script may have`;

/** What `parseScript` reads as the same script. */
export function printScript(script: Script): string {
  return stringify(script, { lineWidth: 0, aliasDuplicateObjects: false });
}

function placed(file: string, found: readonly YamlProblem[], unreported = 0): ScriptProblem[] {
  const inOrder = found.toSorted((a, b) => a.line - b.line || a.column - b.column);
  const problems = inOrder.slice(0, MAX_PROBLEMS).map(({ line, column, path, message }) => {
    const problem = { file, line, column, message };
    return path.length === 0 ? problem : { ...problem, field: fieldName(path) };
  });
  const more = inOrder.length - problems.length + unreported;
  const last = problems.at(-1);
  if (more > 0 && last !== undefined) {
    const { line, column } = last;
    problems.push({ file, line, column, message: `has ${more} more problems after these` });
  }
  return problems;
}
