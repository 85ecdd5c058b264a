// The scopes of one call: every target it has, as narrow as the user would have meant them. A target
// outside the ordinary (another place, a secret) is covered only by a grant for itself (PATH-2).

import {
  type CommandResource,
  type PathResource,
  type PermissionFacts,
  type Subject,
} from "./facts.ts";
import { type GrantLookup, type GrantScope, scopeKey, type ToolGrant } from "./grants.ts";
import { findParent } from "./path.ts";
import type { Policy } from "./policy.ts";
import { subjectUnder } from "./sandbox.ts";
import { isWrittenByAgent } from "./argv-pattern.ts";
import { coveringPrefixes, findPrefix, isPlainCommand } from "./argv/index.ts";
import type { ChainEntry, Judgement } from "./decision.ts";
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
  return isForItselfOnly(policy, command) || !isPlainCommand(argv[0] ?? "", executable)
    ? { kind: "argv", executable, argv: [...argv], cwd }
    : { kind: "executable", executable, cwd };
}

/** What it may reach without naming it was allowed for these arguments only, and a program that the agent may write can be any. */
function isForItselfOnly({ boundary }: Policy, command: CommandResource): boolean {
  const { may_reach = [], may_write = [], config_runs } = command;
  const isBound = may_reach.length > 0 || may_write.length > 0 || config_runs?.foreign === true;
  return isBound || isWrittenByAgent(command, boundary);
}

/** Other scopes than its own that cover a command. `beginnings`: also grants for how it begins. */
export function otherScopes(
  policy: Policy,
  subject: Subject,
  { beginnings }: { readonly beginnings: boolean },
): (scope: GrantScope) => readonly GrantScope[] {
  return (scope) => {
    if (scope.kind !== "argv" && scope.kind !== "executable") return [];
    const command = findCommand(subject, scope);
    if (command === undefined) return [];
    const { executable, argv, cwd } = command;
    const exact: GrantScope = { kind: "argv", executable, argv: [...argv], cwd };
    if (scope.kind === "executable") return [exact];
    if (!beginnings || !canHavePrefix(policy, command)) return [];
    return coveringPrefixes(argv, executable).map((words) => toPrefix(command, words));
  };
}

function canHavePrefix(policy: Policy, command: CommandResource): boolean {
  return command.config_runs === undefined && !isForItselfOnly(policy, command);
}

function toPrefix(
  { executable, cwd }: Pick<CommandResource, "executable" | "cwd">,
  words: readonly string[],
): GrantScope {
  return { kind: "argv_prefix", executable, argv: [...words], cwd };
}

/** A call runs one command, or it has no choice. */
function findCommand(subject: Subject, scope: GrantScope): CommandResource | undefined {
  const [command, ...more] = subject.resources.filter((one) => one.kind === "command");
  const isOf = "executable" in scope && scope.executable === command?.executable;
  return more.length === 0 && isOf && scope.cwd === command.cwd ? command : undefined;
}

/** What a yes for the session may cover instead of what it covers by default: as the user chooses. */
export interface ScopeChoice {
  /** What an answer names it by. `program`: with any arguments. */
  readonly id: "exact" | "prefix" | "program";
  readonly scopes: readonly GrantScope[];
}

/** The default first. Empty where there is nothing to choose. */
export function scopeChoices(
  policy: Policy,
  facts: PermissionFacts,
  { scopes, chain }: Pick<Judgement, "scopes" | "chain">,
): readonly ScopeChoice[] {
  const own = scopes.find(({ kind }) => kind === "argv" || kind === "executable");
  const command = own && findCommand(subjectUnder(policy, facts), own);
  if (own === undefined || command === undefined) return [];
  const { executable, argv, cwd } = command;
  const instead = (scope: GrantScope) => scopes.map((one) => (one === own ? scope : one));
  if (own.kind === "executable") {
    const exact: GrantScope = { kind: "argv", executable, argv: [...argv], cwd };
    return [
      { id: "program", scopes },
      { id: "exact", scopes: instead(exact) },
    ];
  }
  const isOpen = isAskedByDefault(chain) && canHavePrefix(policy, command);
  const words = isOpen ? findPrefix(argv, executable) : undefined;
  if (words === undefined) return [];
  return [
    { id: "exact", scopes },
    { id: "prefix", scopes: instead(toPrefix(command, words)) },
  ];
}

/**
 * The grant that answers a question which was put elsewhere, as `evaluate` finds the one for a call: what the question offers says
 * what its policy lets a grant cover.
 */
export function findGrantForQuestion(
  grants: GrantLookup,
  question: {
    readonly tool_name: string;
    readonly scopes: readonly GrantScope[];
    readonly scope_choices?: readonly ScopeChoice[];
  },
): ToolGrant | undefined {
  const { tool_name, scopes, scope_choices = [] } = question;
  const offered = (wanted: ScopeChoice["id"]): readonly GrantScope[] =>
    scope_choices.find(({ id }) => id === wanted)?.scopes ?? [];
  return grants.covers(tool_name, scopes, (scope) => {
    if (scope.kind === "executable") return offered("exact").filter(({ kind }) => kind === "argv");
    // Offered only where a grant for a beginning counts.
    if (scope.kind !== "argv" || offered("prefix").length === 0) return [];
    return coveringPrefixes(scope.argv, scope.executable).map((words) => toPrefix(scope, words));
  });
}

/** Where a rule, a hook or the runtime asks, the user has to have seen these very arguments. */
export function isAskedByDefault(chain: readonly ChainEntry[]): boolean {
  return chain.every(
    ({ verdict, layer, rule }) =>
      verdict !== "ask" ||
      layer === "defaults" ||
      (layer === "ceiling" && rule.replace(/^(?:ceiling\/)+/, "").startsWith("defaults/")),
  );
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
