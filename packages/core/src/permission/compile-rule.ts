// When a permission rule matches a call (CONF-4). Rules that restrict are read broadly and rules that
// allow narrowly, so that doubt never opens anything.

import {
  type Resource,
  type RestrictedAccess,
  type SandboxMode,
  isExactName,
  matchesName,
} from "../tool/index.ts";
import { type ArgvMatch, compileArgv } from "./argv-pattern.ts";
import type { Boundary } from "./boundary.ts";
import type { Decision } from "./decision.ts";
import type { CommandResource, PathResource, Subject } from "./facts.ts";
import { literalPrefix } from "./glob.ts";
import { matchesHost } from "./host.ts";
import { type PathPattern, type PatternPlaces, compilePathPattern } from "./path-pattern.ts";
import { type PermissionRule, entriesOfRule } from "./permission-rule.ts";

export interface CompiledRule {
  readonly rule: PermissionRule;
  /** Of a rule with a path. */
  readonly path: PathPattern | undefined;
  readonly entries: ReturnType<typeof entriesOfRule>;
  /** Names this very tool, which is what a dangerous one needs (PERM-7). */
  readonly names: (toolName: string) => boolean;
  readonly matches: (subject: Subject) => RuleMatch;
  /** Whether it restricts its paths for calls of this tool: what it says of reading, it says of all that shows contents. */
  readonly restricts: (subject: Subject, access: RestrictedAccess) => boolean;
  /** Which of its conditions the call does not meet; undefined where it matches. */
  readonly mismatch: (subject: Subject) => RuleCondition | undefined;
  /** How it wants a command to run (CMD-6). To leave the sandbox is read as narrowly as a rule that allows. */
  readonly sandboxOf: (command: Subject) => SandboxMode | undefined;
  /** Whether it lets a command in the sandbox reach its hosts, or keeps one from them, with any tool. */
  readonly opensHosts: (command: Subject) => boolean;
  readonly closesHosts: (command: Subject) => boolean;
}

/**
 * `maybe`: only a host that is not known is between this rule and the call. `reach`: the call runs a
 * program that may get at a path of this rule, and it is unknown whether it does. `masked`: it would, and the sandbox
 * hides the path from it.
 */
export type RuleMatch = ArgvMatch | "maybe" | "reach" | "masked";

export type RuleCondition =
  | "project"
  | "tool"
  | "tags"
  | "path"
  | "argv"
  | "host"
  | "other targets";

