// `explain` (PERM-11): what would happen to a call, without running it. The same stages as a real call,
// up to the decision, on a recorder that keeps nothing.

import {
  createMemoryArtifacts,
  type Fact,
  type FactData,
  type FactType,
  type Recorder,
} from "../journal/index.ts";
import {
  evaluate,
  unmatchedRules,
  type ChainEntry,
  type Decision,
  type GrantScope,
  type Judgement,
  type UnmatchedRule,
} from "../permission/index.ts";
import type { JsonValue } from "@soong/schema";
import type { Effects, Plan, ToolError } from "../tool/index.ts";
import { acceptCall, resolveName } from "./accept-call.ts";
import { Call, type Ending, type ToolCall } from "./call.ts";
import { hookSubject, reachedGuard, seenInput } from "./hook-view.ts";
import type { CallHost } from "./host.ts";
import { callDigest, isFinalDeny, permissionFacts, planAdds } from "./permission-facts.ts";
import { planCall, resolveTargets } from "./plan-call.ts";
import { isPrivatePreview, isUntoldBeforeYes, mayReadTargets } from "./readable-targets.ts";

export type Explanation =
  | {
      outcome: "refused";
      tool_name: string;
      status: string;
      error: ToolError;
      /** Left out where it did not come to that. */
      judgements?: readonly ExplainedJudgement[];
    }
  | {
      outcome: Decision;
      tool_name: string;
      reason: string;
      /** Every layer and rule that was looked at, with where it stands. */
      chain: readonly ChainEntry[];
      /** Of the targets, and of the plan where it added something: the last one decides. */
      judgements: readonly ExplainedJudgement[];
      effects: Effects;
      observable_input: JsonValue;
      plan?: Plan;
      scopes: readonly GrantScope[];
      digest: string;
      /** Hooks that would be asked first; they are not run here, and may only tighten the decision. */
      hooks: readonly string[];
      /** Rules that say nothing of this call, and which of their conditions it does not meet (PERM-17). */
      unmatched_rules: readonly UnmatchedRule[];
    };

export interface ExplainedJudgement extends Pick<Judgement, "decision" | "reason" | "chain"> {
  stage: "targets" | "plan";
}

export async function explainCall(host: CallHost, given: ToolCall): Promise<Explanation> {
  const quiet: CallHost = {
    ...host,
    recorder: silentRecorder(),
    artifacts: { ...createMemoryArtifacts(), stat: (id) => host.artifacts.stat(id) },
    refreshNextTurn() {},
  };
  const call = new Call(given.id ?? "explained", 0, given, given.id, "", undefined);
  resolveName(quiet, call);
  const refused = await acceptCall(quiet, call);
  if (refused !== undefined) return refusal(host, call.tool_name, refused.ending);
  const problem = await resolveTargets(quiet, call);
  if (problem !== undefined) return refusal(host, call.tool_name, problem);
  if (host.hooks.has("PreToolUse")) call.hookVerdict = reachedGuard(host, call);
  let facts = permissionFacts(call, host.runContext());
  let judgement = evaluate(host.policy, facts, host.grants);
  const judgements = [explained("targets", judgement)];
  if (!isFinalDeny(call, { facts, judgement })) {
    const end = (await planCall(quiet, call)) ?? call.planFailure;
    // Where the real call would put a question first, nothing of its plan is told here either.
    const isAsked = judgement.decision === "ask" && !mayReadTargets(host, call);
    if (end !== undefined && (end !== call.planFailure || !isAsked))
      return {
        ...refusal(host, call.tool_name, end),
        judgements: host.redactor.value(judgements),
      };
    const isUntold = isUntoldBeforeYes(host, call, { facts, judgement });
    if (end === undefined && !isUntold && planAdds(call, facts)) {
      facts = permissionFacts(call, host.runContext());
      judgement = evaluate(host.policy, facts, host.grants);
      judgements.push(explained("plan", judgement));
    }
  }
  const subject = hookSubject(call);
  const hooks = [...host.hooks.matching("PreToolUse", subject)];
  if (judgement.decision === "ask")
    hooks.push(...host.hooks.matching("PermissionRequest", subject));
  const explanation: Explanation = {
    outcome: judgement.decision,
    tool_name: call.tool_name,
    reason: judgement.reason,
    chain: judgement.chain,
    judgements,
    effects: call.effects,
    observable_input: seenInput(host, call).redacted,
    ...(call.plan === undefined ? {} : { plan: withoutPrivate(host, call, call.plan) }),
    scopes: judgement.scopes,
    digest: callDigest(call),
    hooks: hooks.map(({ id }) => id),
    unmatched_rules: unmatchedRules(host.policy, facts),
  };
  return host.redactor.value(explanation);
}

/** What planning saw of a restricted file is for the person who is asked alone (PIPE-9). */
function withoutPrivate(host: CallHost, call: Call, plan: Plan): Plan {
  const { preview, pre_images: _images, destructive: _destructive, ...rest } = plan;
  return preview !== undefined && isPrivatePreview(host, call, preview) ? rest : plan;
}

function explained(
  stage: ExplainedJudgement["stage"],
  { decision, reason, chain }: Judgement,
): ExplainedJudgement {
  return { stage, decision, reason, chain };
}

function refusal(
  host: CallHost,
  tool_name: string,
  end: Ending,
): Extract<Explanation, { outcome: "refused" }> {
  const { error } = end.outcome;
  if (error === undefined) throw new Error(`the refusal of ${tool_name} has no error`);
  const redacted = host.redactor.value(error);
  return { outcome: "refused", tool_name, status: end.status, error: redacted };
}

/** Explaining leaves no trace: nothing happened. */
function silentRecorder(): Recorder {
  const draft = <T extends FactType>(type: T, data: FactData<T>): Fact<T> => ({
    id: "",
    seq: 0,
    type,
    time: "",
    level: "debug",
    session_id: "",
    data,
  });
  return { draft, record: draft, recordClean: draft, commit() {}, async flush() {}, lastSeq: 0 };
}
