// What is known of a tool before any input (SURF-3): the surface leaves out what every call would be
// denied, and says which tools will ask. It runs through the same layers as a call does.

import type { ToolFacts } from "./facts.ts";
import { subjectOfTool } from "./facts.ts";
import { judge } from "./judge.ts";
import type { Policy } from "./policy.ts";
import { isMarkedReadonly } from "./policy.ts";

export interface StaticVerdict {
  readonly verdict: "allowed" | "ask" | "denied";
  readonly reason: string;
  readonly rule: string;
}

export interface StaticFacts extends ToolFacts {
  /** No input makes a call less harmful than `effects`: the tool neither classifies nor plans. */
  readonly effects_fixed?: boolean;
}

/** `denied` only when no call could be anything else; rules about targets have no say yet. */
export function staticVerdict(policy: Policy, tool: StaticFacts): StaticVerdict {
  const { decision, decisive } = judge(policy, (judging) =>
    subjectOfTool(tool, {
      markedReadonly: isMarkedReadonly(judging, tool),
      effectsFixed: tool.effects_fixed === true,
    }),
  );
  return { verdict: VERDICTS[decision], reason: decisive.reason, rule: decisive.rule };
}

const VERDICTS = { allow: "allowed", ask: "ask", deny: "denied" } as const;