/** Compiles a rule that `ruleProblems` finds nothing wrong with. */
export function compileRule(
  rule: PermissionRule,
  id: string,
  places: PatternPlaces & { boundary: Boundary },
): CompiledRule {
  const { tool, tags, argv, host, decision, sandbox } = rule;
  const restricts = decision !== "allow";
  const holds = <T>(items: readonly T[], fits: (item: T) => boolean): boolean =>
    restricts ? items.some(fits) : ofEvery(items, fits);
  // Most rules are about another tool, which the beginning of the pattern mostly shows.
  const toolHead = tool?.split("*", 1)[0] ?? "";
  const path =
    rule.path === undefined
      ? undefined
      : compilePathPattern(rule.path, restricts ? "restricts" : "allows", places);
  const matchCommand =
    argv === undefined
      ? undefined
      : compileArgv(argv, decision, places.boundary, {
          isExact: rule.exact_argv,
          project: places.project,
        });

  const nameFits = (name: string): boolean =>
    name.startsWith(toolHead) && (tool === undefined || matchesName(tool, name));
  const tagsFit = (subject: Subject): boolean =>
    tags === undefined ||
    tags.every((tag) =>
      // To write a path is more than to be a tool that could: a call that only reads does not.
      tag === "write" && path !== undefined && restricts
        ? !subject.readOnly
        : hasTag(subject, tag, decision),
    );

  /** All but the path: of the call itself, or, where a rule restricts reading, of all that reads. */
  const mismatchOfTool = (subject: Subject): RuleCondition | undefined => {
    if (rule.project !== undefined && !isSameDirectory(rule.project, places.project)) {
      return "project";
    }
    if (!nameFits(subject.tool.tool_name)) return "tool";
    return tagsFit(subject) ? undefined : "tags";
  };

  /** Of writing alone: what a call only reads is no matter of this rule. */
  const isAboutWriting = tags?.includes("write") === true;
  /** A rule about a file tool that writes holds for all that a program writes (PERM-15). */
  const mismatchOfWriting = (subject: Subject): RuleCondition | undefined => {
    const ofTool = mismatchOfTool(subject);
    if (ofTool === undefined || !runsPrograms(subject)) return ofTool;
    return WRITING_SUBJECTS.some((one) => mismatchOfTool(one) === undefined) ? undefined : ofTool;
  };

  const unmet = (subject: Subject): { condition: RuleCondition } | { match: RuleMatch } => {
    const ofTool = mismatchOfTool(subject);
    // A rule about reading a path holds for everything that shows its content (PERM-15).
    const ofReading =
      ofTool === undefined || !restricts || path === undefined
        ? ofTool
        : mismatchOfTool(READING_SUBJECT);
    const ofWriting = restricts && path !== undefined ? mismatchOfWriting(subject) : ofTool;
    if (ofTool !== undefined && ofReading !== undefined && ofWriting !== undefined) {
      return { condition: ofTool };
    }
    if (path !== undefined) {
      const targets = subject.resources
        .filter((one) => one.kind === "path")
        .filter((one) => restricts || isOpening(one));
      const counting = targets.filter(
        (one) =>
          (ofTool === undefined && !(restricts && isAboutWriting)) ||
          (ofReading === undefined && showsContent(one)) ||
          (ofWriting === undefined && one.only_read !== true),
      );
      if (!holds(counting, (target) => pathFits(path, target, restricts))) {
        const { resources, isSandboxed } = subject;
        const isRead =
          restricts &&
          mismatchOfTool(READING_SUBJECT) === undefined &&
          resources.some((one) => mayReach(path, one));
        const isWritten =
          restricts && ofWriting === undefined && resources.some((one) => mayWrite(path, one));
        if (!isRead && !isWritten) return { condition: ofTool ?? "path" };
        if (argv !== undefined) return { condition: "argv" };
        // What a rule asks about writing stays open inside: the command may be meant to write it. Names that are not
        // there yet are kept free where the rule says them in full.
        const isMasked =
          isSandboxed &&
          (!isWritten || (decision === "deny" && path.globs.every(isLiteral))) &&
          !resources.some((one) => mayReachInside(path, one));
        return { match: isMasked ? "masked" : "reach" };
      }
    }
    const ofCommands =
      matchCommand === undefined ? "yes" : matchCommands(subject, decision, matchCommand);
    // A program that may leave the sandbox requires approval under its own name: a script that runs it inside does not leave. But
    // with `every_time` it requires approval inside, too: it may reach a host that is open there.
    const isInside =
      ofCommands === "opaque" &&
      sandbox === "off" &&
      rule.every_time !== true &&
      subject.isSandboxed;
    if (ofCommands === "no" || isInside) return { condition: "argv" };
    if (decision === "allow" && leavesTargetsOpen(rule, subject)) {
      return { condition: "other targets" };
    }
    const ofHosts = host === undefined ? "yes" : hostFits(host, subject, decision);
    if (ofHosts === "no") return { condition: "host" };
    return { match: ofHosts === "yes" ? ofCommands : ofHosts };
  };

  const inSandbox =
    sandbox === undefined
      ? undefined
      : compileRule(
          { ...rule, sandbox: undefined, decision: sandbox === "off" ? "allow" : "deny" },
          id,
          places,
        );
  const fitsCommand = (command: Subject): boolean =>
    matchCommand === undefined || SURE.has(matchCommands(command, decision, matchCommand));

  return Object.freeze<CompiledRule>({
    rule,
    path,
    entries: entriesOfRule(rule, id),
    names: (toolName: string) => tool !== undefined && isExactName(tool) && tool === toolName,
    matches(subject: Subject): RuleMatch {
      const found = unmet(subject);
      return "match" in found ? found.match : "no";
    },
    restricts(subject: Subject, access: RestrictedAccess): boolean {
      if (!restricts || path === undefined || argv !== undefined || host !== undefined)
        return false;
      if (access === "write") return mismatchOfWriting(subject) === undefined;
      if (mismatchOfTool(subject) === undefined && !isAboutWriting) return true;
      return showsContent({ access }) && mismatchOfTool(READING_SUBJECT) === undefined;
    },
    mismatch(subject: Subject): RuleCondition | undefined {
      const found = unmet(subject);
      return "match" in found ? undefined : found.condition;
    },
    sandboxOf(command) {
      const match = inSandbox?.matches(command) ?? "no";
      const isMeant = sandbox === "off" ? SURE.has(match) : match !== "no";
      return isMeant ? sandbox : undefined;
    },
    opensHosts: (command) =>
      host !== undefined &&
      decision === "allow" &&
      path === undefined &&
      mismatchOfTool(command) === undefined &&
      fitsCommand(command),
    closesHosts: (command) =>
      host !== undefined &&
      restricts &&
      (rule.project === undefined || isSameDirectory(rule.project, places.project)) &&
      (matchCommand === undefined || matchCommands(command, decision, matchCommand) !== "no"),
  });
}

/** The command is one that the rule is meant for, beyond doubt. */
const SURE: ReadonlySet<RuleMatch> = new Set<RuleMatch>(["yes", "spelled", "whole"]);

