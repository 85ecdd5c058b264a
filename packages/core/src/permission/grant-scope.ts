// What one yes for the session covers (PERM-5): never a tool as such, always a target of it. Two calls
// have the same scope exactly when their keys are equal.

import type { Resource } from "../tool/index.ts";
import { quote } from "./quote.ts";

type Access = Extract<Resource, { kind: "path" }>["access"];

export type GrantScope =
  /** Files directly in it, not below. */
  | { kind: "directory"; path: string; access: Access }
  | { kind: "path"; path: string; access: Access }
  | { kind: "host"; host: string }
  | { kind: "executable"; executable: string; cwd: string }
  | { kind: "argv"; executable: string; argv: string[]; cwd: string }
  | { kind: "server_tool"; server_id: string; tool_name: string }
  /** This very input: for a tool that names no target. */
  | { kind: "input"; digest: string };

/** Different for different scopes, whatever characters they hold. */
export function scopeKey(scope: GrantScope): string {
  return JSON.stringify([scope.kind, ...targetOf(scope)]);
}

/** What exactly allow_for_session would cover, as a sentence. */
export function describeScopes(toolName: string, scopes: readonly GrantScope[]): string {
  if (scopes.length === 0) return `${quote(toolName)} can only be allowed for this one call.`;
  const covered = scopes.map(describeScope).join("; and ");
  return `For the rest of the session, ${quote(toolName)} may ${covered}.`;
}

function targetOf(scope: GrantScope): unknown[] {
  switch (scope.kind) {
    case "directory":
    case "path":
      return [scope.access, scope.path];
    case "host":
      return [scope.host];
    case "executable":
      return [scope.executable, scope.cwd];
    case "argv":
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
    case "server_tool":
      return `call ${quote(scope.tool_name)} of the server ${quote(scope.server_id)} with any input`;
    case "input":
      return "be called again with exactly this input";
  }
}
