// Rules that have nothing to say of a call, each with the condition that keeps it from matching (PERM-17).

import { omitUndefined } from "@soong/schema";
import type { RuleCondition } from "./compile-rule.ts";
import type { RuleOrigin } from "./decision.ts";
import { type PermissionFacts, subjectOfCall } from "./facts.ts";
import { type Policy, isMarkedReadonly } from "./policy.ts";

export interface UnmatchedRule {
  /** As in a chain: `rules[3]`. */
  readonly rule: string;
  /** Which condition the call does not meet. */
  readonly differs: RuleCondition;
  readonly origin?: RuleOrigin;
}

export function unmatchedRules(policy: Policy, facts: PermissionFacts): UnmatchedRule[] {
  const subject = subjectOfCall(facts, isMarkedReadonly(policy, facts));
  return policy.rules.flatMap((compiled) => {
    const differs = compiled.mismatch(subject);
    const { rule, origin } = compiled.entries.yes;
    if (differs === undefined) return [];
    return [{ rule, differs, ...omitUndefined({ origin }) }];
  });
}
