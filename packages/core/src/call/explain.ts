// `explain` (PERM-11): what would happen to a call, without running it. The same stages as a real call,
// up to the decision, on a recorder that keeps nothing.

import { asRecord, omitUndefined, type JsonValue } from "@soong/schema";
import {
  createMemoryArtifacts,
  type Fact,
  type FactData,
  type FactType,
  type Recorder,
} from "../journal/index.ts";
import {
  evaluate,
  quote,
  unmatchedRules,
  type ChainEntry,
  type Decision,
  type GrantScope,
  type Judgement,
  type UnmatchedRule,
} from "../permission/index.ts";
import type { Effects, Plan, ToolError } from "../tool/index.ts";
import { acceptCall, resolveName } from "./accept-call.ts";
import { Call, type AcceptedCall, type Ending, type Judged } from "./call.ts";
import { hookSubject, reachedGuard, seenInput } from "./call-hooks.ts";
import type { CallRun, ToolCall } from "./host.ts";
import {
  callDigest,
  isFinalDeny,
  isPrivatePreview,
  isHiddenBeforeYes,
  mayReadTargets,
  permissionFacts,
  planAdds,
} from "./permission-facts.ts";
import { planCall, resolveTargets } from "./plan-call.ts";

export type Explanation =
  | {
      outcome: "refused";
      tool_name: string;
      status: string;
      error: ToolError;
      /** Absent where it did not come to that. */
      judgements?: readonly ExplainedJudgement[];
    }
  | {
      outcome: Decision;
      tool_name: string;
      reason: string;
      /** Every layer and rule that was evaluated, with its position. */
      chain: readonly ChainEntry[];
      /** Of the targets, and of the plan where it added something: the last one decides. */
      judgements: readonly ExplainedJudgement[];
      effects: Effects;
      /** Of a command: whether it is proven to only read, and why or why not (PERM-17). */
      proof?: { read_only: boolean; why: string };
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

export async function explainCall(run: CallRun, given: ToolCall): Promise<Explanation> {
  const { hooks, policy, redactor } = run;
  const quiet: CallRun = {
    ...run,
    recorder: silentRecorder(),
    artifacts: { ...createMemoryArtifacts(), stat: (id) => run.artifacts.stat(id) },
    refreshNextTurn() {},
  };
  const call = new Call(quiet, given.id ?? "explained", given) as AcceptedCall;
  resolveName(call);
  const problem = (await acceptCall(call)) ?? (await resolveTargets(call));
  if (problem !== undefined) return explainRefusal(call, problem);
  if (hooks.has("PreToolUse")) call.hookVerdict = reachedGuard(call);
  let judged = judge();
  const judgements = [explainJudgement("targets", judged.judgement)];
  if (!isFinalDeny(call, judged)) {
    const end = (await planCall(call)) ?? call.planFailure;
    // Where the real call would put a question first, nothing of its plan is shown here either.
    const isAsked = judged.judgement.decision === "ask" && !mayReadTargets(call);
    if (end !== undefined && (end !== call.planFailure || !isAsked)) {
      return { ...explainRefusal(call, end), judgements: redactor.value(judgements) };
    }
    if (end === undefined && !isHiddenBeforeYes(call, judged) && planAdds(call, judged.facts)) {
      judged = judge();
      judgements.push(explainJudgement("plan", judged.judgement));
    }
  }
  const { facts, judgement } = judged;
  const subject = hookSubject(call);
  const asked = judgement.decision === "ask" ? hooks.matching("PermissionRequest", subject) : [];
  const explanation: Explanation = {
    outcome: judgement.decision,
    tool_name: call.tool_name,
    reason: judgement.reason,
    chain: judgement.chain,
    judgements,
    effects: call.effects,
    ...omitUndefined({ proof: describeProof(call) }),
    observable_input: seenInput(call).redacted,
    ...omitUndefined({ plan: call.plan && withoutPrivate(call, call.plan) }),
    scopes: judgement.scopes,
    digest: callDigest(call),
    hooks: [...hooks.matching("PreToolUse", subject), ...asked].map(({ id }) => id),
    unmatched_rules: unmatchedRules(policy, facts),
  };
  return redactor.value(explanation);

  function judge(): Judged {
    const facts = permissionFacts(call, run.context);
    return { facts, judgement: evaluate(policy, facts, run.grants) };
  }
}

function describeProof({
  targets,
  tool,
}: AcceptedCall): { read_only: boolean; why: string } | undefined {
  const { read_only, why_not_read_only: whyNot } = asRecord(targets?.facts);
  const command = targets?.resources.find(({ kind }) => kind === "command");
  if (!tool.source.trusted || command?.kind !== "command") return undefined;
  if (read_only === false && typeof whyNot === "string") return { read_only, why: whyNot };
  if (read_only !== true) return undefined;
  const program = quote(command.executable);
  const why = `Proven to only read: ${program} is a program of the system, each of its arguments is known to change nothing, and what they name is inside the project.`;
  return { read_only, why };
}

/** What planning saw of a restricted file is for the user who is asked alone (PIPE-9). */
function withoutPrivate(call: AcceptedCall, plan: Plan): Plan {
  const { preview, pre_images: _images, destructive: _destructive, ...rest } = plan;
  return preview !== undefined && isPrivatePreview(call, preview) ? rest : plan;
}

function explainJudgement(
  stage: ExplainedJudgement["stage"],
  { decision, reason, chain }: Judgement,
): ExplainedJudgement {
  return { stage, decision, reason, chain };
}

function explainRefusal(
  { run, tool_name }: Call,
  { status, outcome }: Ending,
): Extract<Explanation, { outcome: "refused" }> {
  if (outcome.error === undefined) throw new Error(`the refusal of ${tool_name} has no error`);
  return { outcome: "refused", tool_name, status, error: run.redactor.value(outcome.error) };
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
  return {
    draft,
    record: draft,
    recordClean: draft,
    commit() {},
    note: () => 0,
    noteEach() {},
    async flush() {},
    lastSeq: 0,
  };
}
