// When a permission rule matches a call (CONF-4). Rules that restrict are read broadly and rules that
// allow narrowly, so that doubt never opens anything.

import type { Resource } from "../tool/index.ts";
import { isExactName, matchesName } from "../tool/index.ts";
import type { Boundary } from "./boundary.ts";
import type { Decision } from "./decision.ts";
import type { Subject } from "./facts.ts";
import { compileGlob, escapeGlob, isLiteralGlob } from "./glob.ts";
import { matchesHost } from "./host.ts";
import { baseName, joined } from "./path.ts";
import type { PermissionRule, RuleEntries } from "./permission-rule.ts";
import { entriesOfRule } from "./permission-rule.ts";

export interface CompiledRule {
  readonly rule: PermissionRule;
  readonly entries: RuleEntries;
  /** `maybe`: only a host that is not known stands between this rule and the call. */
  matches(subject: Subject): "yes" | "no" | "maybe";
  /** Names this very tool, which is what a dangerous one needs (PERM-7). */
  names(toolName: string): boolean;
}

/** Compiles a rule that `ruleProblems` finds nothing wrong with. */
export function compileRule(
  rule: PermissionRule,
  id: string,
  places: { boundary: Boundary; project?: string; home?: string },
): CompiledRule {
  const { tool, tags, argv, host, decision } = rule;
  const holds = decision === "allow" ? ofEvery : ofAny;
  // Most rules speak of another tool, which the beginning of the pattern mostly tells.
  const toolHead = tool?.split("*", 1)[0] ?? "";
  const pathFits = rule.path === undefined ? undefined : compilePath(rule.path, decision, places);
  const commandFits =
    argv === undefined
      ? undefined
      : (command: Command) => argvFits(argv, command, decision, places.boundary);

  return Object.freeze({
    rule,
    entries: entriesOfRule(rule, id),
    names: (toolName: string) => tool !== undefined && isExactName(tool) && tool === toolName,
    matches(subject: Subject) {
      if (!subject.tool.tool_name.startsWith(toolHead)) return "no";
      if (tool !== undefined && !matchesName(tool, subject.tool.tool_name)) return "no";
      if (tags !== undefined && !tags.every((tag) => hasTag(subject, tag, decision))) return "no";
      if (pathFits !== undefined && !holds(subject.resources.filter(isPath), pathFits)) return "no";
      if (commandFits !== undefined && !holds(subject.resources.filter(isCommand), commandFits)) {
        return "no";
      }
      if (decision === "allow" && leavesTargetsOpen(rule, subject)) return "no";
      return host === undefined ? "yes" : hostFits(host, subject, decision);
    },
  });
}

/**
 * A rule that names no tool but says where (`path = "src/**"`) was not written with a call in mind that
 * also runs a program or sends what it read to some host.
 */
function leavesTargetsOpen(rule: PermissionRule, subject: Subject): boolean {
  const { tool = "*", path, argv, host } = rule;
  const saysWhere = path !== undefined || argv !== undefined || host !== undefined;
  if (tool !== "*" || !saysWhere) return false;
  return (
    (path === undefined && subject.resources.some(isPath)) ||
    (argv === undefined && subject.resources.some(isCommand)) ||
    (host === undefined && subject.network)
  );
}

type PathResource = Extract<Resource, { kind: "path" }>;
type Command = Extract<Resource, { kind: "command" }>;

function isPath(resource: Resource): resource is PathResource {
  return resource.kind === "path";
}

function isCommand(resource: Resource): resource is Command {
  return resource.kind === "command";
}

function ofEvery<T>(items: readonly T[], fits: (item: T) => boolean): boolean {
  return items.length > 0 && items.every(fits);
}

function ofAny<T>(items: readonly T[], fits: (item: T) => boolean): boolean {
  return items.some(fits);
}

/** `readonly` and `write` speak of the call where they would allow, and of tool or call otherwise. */
function hasTag(subject: Subject, tag: string, decision: Decision): boolean {
  if (tag === "readonly" && subject.readOnly) return true;
  if (tag === "readonly" && decision === "allow") return false;
  if (tag === "write" && !subject.readOnly) return true;
  return tag === subject.tool.source_kind || subject.tool.tags.includes(tag);
}

function compilePath(
  pattern: string,
  decision: Decision,
  places: { boundary: Boundary; project?: string; home?: string },
): (resource: PathResource) => boolean {
  const glob = absoluteGlob(pattern, places);
  const { fold } = places.boundary;
  const matches = compileGlob(fold(glob));
  // To restrict a directory is to restrict what is in it.
  const below =
    decision !== "allow" && isLiteralGlob(glob) ? compileGlob(fold(`${glob}/**`)) : undefined;
  return (resource) => {
    const path = fold(resource.path);
    return matches(path) || (below?.(path) ?? false);
  };
}

export function absoluteGlob(pattern: string, places: { project?: string; home?: string }): string {
  if (pattern.startsWith("/")) return pattern;
  return pattern.startsWith("~/")
    ? joined(escapeGlob(places.home ?? "/"), pattern.slice(2))
    : joined(escapeGlob(places.project ?? "/"), pattern);
}

function argvFits(
  pattern: readonly string[],
  command: Command,
  decision: Decision,
  boundary: Boundary,
): boolean {
  const wanted = pattern.at(-1) === "**" ? pattern.slice(0, -1) : pattern;
  if (command.argv.length < wanted.length) return false;
  const [program = "*", ...rest] = wanted;
  const programFits = decision === "allow" ? isSurelyProgram : isPossiblyProgram;
  if (!programFits(program, command, boundary)) return false;
  return rest.every((item, index) => item === "*" || item === command.argv[index + 1]);
}

/** For an allow: a bare word found on the PATH, outside every place the agent itself may write to. */
function isSurelyProgram(pattern: string, command: Command, boundary: Boundary): boolean {
  const given = command.argv[0] ?? "";
  if (pattern.startsWith("/")) return pattern === given;
  if (given.includes("/") || boundary.isOrdinaryWrite(command.executable) === true) return false;
  return pattern === "*" || pattern === given;
}

/** For ask and deny: whatever name the program was given or really has. */
function isPossiblyProgram(pattern: string, command: Command, boundary: Boundary): boolean {
  if (pattern === "*") return true;
  const given = command.argv[0] ?? "";
  const names = [given, baseName(given), command.executable, baseName(command.executable)];
  return names.some((name) => boundary.fold(name) === boundary.fold(pattern));
}

function hostFits(pattern: string, subject: Subject, decision: Decision): "yes" | "no" | "maybe" {
  const { known, unknown } = subject.hosts;
  const fits = (host: string): boolean => matchesHost(pattern, host);
  if (decision === "allow") return !unknown && ofEvery(known, fits) ? "yes" : "no";
  if (known.some(fits)) return "yes";
  return unknown ? "maybe" : "no";
}
