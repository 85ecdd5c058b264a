// What can be wrong with a policy as a whole: every finding at once, each with its field (CONF-2).

import { isRecord } from "@soong/schema";
import {
  type PolicyProblem,
  kindOf,
  oneOfProblem,
  textProblem,
  unknownKeys,
} from "./field-problems.ts";
import { hostPatternProblem } from "./host.ts";
import { pathProblem } from "./path.ts";
import { ruleProblems, toolPatternProblem } from "./rule-problems.ts";
import { sensitivePatternProblem } from "./sensitive-paths.ts";

export function policyProblems(
  input: unknown,
  isPolicy: (value: unknown) => boolean,
): PolicyProblem[] {
  if (!isRecord(input)) return [{ field: "", message: "is not a policy: an object" }];
  const problems = unknownKeys(input, KEYS, "", "a policy");
  const check = (field: string, value: unknown, problemOf: (value: unknown) => Problem): void => {
    const problem = value === undefined ? undefined : problemOf(value);
    if (problem !== undefined) problems.push({ field, message: problem });
  };
  const checkList = (
    field: string,
    value: unknown,
    problemOf: (item: unknown) => Problem,
  ): void => {
    check(field, value, (list) =>
      Array.isArray(list) ? undefined : `is ${kindOf(list)}, not a list`,
    );
    if (!Array.isArray(value)) return;
    for (const [index, item] of value.entries()) {
      check(`${field}[${index}]`, item ?? null, problemOf);
    }
  };

  check("mode", input.mode, (mode) => oneOfProblem(mode, ["normal", "plan", "orchestrator"]));
  check("destructive", input.destructive, (value) => oneOfProblem(value, ["ask", "deny"]));
  check("case_insensitive_paths", input.case_insensitive_paths, (value) =>
    typeof value === "boolean" ? undefined : `is ${kindOf(value)}, not true or false`,
  );
  check("home", input.home, pathProblem);
  check("tmp_dir", input.tmp_dir, pathProblem);
  check("links", input.links, (value) =>
    isRecord(value)
      ? Object.entries(value)
          .flat()
          .map(pathProblem)
          .find((problem) => problem !== undefined)
      : `is ${kindOf(value)}, not an object of paths`,
  );
  check("ceiling", input.ceiling, (value) =>
    isPolicy(value) ? undefined : "is not a compiled policy",
  );
  checkList("protected_roots", input.protected_roots, pathProblem);
  checkList("readonly_mcp", input.readonly_mcp, toolPatternProblem);
  problems.push(...networkProblems(input.network));

  const roots = input.roots;
  check("roots", roots, (value) =>
    isRecord(value) ? undefined : `is ${kindOf(value)}, not an object`,
  );
  if (isRecord(roots)) {
    problems.push(...unknownKeys(roots, ["project", "write"], "roots", "roots"));
    check("roots.project", roots.project ?? null, pathProblem);
    checkList("roots.write", roots.write ?? null, pathProblem);
  }

  const places = {
    ...(isRecord(roots) && pathProblem(roots.project) === undefined
      ? { project: roots.project as string }
      : {}),
    ...(pathProblem(input.home) === undefined ? { home: input.home as string } : {}),
  };
  checkList("sensitive_paths", input.sensitive_paths, (item) =>
    textProblem(item, (pattern) => sensitivePatternProblem(pattern, places)),
  );
  check("rules", input.rules, (list) =>
    Array.isArray(list) ? undefined : `is ${kindOf(list)}, not a list`,
  );
  if (Array.isArray(input.rules)) {
    problems.push(
      ...input.rules.flatMap((rule, index) => ruleProblems(rule, `rules[${index}]`, places)),
    );
  }
  return problems;
}

type Problem = string | undefined;

const KEYS = [
  "rules",
  "mode",
  "destructive",
  "network",
  "roots",
  "protected_roots",
  "sensitive_paths",
  "home",
  "case_insensitive_paths",
  "readonly_mcp",
  "links",
  "tmp_dir",
  "ceiling",
] as const;

function networkProblems(network: unknown): PolicyProblem[] {
  if (network === undefined) return [];
  if (!isRecord(network)) {
    return [{ field: "network", message: `is ${kindOf(network)}, not an object with a mode` }];
  }
  const problems = unknownKeys(network, ["mode", "hosts"], "network", "network");
  const mode = oneOfProblem(network.mode, ["off", "ask", "hosts", "default"]);
  if (mode !== undefined) problems.push({ field: "network.mode", message: mode });
  const hosts = network.hosts ?? [];
  if (!Array.isArray(hosts)) {
    return [...problems, { field: "network.hosts", message: `is ${kindOf(hosts)}, not a list` }];
  }
  for (const [index, host] of hosts.entries()) {
    const problem = textProblem(host, hostPatternProblem);
    if (problem !== undefined)
      problems.push({ field: `network.hosts[${index}]`, message: problem });
  }
  if (network.mode === "hosts" && hosts.length === 0) {
    problems.push({ field: "network.hosts", message: 'is empty; mode "off" is how to allow none' });
  }
  if ((network.mode === "off" || network.mode === "ask") && hosts.length > 0) {
    const message = `has no effect with mode "${network.mode}"; use mode "hosts" or leave it out`;
    problems.push({ field: "network.hosts", message });
  }
  return problems;
}
