// The grants of one session (PERM-5): kept in memory, shared by its agents, listed and revocable. A
// grant is found by tool and target together, so no yes reaches further than it was meant.

import type { PathResource } from "./facts.ts";
import { quote } from "./path.ts";

export interface ToolGrant {
  readonly grant_id: string;
  readonly tool_name: string;
  readonly scopes: readonly GrantScope[];
  readonly session_id: string;
  readonly granted_by: string;
  readonly granted_at: string;
  /** The call that required approval. */
  readonly tool_call_id: string;
  readonly agent_id: string;
}

export interface Grants {
  /** A grant with an id already in the book replaces it. */
  add(grant: ToolGrant): void;
  revoke(grantId: string): ToolGrant | undefined;
  /** In the order they were given. */
  list(): ToolGrant[];
  /** A grant behind the yes when every scope has one, or another scope that covers it; they need not be the same. */
  covers(
    toolName: string,
    scopes: readonly GrantScope[],
    others?: (scope: GrantScope) => readonly GrantScope[],
  ): ToolGrant | undefined;
}

export type GrantLookup = Pick<Grants, "covers">;

export const NO_GRANTS: GrantLookup = Object.freeze({ covers: () => undefined });

export function createGrants(): Grants {
  const book = new Map<string, ToolGrant>();
  const byTarget = new Map<string, ToolGrant[]>();

  function revoke(grantId: string): ToolGrant | undefined {
    const grant = book.get(grantId);
    if (grant === undefined) return undefined;
    book.delete(grantId);
    for (const target of collectTargets(grant)) {
      const others = (byTarget.get(target) ?? []).filter((other) => other !== grant);
      if (others.length === 0) byTarget.delete(target);
      else byTarget.set(target, others);
    }
    return grant;
  }

  return {
    revoke,
    add(given) {
      revoke(given.grant_id);
      const grant = Object.freeze({
        ...given,
        scopes: Object.freeze(given.scopes.map(frozenCopy)),
      });
      book.set(grant.grant_id, grant);
      for (const target of collectTargets(grant)) {
        byTarget.set(target, [...(byTarget.get(target) ?? []), grant]);
      }
    },
    list: () => [...book.values()],
    covers(toolName, scopes, others = () => []) {
      const grantOf = (scope: GrantScope) => byTarget.get(targetKey(toolName, scope))?.[0];
      let found: ToolGrant | undefined;
      for (const scope of scopes) {
        let grant = grantOf(scope);
        for (const other of grant === undefined ? others(scope) : []) grant ??= grantOf(other);
        if (grant === undefined) return undefined;
        found ??= grant;
      }
      return found;
    },
  };
}

function collectTargets(grant: ToolGrant): Set<string> {
  return new Set(grant.scopes.map((scope) => targetKey(grant.tool_name, scope)));
}

/** Names hold no line breaks, so the parts cannot run into each other. */
function targetKey(toolName: string, scope: GrantScope): string {
  return `${toolName}\n${scopeKey(scope)}`;
}

function frozenCopy(scope: GrantScope): GrantScope {
  return Object.freeze("argv" in scope ? { ...scope, argv: [...scope.argv] } : { ...scope });
}

type Access = PathResource["access"];

export type GrantScope =
  /** Files directly in it, not below. */
  | { kind: "directory"; path: string; access: Access }
  | { kind: "path"; path: string; access: Access }
  | { kind: "host"; host: string }
  | { kind: "executable"; executable: string; cwd: string }
  | { kind: "argv"; executable: string; argv: string[]; cwd: string }
  /** Commands that begin with these words, as far as what follows chooses no other code. */
  | { kind: "argv_prefix"; executable: string; argv: string[]; cwd: string }
  | { kind: "server_tool"; server_id: string; tool_name: string }
  /** This very input: for a tool that names no target. */
  | { kind: "input"; digest: string };

/** Different for different scopes, with any characters in them. */
export function scopeKey(scope: GrantScope): string {
  return JSON.stringify([scope.kind, ...toTarget(scope)]);
}

/** What exactly allow_for_session would cover, as a sentence. */
export function describeScopes(toolName: string, scopes: readonly GrantScope[]): string {
  if (scopes.length === 0) return `${quote(toolName)} can only be allowed for this one call.`;
  const covered = scopes.map(describeScope).join("; and ");
  return `For the rest of the session, ${quote(toolName)} may ${covered}.`;
}

function toTarget(scope: GrantScope): unknown[] {
  switch (scope.kind) {
    case "directory":
    case "path":
      return [scope.access, scope.path];
    case "host":
      return [scope.host];
    case "executable":
      return [scope.executable, scope.cwd];
    case "argv":
    case "argv_prefix":
      return [scope.executable, scope.argv, scope.cwd];
    case "server_tool":
      return [scope.server_id, scope.tool_name];
    case "input":
      return [scope.digest];
  }
}

function describeScope(scope: GrantScope): string {
  switch (scope.kind) {
    case "directory":
      return `${scope.access} files directly in ${quote(scope.path)}`;
    case "path":
      return `${scope.access} exactly ${quote(scope.path)}`;
    case "host":
      return `reach the host ${quote(scope.host)}`;
    case "executable":
      return `run ${quote(scope.executable)} with any arguments in ${quote(scope.cwd)}`;
    case "argv":
      return `run exactly ${scope.argv.map(quote).join(" ")} (${quote(scope.executable)}) in ${quote(scope.cwd)}`;
    case "argv_prefix":
      return `run commands that begin with ${scope.argv.map(quote).join(" ")} (${quote(scope.executable)}) in ${quote(scope.cwd)}, with further arguments that name nothing outside the project`;
    case "server_tool":
      return `call ${quote(scope.tool_name)} of the server ${quote(scope.server_id)} with any input`;
    case "input":
      return "be called again with exactly this input";
  }
}
