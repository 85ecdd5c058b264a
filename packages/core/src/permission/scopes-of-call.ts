// The scopes of one call: every target it has, as narrow as the user would have meant them. A target
// outside the ordinary (another place, a secret) is covered only by a grant for itself (PATH-2).

import {
  type CommandResource,
  type PathResource,
  type PermissionFacts,
  type Subject,
} from "./facts.ts";
import { type GrantScope, scopeKey } from "./grants.ts";
import { findParent } from "./path.ts";
import { type Policy, subjectUnder } from "./policy.ts";
import { isWrittenByAgent } from "./argv-pattern.ts";
import { isPlainCommand } from "./argv/index.ts";
import { selfRunningBy } from "./self-running-files.ts";

/** Empty when the call has no target that could be named: then nothing can be granted. */
export function findScopes(policy: Policy, facts: PermissionFacts): readonly GrantScope[] {
  return scopesOfSubject(policy, subjectUnder(policy, facts), facts.input_digest);
}

export function scopesOfSubject(
  policy: Policy,
  subject: Subject,
  inputDigest: (() => string) | undefined,
): readonly GrantScope[] {
  const scopes: GrantScope[] = [];
  for (const resource of subject.resources) {
    if (resource.kind === "path") scopes.push(scopeOfPath(policy, resource));
    else if (resource.kind === "command") scopes.push(scopeOfCommand(policy, resource));
  }
  for (const host of subject.hosts.known) scopes.push({ kind: "host", host });
  if (subject.tool.source_kind === "mcp") {
    // A server names no targets: the tool itself is the narrowest there is, beside the hosts we know.
    if (subject.resources.length === 0) scopes.push(scopeOfServerTool(subject));
  } else if (scopes.length === 0 || subject.hosts.unknown) {
    const digest = digestOrNothing(inputDigest);
    // Without a digest the unknown part cannot be named, so there is nothing to grant.
    if (digest === undefined) return [];
    scopes.push({ kind: "input", digest });
  }
  return distinct(scopes);
}

function scopeOfPath(policy: Policy, resource: PathResource): GrantScope {
  const { path, access } = resource;
  const wholeDirectory =
    (access === "read" || access === "write") &&
    resource.sensitive !== true &&
    resource.self_running === undefined &&
    isOrdinary(policy, path, access);
  return wholeDirectory
    ? { kind: "directory", path: findParent(path), access }
    : { kind: "path", path, access };
}

function isOrdinary(policy: Policy, path: string, access: "read" | "write"): boolean {
  const { boundary, ceiling } = policy;
  if (boundary.sensitiveBy(path) !== undefined) return false;
  if (access === "write" && selfRunningBy(path) !== undefined) return false;
  const inside = access === "read" ? boundary.inProject(path) : boundary.isOrdinaryWrite(path);
  return inside !== false && (ceiling === undefined || isOrdinary(ceiling, path, access));
}

function scopeOfCommand(policy: Policy, command: CommandResource): GrantScope {
  const { executable, argv, cwd } = command;
  const anything =
    // What it may reach without naming it was allowed for these arguments only.
    [...(command.may_reach ?? []), ...(command.may_write ?? [])].length > 0 ||
    !isPlainCommand(argv[0] ?? "", executable) ||
    isWrittenByAgent(command, policy.boundary);
  return anything
    ? { kind: "argv", executable, argv: [...argv], cwd }
    : { kind: "executable", executable, cwd };
}

function scopeOfServerTool(subject: Subject): GrantScope {
  const { source_id, tool_name } = subject.tool;
  const prefix = `mcp.${source_id}.`;
  const own = tool_name.startsWith(prefix) ? tool_name.slice(prefix.length) : tool_name;
  return { kind: "server_tool", server_id: source_id, tool_name: own };
}

function digestOrNothing(inputDigest: (() => string) | undefined): string | undefined {
  try {
    return inputDigest?.();
  } catch {
    return undefined;
  }
}

function distinct(scopes: readonly GrantScope[]): readonly GrantScope[] {
  if (scopes.length < 2) return scopes;
  return [...new Map(scopes.map((scope) => [scopeKey(scope), scope])).values()];
}
