// The words of the permission module: what can be decided, and the chain of reasons that leads there.
// Every type here is a record that leaves the process with the run (PERM-1, PERM-11).

import type { GrantScope } from "./grants.ts";

export type Decision = "allow" | "ask" | "deny";

export function isStricter(a: Decision, b: Decision): boolean {
  return STRICTNESS[a] > STRICTNESS[b];
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

/** `accept_edits`: edits inside the project need no approval. */
export const MODES = ["normal", "plan", "accept_edits", "orchestrator"] as const;

export type Mode = (typeof MODES)[number];

/** The four layers of a policy, highest first (PERM-2). */
export type PolicyLayer = "runtime" | "rules" | "mode" | "defaults";

/** Where a rule was written, so that `explain` can point at it. */
export interface RuleOrigin {
  readonly file?: string;
  readonly line?: number;
  readonly flag?: string;
  readonly code?: string;
}

export interface ChainEntry {
  readonly layer: PolicyLayer | "hook" | "skill" | "grant" | "ceiling";
  /** A stable id, such as `runtime.protected_root`, `rules[3]` or `defaults.write_asks`. */
  readonly rule: string;
  readonly verdict: Decision | "no_opinion" | "satisfied" | "insufficient";
  /** A sentence for the model and for the user. */
  readonly reason: string;
  /** The error code of a refusal that rests on this entry. */
  readonly code?: string;
  readonly origin?: RuleOrigin;
  readonly every_time?: true;
  /** It asks because it is unknown what the command runs or reaches: a rule that spells the command out answers it. */
  readonly unspelled?: true;
  readonly decisive?: true;
}

export interface Judgement {
  readonly decision: Decision;
  readonly chain: readonly ChainEntry[];
  /** The reason of the decisive entry. */
  readonly reason: string;
  /** For a deny, and for an ask that becomes one when no one can be asked. */
  readonly code?: string;
  /** What allow_for_session would cover. Empty unless policy asks; empty then means: only this once. */
  readonly scopes: readonly GrantScope[];
  /** The grant that satisfied the ask. */
  readonly grant_id?: string;
  /** Every such call requires approval: no grant counts, and none is offered. */
  readonly every_time: boolean;
}