/** A call that reads one path and does nothing else: what a rule says of it, it says of every way to read. */
export const READING_SUBJECT: Subject = Object.freeze<Subject>({
  tool: {
    tool_name: "code.read_file",
    permission: "readonly",
    tags: ["code", "readonly", "filesystem"],
    source_kind: "code",
    source_id: "code",
    effects: { read_only: true, concurrency_safe: true, destructive: false, open_world: false },
  },
  readOnly: true,
  destructive: false,
  dangerous: false,
  network: false,
  resources: [],
  malformed: undefined,
  hosts: { known: [], unknown: false },
  isSandboxed: false,
});

/** The same for calls that write one path. */
const WRITING_SUBJECTS: readonly Subject[] = ["code.write_file", "code.edit_file"].map(
  (tool_name) => ({
    ...READING_SUBJECT,
    tool: {
      ...READING_SUBJECT.tool,
      tool_name,
      permission: "write",
      tags: ["code", "write", "filesystem"],
    },
    readOnly: false,
  }),
);

function runsPrograms({ tool }: Subject): boolean {
  return tool.tags.includes("shell");
}

function isSameDirectory(one: string, other: string | undefined): boolean {
  return other !== undefined && one.replace(/(?<=.)\/+$/, "") === other.replace(/(?<=.)\/+$/, "");
}

function showsContent({ access }: Pick<PathResource, "access">): boolean {
  return access === "read" || access === "search";
}

/** A path that was only found in an input says nothing of what the call does beside it. */
function isOpening({ only_restricts }: PathResource): boolean {
  return only_restricts !== true;
}

function pathFits(pattern: PathPattern, target: PathResource, restricts: boolean): boolean {
  if (pattern.matches(target.path, target.ignores_case)) return true;
  return (
    restricts && (target.also ?? []).some((name) => pattern.matches(name, target.ignores_case))
  );
}

function mayReach(pattern: PathPattern, resource: Resource): boolean {
  return (
    resource.kind !== "host" && (resource.may_reach ?? []).some((path) => pattern.matches(path))
  );
}

function mayReachInside(pattern: PathPattern, resource: Resource): boolean {
  return (
    resource.kind === "command" &&
    (resource.reach_inside ?? []).some((path) => pattern.matches(path))
  );
}

/** One path, with all that is below it. */
function isLiteral(glob: string): boolean {
  return ["", "**"].includes(literalPrefix(glob).rest);
}

function mayWrite(pattern: PathPattern, resource: Resource): boolean {
  return (
    resource.kind === "command" && (resource.may_write ?? []).some((path) => pattern.matches(path))
  );
}

/**
 * A rule that names no tool but says where (`path = "src/**"`) was not written with a call in mind that
 * also runs a program or sends what it read to some host.
 */
function leavesTargetsOpen(rule: PermissionRule, subject: Subject): boolean {
  const { tool = "*", path, argv, host } = rule;
  const saysWhere = path !== undefined || argv !== undefined || host !== undefined;
  if (tool !== "*" || !saysWhere) return false;
  const kinds = new Set(subject.resources.map(({ kind }) => kind));
  return (
    (path === undefined && kinds.has("path")) ||
    (argv === undefined && kinds.has("command")) ||
    (host === undefined && subject.network)
  );
}

/** An allow holds of every command, what restricts of any. */
function matchCommands(
  subject: Subject,
  decision: Decision,
  matchCommand: (command: CommandResource) => ArgvMatch,
): ArgvMatch {
  const matches = subject.resources.filter((one) => one.kind === "command").map(matchCommand);
  const weakestFirst: readonly ArgvMatch[] =
    decision === "allow"
      ? ["no", "uncovered", "beyond", "yes", "spelled", "whole"]
      : ["yes", "opaque"];
  const match = weakestFirst.find((one) => matches.includes(one)) ?? "no";
  // What is known to only read is known to run nothing else.
  return match === "opaque" && subject.readOnly ? "no" : match;
}

function ofEvery<T>(items: readonly T[], fits: (item: T) => boolean): boolean {
  return items.length > 0 && items.every(fits);
}

/** `readonly` and `write` are about the call where they would allow, and about tool or call otherwise. */
function hasTag(subject: Subject, tag: string, decision: Decision): boolean {
  if (tag === "readonly" && subject.readOnly) return true;
  if (tag === "readonly" && decision === "allow") return false;
  if (tag === "write" && !subject.readOnly) return true;
  return tag === subject.tool.source_kind || subject.tool.tags.includes(tag);
}

function hostFits(pattern: string, subject: Subject, decision: Decision): "yes" | "no" | "maybe" {
  const { known, unknown } = subject.hosts;
  const fits = (host: string): boolean => matchesHost(pattern, host);
  if (decision === "allow") return !unknown && ofEvery(known, fits) ? "yes" : "no";
  if (known.some(fits)) return "yes";
  return unknown ? "maybe" : "no";
}
