// What can be wrong with a policy as it was written (CONF-2, CONF-4): every problem at once, each with its field and words that
// follow the field's name. A rule that could never match is an error, because a deny that silently matches nothing is the
// worst way to be wrong.

import { isRecord, nearestName } from "@soong/schema";
import { SANDBOX_MODES } from "../tool/index.ts";
import { MODES } from "./decision.ts";
import { hostPatternProblem } from "./host.ts";
import { pathPatternProblem } from "./path-pattern.ts";
import { pathProblem } from "./path.ts";
import { sensitivePatternProblem } from "./sensitive-paths.ts";

export interface PolicyProblem {
  /** Where, such as `rules[2].decision`. */
  field: string;
  message: string;
}

export function policyProblems(
  input: unknown,
  isPolicy: (value: unknown) => boolean,
): PolicyProblem[] {
  if (!isRecord(input)) return [{ field: "", message: "is not a policy: an object" }];
  const { roots, home } = input;
  const project = isRecord(roots) ? roots.project : undefined;
  const places = {
    ...(pathProblem(project) === undefined ? { project: project as string } : {}),
    ...(pathProblem(home) === undefined ? { home: home as string } : {}),
  };
  const checkPolicy = record("a policy", {
    mode: checkOneOf(...MODES),
    destructive: checkOneOf("ask", "deny"),
    read_only_commands: checkOneOf("allow", "ask"),
    network: checkNetwork,
    sandbox: record("sandbox", {
      mode: checkOneOf(...SANDBOX_MODES),
      auto_allow: BOOLEAN,
      tools: checkSandboxedTools,
    }),
    roots: record("roots", { project: one(pathProblem), write: PATHS }, ["project", "write"]),
    protected_roots: PATHS,
    sensitive_paths: list(text((pattern) => sensitivePatternProblem(pattern, places))),
    home: one(pathProblem),
    case_insensitive_paths: BOOLEAN,
    readonly_mcp: list(TOOL_PATTERN),
    links: one((value) =>
      isRecord(value)
        ? Object.entries(value)
            .flat()
            .map(pathProblem)
            .find((problem) => problem !== undefined)
        : `is ${describeKind(value)}, not an object of paths`,
    ),
    tmp_dir: one(pathProblem),
    ceiling: one((value) => (isPolicy(value) ? undefined : "is not a compiled policy")),
    rules: list(checkRule(places)),
  });
  return checkPolicy(input, "");
}

type Check = (value: unknown, field: string) => PolicyProblem[];
/** Words that follow the name of a field; undefined where nothing is wrong. */
type ProblemOf<T = unknown> = (value: T) => string | undefined;

function one(problemOf: ProblemOf): Check {
  return (value, field) => {
    const message = problemOf(value);
    return message === undefined ? [] : [{ field, message }];
  };
}

function text(problemOf: ProblemOf<string> = () => undefined): Check {
  return one((value) => {
    if (typeof value !== "string") return `is ${describeKind(value)}, not text`;
    return value === "" ? "is empty" : problemOf(value);
  });
}

const BOOLEAN = one((value) =>
  typeof value === "boolean" ? undefined : `is ${describeKind(value)}, not true or false`,
);

function checkOneOf(...valid: string[]): Check {
  return one((value) => {
    if (typeof value === "string" && valid.includes(value)) return undefined;
    const choices = valid.map((name) => `"${name}"`).join(", ");
    if (value === undefined) return `is missing; it is one of ${choices}`;
    const near = typeof value === "string" ? nearestName(value, valid) : undefined;
    const hint = near === undefined ? `it is one of ${choices}` : `did you mean "${near}"?`;
    return `is ${typeof value === "string" ? JSON.stringify(value) : describeKind(value)}; ${hint}`;
  });
}

function list(item: Check): Check {
  return (value, field) =>
    Array.isArray(value)
      ? value.flatMap((one, index) => item(one ?? null, `${field}[${index}]`))
      : [{ field, message: `is ${describeKind(value)}, not a list` }];
}

/** What is required is checked first, and where it is missing, too. */
function record(
  what: string,
  fields: Readonly<Record<string, Check>>,
  required: readonly string[] = [],
  expected = "an object",
): Check {
  const valid = Object.keys(fields);
  return (value, field) => {
    if (!isRecord(value)) return [{ field, message: `is ${describeKind(value)}, not ${expected}` }];
    const at = (key: string): string => (field === "" ? key : `${field}.${key}`);
    const unknown = Object.keys(value).filter((key) => !valid.includes(key));
    return [
      ...unknown.map((key) => {
        const near = nearestName(key, valid);
        const hint =
          near === undefined ? `valid are ${valid.join(", ")}` : `did you mean "${near}"?`;
        return { field: at(key), message: `is not a key of ${what}; ${hint}` };
      }),
      ...[...new Set([...required, ...valid])].flatMap((key) =>
        value[key] === undefined && !required.includes(key)
          ? []
          : (fields[key]?.(value[key], at(key)) ?? []),
      ),
    ];
  };
}

const PATHS = list(one(pathProblem));

