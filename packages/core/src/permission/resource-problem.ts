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

function pathResourceProblem(resource: { path?: unknown; access?: unknown }): string | undefined {
  const { path, access } = resource;
  if (access !== "read" && access !== "write" && access !== "list" && access !== "search") {
    return "a path comes with no known kind of access";
  }
  return named("the path", path);
}

function commandProblem(resource: {
  executable?: unknown;
  argv?: unknown;
  cwd?: unknown;
}): string | undefined {
  const { executable, argv, cwd } = resource;
  if (!Array.isArray(argv) || argv.length === 0) return "a command has no argv";
  if (!argv.every((item) => typeof item === "string"))
    return "a command has an item that is not text";
  return named("the executable", executable) ?? named("the working directory", cwd);
}

function named(what: string, path: unknown): string | undefined {
  const problem = pathProblem(path);
  if (problem === undefined) return undefined;
  return typeof path === "string" ? `${what} ${quote(path)} ${problem}` : `${what} ${problem}`;
}
