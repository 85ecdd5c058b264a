// The error for a command that cannot be found, which is mostly a shell line given as one item, or a
// name with a slip in it.

import { readdirSync } from "node:fs";
import { ToolFailure } from "@soong/core";
import { nearestName } from "@soong/schema";
import { findExecutable } from "@soong/platform";

export function executableNotFound(
  argv: readonly string[],
  where: { path: string; cwd: string },
): ToolFailure {
  const [name = ""] = argv;
  return new ToolFailure({
    code: "executable_not_found",
    error_class: "invalid_arguments",
    message: `${JSON.stringify(shortenName(name))} cannot be run: ${reason(argv, where)}`,
    recovery: "change_arguments",
    details: { name: shortenName(name) },
  });
}

const MOST_SHOWN = 200;

function shortenName(name: string): string {
  return name.length > MOST_SHOWN ? `${name.slice(0, MOST_SHOWN)}…` : name;
}

function reason(argv: readonly string[], where: { path: string; cwd: string }): string {
  const [name = ""] = argv;
  if (argv.length === 1 && /\s/.test(name.trim())) {
    const items = JSON.stringify(name.trim().split(/\s+/).slice(0, 4)).slice(0, -1);
    return `there is no program of that name. argv is a list, one item for each argument, and no shell reads it: begin with ${items}…, or run a shell yourself: ["bash", "-c", …].`;
  }
  if (name.includes("/")) {
    return `there is no executable file at that path, seen from ${JSON.stringify(where.cwd)}. Check the path, or give the program's name alone.`;
  }
  const near = nearestExecutable(name, where);
  const hint = near === undefined ? "" : ` Did you mean ${JSON.stringify(near)}?`;
  return `there is no program of that name on the PATH.${hint} Check the name, or give its path.`;
}

function nearestExecutable(name: string, where: { path: string; cwd: string }): string | undefined {
  const names = where.path.split(":").flatMap(namesIn);
  const near = nearProgram(name, [...new Set(names)]);
  return near !== undefined && findExecutable(near, where) !== undefined ? near : undefined;
}

/** A short name is one letter away from many others ("rg" is not "rm"): only its letters in another order count. */
function nearProgram(name: string, names: readonly string[]): string | undefined {
  const lettersOf = (text: string): string => Array.from(text).toSorted().join("");
  if (name.length < 4) return names.find((one) => lettersOf(one) === lettersOf(name));
  return nearestName(
    name,
    names.filter((one) => Math.abs(one.length - name.length) <= 2),
  );
}

function namesIn(directory: string): string[] {
  if (!directory.startsWith("/")) return [];
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
