// The rule that "always" would write (PERM-18): made from the targets of one call, so that it covers no more than a yes for the
// session would. Where a rule cannot say that, there is none to offer.

import { omitUndefined } from "@soong/schema";
import type { Resource } from "../tool/index.ts";
import { isBoundToProject } from "./argv-pattern.ts";
import type { ChainEntry } from "./decision.ts";
import type { CommandResource } from "./facts.ts";
import { escapeGlob } from "./glob.ts";
import type { GrantScope } from "./grants.ts";
import type { PermissionRule } from "./permission-rule.ts";

export interface AlwaysAbout {
  readonly tool_name: string;
  readonly scopes: readonly GrantScope[];
  readonly resources: readonly Resource[];
  readonly chain: readonly ChainEntry[];
  /** Whether the agent may change this program: then no rule allows it. */
  readonly project?: string;
  readonly canBeWritten?: (executable: string) => boolean;
}

/** Undefined: no rule would cover just this, or none would be enough, because a rule, a hook or the runtime asks. */
export function alwaysRule(about: AlwaysAbout): PermissionRule | undefined {
  const { tool_name, scopes, resources, chain } = about;
  if (!isAnsweredByRule(chain) || scopes.length === 0) return undefined;
  const paths = new Set<string>();
  const hosts = new Set<string>();
  let beginning: readonly string[] | undefined;
  for (const scope of scopes) {
    if (scope.kind === "input") return undefined;
    if (scope.kind === "argv_prefix") beginning = scope.argv;
    if (scope.kind === "directory") paths.add(`${escapeGlob(scope.path).replace(/\/$/, "")}/*`);
    if (scope.kind === "path") paths.add(escapeGlob(scope.path));
    if (scope.kind === "host") hosts.add(scope.host);
  }
  const commands = resources.filter((one) => one.kind === "command");
  const [command, ...more] = commands;
  const argv = beginning ?? command?.argv;
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
    ...(argv === undefined || beginning !== undefined ? {} : { argv, exact_argv: true }),
    // As the user chose: any rest, in any directory of the project.
    ...(beginning === undefined ? {} : { argv: [...beginning, "**"] }),
    ...(path === undefined || argv !== undefined ? {} : { path }),
    ...omitUndefined({ host }),
    decision: "allow",
  };
}

/** The defaults ask, or rules that would not if this very command were allowed (PERM-16). */
function isAnsweredByRule(chain: readonly ChainEntry[]): boolean {
  const asking = chain.find(({ decisive }) => decisive === true);
  if (asking?.layer === "defaults") return true;
  return (
    asking?.unspelled === true &&
    chain.every(
      ({ layer, verdict, unspelled }) =>
        verdict !== "ask" || unspelled === true || layer === "defaults",
    )
  );
}

/** A rule holds for no repository but the project's own, names a program by a bare word or an absolute path, and never one that the agent itself could have made. */
function isNameable(command: CommandResource, { canBeWritten, project }: AlwaysAbout): boolean {
  if (project !== undefined && command.cwd !== project && isBoundToProject(command)) return false;
  const {
    executable,
    argv: [program = ""],
    config_runs,
    fixed_program,
  } = command;
  if (config_runs?.foreign === true) return false;
  if (program.includes("/") && !program.startsWith("/")) return false;
  return fixed_program === true || canBeWritten?.(executable) !== true;
}
