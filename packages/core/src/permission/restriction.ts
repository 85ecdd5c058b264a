// Which rule, or which sensitive pattern, restricts a path (PERM-15): the one question of every tool that would
// show a name or a content no one named in a call. It looks at this policy and at its ceilings; grants do not count.

import type { RestrictedAccess, Restriction } from "../tool/index.ts";
import { type RuleOrigin, isStricter } from "./decision.ts";
import { type PermissionFacts, type Subject, type ToolFacts, subjectOfTool } from "./facts.ts";
import { type Policy, isMarkedReadonly } from "./policy.ts";
import { subjectUnder } from "./sandbox.ts";
import { omitUndefined } from "@soong/schema";
import type { RuleCondition } from "./compile-rule.ts";

/**
 * The tool that asks, and how it would touch the path: what holds for reading holds for all that shows contents.
 * `ignoresCase`: the disk of the path takes any case for the same name.
 */
export function findRestriction(
  policy: Policy,
  asking: ToolFacts,
  { path, access, ignoresCase = false }: RestrictedPath,
): Restriction | undefined {
  let found: Restriction | undefined;
  let above = "";
  for (let judging: Policy | undefined = policy; judging; judging = judging.ceiling) {
    for (const compiled of judging.rules) {
      const { decision } = compiled.rule;
      if (decision === "allow" || compiled.path?.matches(path, ignoresCase) !== true) continue;
      if (found !== undefined && !isStricter(decision, found.decision)) continue;
      if (!compiled.restricts(toolUnder(judging, asking), access)) continue;
      found = { kind: "rule", decision, by: above + compiled.entries.yes.rule };
    }
    const name = ignoresCase ? path.toLowerCase() : path;
    const sensitive = judging.boundary.sensitiveBy(name);
    // No rule lifts what the runtime denies (PERM-14).
    const isDenied = access === "write" && judging.boundary.isProtected(name);
    if (sensitive !== undefined && (found === undefined || (isDenied && found.decision === "ask")))
      found = { kind: "sensitive", decision: isDenied ? "deny" : "ask", by: sensitive };
    above += "ceiling/";
  }
  return found;
}

export interface RestrictedPath {
  readonly path: string;
  readonly access: RestrictedAccess;
  readonly ignoresCase?: boolean;
}

/** Absolute globs of all that `restrictionOf` can find beside the built-in list: to look for it, not to judge. */
export function restrictedGlobs(
  policy: Policy,
  asking: ToolFacts,
  access: RestrictedAccess,
): readonly string[] {
  const subject = toolUnder(policy, asking);
  const own = policy.rules.flatMap((compiled) =>
    compiled.restricts(subject, access) ? (compiled.path?.globs ?? []) : [],
  );
  const all = [...own, ...policy.boundary.sensitiveGlobs];
  const { ceiling } = policy;
  return ceiling === undefined ? all : [...all, ...restrictedGlobs(ceiling, asking, access)];
}

function toolUnder(policy: Policy, asking: ToolFacts): Subject {
  const markedReadonly = isMarkedReadonly(policy, asking);
  return subjectOfTool(asking, { markedReadonly, effectsFixed: true });
}

export interface UnmatchedRule {
  /** As in a chain: `rules[3]`. */
  readonly rule: string;
  /** Which condition the call does not meet. */
  readonly differs: RuleCondition;
  readonly origin?: RuleOrigin;
}

export function unmatchedRules(policy: Policy, facts: PermissionFacts): UnmatchedRule[] {
  const subject = subjectUnder(policy, facts);
  return policy.rules.flatMap((compiled) => {
    const differs = compiled.mismatch(subject);
    const { rule, origin } = compiled.entries.yes;
    if (differs === undefined) return [];
    return [{ rule, differs, ...omitUndefined({ origin }) }];
  });
}
