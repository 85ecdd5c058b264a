// Resources come from tools, and tools are written by anyone. What is not canonical cannot be compared
// with anything, so the call it belongs to is refused instead of guessed at.

import { isRecord } from "@soong/schema";
import { pathProblem } from "./path.ts";
import { quote } from "./quote.ts";

/** Says why a resource cannot be judged, as a clause; undefined when it can. */
export function resourceProblem(resource: unknown): string | undefined {
  if (!isRecord(resource)) return "a resource is not an object";
  const { kind, host, may_reach: reached = [], may_write: written = [] } = resource;
  if (kind === "host") return typeof host === "string" ? undefined : "a host is not text";
  if (kind === "path") {
    const { access, path, also = [] } = resource;
    if (!ACCESS.has(access)) return "a path comes with no known kind of access";
    if (!Array.isArray(also)) return "further names of a path are not a list";
    if (!Array.isArray(reached)) return "what is below a path is not a list";
    return firstProblem("the path", [path, ...also, ...reached]);
  }
  if (kind !== "command") return "a resource is of no known kind";
  const { argv, config_runs: config } = resource;
  if (!Array.isArray(reached) || !Array.isArray(written)) {
    return "what a command may reach is not a list";
  }
  if (config !== undefined && typeof (config as { why?: unknown } | null)?.why !== "string") {
    return "what the config of a repository runs has no reason";
  }
  if (!Array.isArray(argv) || argv.length === 0) return "a command has no argv";
  if (!argv.every((item) => typeof item === "string"))
    return "a command has an item that is not text";
  return (
    firstProblem("the executable", [resource.executable]) ??
    firstProblem("the working directory", [resource.cwd]) ??
    firstProblem("the path", [...reached, ...written])
  );
}

const ACCESS: ReadonlySet<unknown> = new Set(["read", "write", "list", "search"]);

function firstProblem(what: string, paths: readonly unknown[]): string | undefined {
  for (const path of paths) {
    const problem = pathProblem(path);
    if (problem === undefined) continue;
    return typeof path === "string" ? `${what} ${quote(path)} ${problem}` : `${what} ${problem}`;
  }
  return undefined;
}