const TOOL_PATTERN = text((pattern) => {
  if (/[\s\p{C}]/u.test(pattern)) return "contains white space or a control character";
  if (pattern.includes(".") || pattern.includes("*")) return undefined;
  return 'has no dot; canonical names are dotted, such as "code.read_file" or "code.*"';
});

const CONDITIONS = ["tool", "tags", "path", "argv", "host"];

function checkRule(places: { project?: string; home?: string }): Check {
  return (rule, field) => {
    if (!isRecord(rule)) return [{ field, message: "is not a rule: an object with a decision" }];
    const problems = record(
      "a rule",
      {
        tool: TOOL_PATTERN,
        tags: one(wordsProblem),
        path: text((pattern) => pathPatternProblem(pattern, places)),
        argv: one(argvProblem),
        host: text(hostPatternProblem),
        exact_argv: one((value) => flagProblem(value, exactArgvProblem(rule))),
        project: text((path) => (path.startsWith("/") ? undefined : "is not an absolute path")),
        decision: checkOneOf("allow", "ask", "deny"),
        reason: text(),
        every_time: one((value) =>
          flagProblem(
            value,
            rule.decision === "ask" ? undefined : 'belongs to a rule with decision = "ask" only',
          ),
        ),
        sandbox: one((value) => sandboxProblem(value, rule)),
        origin: record("an origin", {
          file: text(),
          line: one((line) => (Number.isSafeInteger(line) ? undefined : "is not a line number")),
          flag: text(),
          code: text(),
        }),
      },
      ["decision"],
    )(rule, field);
    if (CONDITIONS.some((key) => rule[key] !== undefined)) return problems;
    return [
      ...problems,
      { field, message: 'has no condition; write tool = "*" to mean every call' },
    ];
  };
}

const checkMode = checkOneOf(...SANDBOX_MODES);

/** A rule says how a command runs by the command alone. */
function sandboxProblem(
  value: unknown,
  rule: Readonly<Record<string, unknown>>,
): string | undefined {
  const [problem] = checkMode(value, "");
  if (problem !== undefined) return problem.message;
  if (rule.decision === "deny")
    return 'belongs to no rule with decision = "deny": what is denied does not run';
  const other = ["path", "host"].find((key) => rule[key] !== undefined);
  return other && `cannot depend on a ${other}; write a rule of its own with tool, tags or argv`;
}

function checkSandboxedTools(value: unknown, field: string): PolicyProblem[] {
  if (!isRecord(value)) {
    return [{ field, message: `is ${describeKind(value)}, not an object of tools and modes` }];
  }
  return Object.entries(value).flatMap(([pattern, mode]) => [
    ...TOOL_PATTERN(pattern, field),
    ...checkMode(mode, `${field}.${pattern}`),
  ]);
}

function wordsProblem(value: unknown): string | undefined {
  if (!Array.isArray(value)) return `is ${describeKind(value)}, not a list`;
  if (value.length === 0) return "is empty; leave it out to match everything";
  const bad = value.findIndex((item) => typeof item !== "string" || item === "");
  return bad === -1 ? undefined : `has an item (number ${bad + 1}) that is not text`;
}

function argvProblem(value: unknown): string | undefined {
  const problem = wordsProblem(value);
  if (problem !== undefined) return problem;
  const items = value as readonly string[];
  if (items.slice(0, -1).includes("**")) return 'has "**" before its end';
  const starred = items.find((item) => item.includes("*") && item !== "*" && item !== "**");
  if (starred !== undefined) {
    return `has the item ${JSON.stringify(starred)}; "*" matches one whole item only`;
  }
  const [program = ""] = items;
  return program.includes("/") && !program.startsWith("/")
    ? `begins with ${JSON.stringify(program)}; name the program by a bare word or its absolute path`
    : undefined;
}

function exactArgvProblem({ argv }: Readonly<Record<string, unknown>>): string | undefined {
  if (!Array.isArray(argv)) return "belongs to a rule with an argv";
  return argv.at(-1) === "**" ? 'contradicts the "**" at the end of its argv' : undefined;
}

/** `problem`: what is wrong if it is set. */
function flagProblem(value: unknown, problem: string | undefined): string | undefined {
  if (typeof value !== "boolean") return `is ${describeKind(value)}, not true or false`;
  return value ? problem : undefined;
}

function checkNetwork(network: unknown, field: string): PolicyProblem[] {
  const problems = record(
    "network",
    {
      mode: checkOneOf("off", "ask", "hosts", "default"),
      hosts: list(text(hostPatternProblem)),
    },
    ["mode"],
    "an object with a mode",
  )(network, field);
  const { mode, hosts = [] } = isRecord(network) ? network : {};
  if (!Array.isArray(hosts)) return problems;
  const isEmpty = mode === "hosts" && hosts.length === 0;
  const isIdle = (mode === "off" || mode === "ask") && hosts.length > 0;
  if (!isEmpty && !isIdle) return problems;
  const message = isEmpty
    ? 'is empty; mode "off" is how to allow none'
    : `has no effect with mode "${mode}"; use mode "hosts" or leave it out`;
  return [...problems, { field: `${field}.hosts`, message }];
}

function describeKind(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
