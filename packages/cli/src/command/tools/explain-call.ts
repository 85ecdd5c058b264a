// What would be decided about a call, by whom, and where that is written (PERM-11), also for a tool that no rule leaves on
// offer. It runs nothing.

import {
  staticVerdict,
  type ChainEntry,
  type Explanation,
  type PolicyLayer,
  type Run,
} from "@soong/core";
import { toolFacts } from "@soong/core/internal";

export interface CallExplanation {
  readonly explanation: Explanation;
  /** A tool that is denied whatever its input is not even offered: the rule is to be seen all the same. */
  readonly blocked: readonly ChainEntry[];
}

export async function explainCall(
  run: Run,
  call: { readonly name: string; readonly arguments: string },
): Promise<CallExplanation> {
  const explanation = await run.explain(call);
  const blocked = explanation.outcome === "refused" ? blockedBy(run, explanation.tool_name) : [];
  return { explanation, blocked };
}

function blockedBy({ surface, policy }: Run, tool_name: string): ChainEntry[] {
  const standing = surface.standing.get(tool_name);
  if (standing?.state !== "excluded" || standing.tool === undefined) return [];
  const { verdict, rule, reason } = staticVerdict(policy, toolFacts(policy, standing.tool));
  if (verdict !== "denied") return [];
  const [, index] = /^rules\[(\d+)\]$/.exec(rule) ?? [];
  const origin = index === undefined ? undefined : policy.input.rules?.[Number(index)]?.origin;
  const layer = index === undefined ? (rule.split(".")[0] as PolicyLayer) : "rules";
  const where = origin === undefined ? {} : { origin };
  return [{ layer, rule, verdict: "deny", reason, decisive: true, ...where }];
}
