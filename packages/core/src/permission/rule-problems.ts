// What can be wrong with a rule as somebody wrote it (CONF-2, CONF-4). A rule that could never match is
// an error here, because a deny that silently matches nothing is the worst way to be wrong.

import { isRecord } from "@soong/schema";
import {
  type PolicyProblem,
  kindOf,
  oneOfProblem,
  textProblem,
  unknownKeys,
  wordsProblem,
} from "./field-problems.ts";
import { hostPatternProblem } from "./host.ts";
import { pathPatternProblem } from "./path-pattern.ts";

export function ruleProblems(
  rule: unknown,
  field: string,
  places: { project?: string; home?: string },
): PolicyProblem[] {
  if (!isRecord(rule)) return [{ field, message: "is not a rule: an object with a decision" }];
  const problems = unknownKeys(rule, RULE_KEYS, field, "a rule");
  const check = (key: string, problem: string | undefined): void => {
    if (problem !== undefined) problems.push({ field: `${field}.${key}`, message: problem });
  };
  check("decision", oneOfProblem(rule.decision, DECISIONS));
  if (rule.tool !== undefined) check("tool", toolPatternProblem(rule.tool));
  if (rule.tags !== undefined) check("tags", wordsProblem(rule.tags));
  if (rule.path !== undefined)
    check(
      "path",
      textProblem(rule.path, (text) => pathPatternProblem(text, places)),
    );
  if (rule.argv !== undefined) check("argv", argvProblem(rule.argv));
  if (rule.exact_argv !== undefined) check("exact_argv", exactArgvProblem(rule));
  if (rule.project !== undefined) check("project", textProblem(rule.project, projectProblem));
  if (rule.host !== undefined) check("host", textProblem(rule.host, hostPatternProblem));
  if (rule.reason !== undefined) check("reason", textProblem(rule.reason));
  if (rule.every_time !== undefined) check("every_time", everyTimeProblem(rule));
  if (rule.origin !== undefined) problems.push(...originProblems(rule.origin, `${field}.origin`));
  if (CONDITIONS.every((key) => rule[key] === undefined)) {
    problems.push({ field, message: 'has no condition; write tool = "*" to mean every call' });
  }
  return problems;
}

export function toolPatternProblem(pattern: unknown): string | undefined {
  return textProblem(pattern, (text) => {
    if (/[\s\p{C}]/u.test(text)) return "contains white space or a control character";
    if (text.includes(".") || text.includes("*")) return undefined;
    return 'has no dot; canonical names are dotted, such as "code.read_file" or "code.*"';
  });
}

const DECISIONS = ["allow", "ask", "deny"] as const;
const CONDITIONS = ["tool", "tags", "path", "argv", "host"] as const;
const RULE_KEYS = [
  ...CONDITIONS,
  "exact_argv",
  "project",
  "decision",
  "reason",
  "every_time",
  "origin",
] as const;

function argvProblem(value: unknown): string | undefined {
  const problem = wordsProblem(value);
  if (problem !== undefined) return problem;
  const items = value as readonly string[];
  if (items.slice(0, -1).includes("**")) return 'has "**" before its end';
  const starred = items.find((item) => item.includes("*") && item !== "*" && item !== "**");
  if (starred !== undefined) {
    return `has the item ${JSON.stringify(starred)}; "*" stands for one whole item only`;
  }
  const program = items[0] ?? "";
  return program.includes("/") && !program.startsWith("/")
    ? `begins with ${JSON.stringify(program)}; name the program by a bare word or its absolute path`
    : undefined;
}

function exactArgvProblem(rule: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof rule.exact_argv !== "boolean")
    return `is ${kindOf(rule.exact_argv)}, not true or false`;
  if (!rule.exact_argv) return undefined;
  if (!Array.isArray(rule.argv)) return "belongs to a rule with an argv";
  return rule.argv.at(-1) === "**" ? 'contradicts the "**" at the end of its argv' : undefined;
}

function projectProblem(path: string): string | undefined {
  return path.startsWith("/") ? undefined : "is not an absolute path";
}

function everyTimeProblem(rule: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof rule.every_time !== "boolean")
    return `is ${kindOf(rule.every_time)}, not true or false`;
  return rule.every_time && rule.decision !== "ask"
    ? 'belongs to a rule with decision = "ask" only'
    : undefined;
}

function originProblems(origin: unknown, field: string): PolicyProblem[] {
  if (!isRecord(origin)) return [{ field, message: `is ${kindOf(origin)}, not an object` }];
  const problems = unknownKeys(origin, ["file", "line", "flag", "code"], field, "an origin");
  for (const key of ["file", "flag", "code"]) {
    const problem = origin[key] === undefined ? undefined : textProblem(origin[key]);
    if (problem !== undefined) problems.push({ field: `${field}.${key}`, message: problem });
  }
  if (origin.line !== undefined && !Number.isSafeInteger(origin.line)) {
    problems.push({ field: `${field}.line`, message: "is not a line number" });
  }
  return problems;
}
