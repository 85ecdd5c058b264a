// What is known of a tool before any input (SURF-3): the surface omits what every call would be
// denied, and says which tools will ask. It runs through the same layers as a call does.

import { type Subject, type ToolFacts, subjectOfTool } from "./facts.ts";
import { judge } from "./judge.ts";
import { type Policy, isMarkedReadonly } from "./policy.ts";

export interface StaticVerdict {
  readonly verdict: "allowed" | "ask" | "denied";
  readonly reason: string;
  readonly rule: string;
}

export interface StaticFacts extends ToolFacts {
  /** No input makes a call less harmful than `effects`: the tool neither classifies nor plans. */
  readonly effects_fixed?: boolean;
}

/** `denied` only when no call could be anything else, `allowed` only where the host has no say; rules about other targets have none yet. */
export function staticVerdict(policy: Policy, tool: StaticFacts): StaticVerdict {
  const subjectUnder = (judging: Policy): Subject =>
    subjectOfTool(tool, {
      markedReadonly: isMarkedReadonly(judging, tool),
      effectsFixed: tool.effects_fixed === true,
    });
  const { decision, decisive } = judge(policy, subjectUnder);
  const byHost = decision === "allow" ? findHostRule(policy, subjectUnder) : undefined;
  if (byHost !== undefined) {
    return { verdict: "ask", reason: "It depends on the host that a call reaches.", rule: byHost };
  }
  return { verdict: VERDICTS[decision], reason: decisive.reason, rule: decisive.rule };
}

/** What decides by the host about calls of a tool that uses the network (PERM-10). */
function findHostRule(
  policy: Policy,
  subjectUnder: (judging: Policy) => Subject,
): string | undefined {
  const subject = subjectUnder(policy);
  if (!subject.network) return undefined;
  if (policy.network.hosts.length > 0) return "permissions.network";
  const unknown = { ...subject, hosts: { known: [], unknown: true } };
  const restricting = policy.rules.find(
    (compiled) => compiled.rule.host !== undefined && compiled.matches(unknown) === "maybe",
  );
  if (restricting !== undefined) return restricting.entries.yes.rule;
  return policy.ceiling === undefined ? undefined : findHostRule(policy.ceiling, subjectUnder);
}

const VERDICTS = { allow: "allowed", ask: "ask", deny: "denied" } as const;
