// Resources come from tools, and tools are written by anyone. What is not canonical cannot be compared
// with anything, so the call it belongs to is refused instead of guessed at.

import { pathProblem } from "./path.ts";
import { quote } from "./quote.ts";

/** Says why a resource cannot be judged, as a clause; undefined when it can. */
export function resourceProblem(resource: unknown): string | undefined {
  if (typeof resource !== "object" || resource === null) return "a resource is not an object";
  const { kind } = resource as { kind?: unknown };
  if (kind === "path") return pathResourceProblem(resource);
  if (kind === "command") return commandProblem(resource);
  if (kind !== "host") return "a resource is of no known kind";
  return typeof (resource as { host?: unknown }).host === "string"
    ? undefined
    : "a host is not text";
}

function pathResourceProblem(resource: {
  path?: unknown;
  access?: unknown;
  also?: unknown;
  may_reach?: unknown;
  config_runs?: { why?: unknown } | undefined;
}): string | undefined {
  const { path, access, also, may_reach: reached = [] } = resource;
  if (access !== "read" && access !== "write" && access !== "list" && access !== "search") {
    return "a path comes with no known kind of access";
  }
  if (also !== undefined && !Array.isArray(also)) return "further names of a path are not a list";
  if (!Array.isArray(reached)) return "what is below a path is not a list";
  return [path, ...((also ?? []) as unknown[]), ...(reached as unknown[])]
    .map((name) => named("the path", name))
    .find((problem) => problem !== undefined);
}

function commandProblem(resource: {
  executable?: unknown;
  argv?: unknown;
  cwd?: unknown;
  may_reach?: unknown;
  may_write?: unknown;
  config_runs?: { why?: unknown } | undefined;
}): string | undefined {
  const { executable, argv, cwd, may_reach: reached = [], may_write: written = [] } = resource;
  if (!Array.isArray(reached) || !Array.isArray(written)) {
    return "what a command may reach is not a list";
  }
  const { config_runs: config } = resource;
  if (config !== undefined && typeof config?.why !== "string") {
    return "what the config of a repository runs has no reason";
  }
  if (!Array.isArray(argv) || argv.length === 0) return "a command has no argv";
  if (!argv.every((item) => typeof item === "string"))
    return "a command has an item that is not text";
  return (
    named("the executable", executable) ??
    named("the working directory", cwd) ??
    [...(reached as unknown[]), ...(written as unknown[])]
      .map((path) => named("the path", path))
      .find((problem) => problem !== undefined)
  );
}

function named(what: string, path: unknown): string | undefined {
  const problem = pathProblem(path);
  if (problem === undefined) return undefined;
  return typeof path === "string" ? `${what} ${quote(path)} ${problem}` : `${what} ${problem}`;
}
