// The rule that "always" would write (PERM-18): made from the targets of one call, so that it covers no more than a yes for the
// session would. Where a rule cannot say that, there is none to offer.

import type { Resource } from "../tool/index.ts";
import type { ChainEntry } from "./decision.ts";
import { escapeGlob } from "./glob.ts";
import type { GrantScope } from "./grant-scope.ts";
import type { PermissionRule } from "./permission-rule.ts";

export interface AlwaysAbout {
  readonly tool_name: string;
  readonly scopes: readonly GrantScope[];
  readonly resources: readonly Resource[];
  readonly chain: readonly ChainEntry[];
  /** Whether the agent may change this program: then no rule allows it. */
  readonly canBeWritten?: (executable: string) => boolean;
}

/** Undefined: no rule would cover just this, or none would be enough, because a rule, a hook or the runtime asks. */
export function alwaysRule(about: AlwaysAbout): PermissionRule | undefined {
  const { tool_name, scopes, resources, chain } = about;
  const asking = chain.find(({ decisive }) => decisive === true);
  if (asking?.layer !== "defaults" || scopes.length === 0) return undefined;
  const paths = new Set<string>();
  const hosts = new Set<string>();
  for (const scope of scopes) {
    if (scope.kind === "input") return undefined;
    if (scope.kind === "directory") paths.add(`${escapeGlob(scope.path).replace(/\/$/, "")}/*`);
    if (scope.kind === "path") paths.add(escapeGlob(scope.path));
    if (scope.kind === "host") hosts.add(scope.host);
  }
  const commands = resources.filter((one) => one.kind === "command");
  const [command, ...more] = commands;
  const argv = command?.argv;
  if (command !== undefined && !isNameable(command, about)) return undefined;
  // An allow holds of every target of a call, and names one of each kind.
  if (more.length > 0 || hosts.size > 1 || argv?.some((item) => item.includes("*")) === true) {
    return undefined;
  }
  const [path, ...otherPaths] = paths;
  // What a command that is spelled out touches follows from its words.
  if (otherPaths.length > 0 && argv === undefined) return undefined;
  const [host] = hosts;
  return {
    tool: tool_name,
    ...(argv === undefined ? {} : { argv, exact_argv: true }),
    ...(path === undefined || argv !== undefined ? {} : { path }),
    ...(host === undefined ? {} : { host }),
    decision: "allow",
  };
}

/** A rule names a program by a bare word or an absolute path, and never one that the agent itself could have made. */
function isNameable(
  { executable, argv: [program = ""] }: Extract<Resource, { kind: "command" }>,
  { canBeWritten }: AlwaysAbout,
): boolean {
  if (program.includes("/") && !program.startsWith("/")) return false;
  return canBeWritten?.(executable) !== true;
}
