// What in a config makes up the policy, checked by the kernel that judges by it: there is one validator of
// rules (CONF-4). Its findings are brought back to where they were written.

import { compilePolicy, type PolicyInput } from "@soong/core";
import { nearestName } from "@soong/core/internal";
import type { Finding } from "./check-values.ts";
import { RULE_KEYS } from "./permissions-section.ts";
import type { SoongConfig } from "./soong-config.ts";
import type { TomlPath } from "./toml-places.ts";
import { isTable, kindOf } from "./value-kinds.ts";

export function checkPolicy({ permissions, tools }: SoongConfig): Finding[] {
  const findings: Finding[] = [];
  const compiled = compilePolicy({
    ...STAND_INS,
    rules: rulesIn(permissions.rules, findings),
    network: permissions.network,
    sensitive_paths: tools.sensitive_paths,
  });
  if (compiled.ok) return findings;
  // A rule with a mistyped condition is told of that one, not that it has none.
  const mistyped = new Set(findings.map(({ path }) => path.slice(0, 3).join()));
  return [
    ...findings,
    ...compiled.problems
      .map(({ field, message }) => ({ path: pathOf(field), message }))
      .filter(({ path }) => !mistyped.has(path.join()))
      .map(({ path, message }): Finding => ({ path, at: "value", weight: "problem", message })),
  ];
}

/** Patterns may be relative to places that are known only when a run starts. */
const STAND_INS: PolicyInput = { home: "/home", roots: { project: "/project", write: [] } };

function rulesIn(rules: unknown, findings: Finding[]): SoongConfig["permissions"]["rules"] {
  const path = ["permissions", "rules"];
  if (!Array.isArray(rules)) {
    const message = `is ${kindOf(rules)}, not a list; each rule begins with [[permissions.rules]]`;
    findings.push({ path, at: "value", weight: "problem", message });
    return [];
  }
  return rules.map((rule: unknown, index) => {
    if (!isTable(rule)) return rule;
    const known = Object.entries(rule).filter(([key]) => {
      if ((RULE_KEYS as readonly string[]).includes(key)) return true;
      const near = nearestName(key, RULE_KEYS);
      const hint =
        near === undefined ? `valid are ${RULE_KEYS.join(", ")}` : `did you mean "${near}"?`;
      findings.push({
        path: [...path, index, key],
        at: "key",
        weight: "problem",
        message: `is not a key of a rule; ${hint}`,
      });
      return false;
    });
    return Object.fromEntries(known);
  }) as unknown as SoongConfig["permissions"]["rules"];
}

/** `rules[2].decision` as the path of the file. */
function pathOf(field: string): TomlPath {
  const steps = [...field.matchAll(/([^.[\]]+)|\[(\d+)\]/g)].map(([, name, index]) =>
    index === undefined ? (name as string) : Number(index),
  );
  return [field.startsWith("sensitive_paths") ? "tools" : "permissions", ...steps];
}
