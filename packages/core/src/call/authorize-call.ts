// The permission stages: the one evaluator decides; where it says ask, a person does (PERM-1…8, HOOK-4).

import { evaluate, type Judgement, type PermissionFacts } from "../permission/index.ts";
import { toolError } from "../tool/index.ts";
import { ending, toolOf, type Call, type Ending, type TurnControl } from "./call.ts";
import { seenInput } from "./hook-view.ts";
import type { RunBase } from "./host.ts";
import { isFinalDeny, permissionFacts, planAdds } from "./permission-facts.ts";
import { isPrivatePreview, isUntoldBeforeYes, mayReadTargets } from "./readable-targets.ts";
import { requestApproval, type ApprovalHost, type Judged } from "./request-approval.ts";

/** The first judgement, on what the input names: a deny ends the call before anything is read. */
export function authorizeTargets(host: ApprovalHost, call: Call): Ending | undefined {
  const judged = judgeCall(host, call, call.plan === undefined ? "targets" : "plan");
  return isFinalDeny(call, judged) ? denyByPolicy(call, judged.judgement) : undefined;
}

/** Judges again what the plan added, and asks where a person has to decide. */
export async function authorizePlan(
  host: ApprovalHost,
  call: Call,
  turn: TurnControl,
): Promise<Ending | undefined> {
  const first = call.judged ?? judgeCall(host, call, "plan");
  if (call.planFailure !== undefined) return failToPlan(host, call, turn, call.planFailure);
  const adds = planAdds(call, first.facts);
  if (adds && isUntoldBeforeYes(host, call, first)) return askThenJudge(host, call, turn);
  const { judgement } = adds ? judgeCall(host, call, "plan") : first;
  if (judgement.decision === "allow") return undefined;
  if (judgement.decision === "deny") return denyByPolicy(call, judgement);
  return requestApproval(host, call, turn);
}

/** A judgement of the plan would say whether a restricted file is there, so the question is put first (PIPE-9). */
async function askThenJudge(
  host: ApprovalHost,
  call: Call,
  turn: TurnControl,
): Promise<Ending | undefined> {
  const refused = await requestApproval(host, call, turn);
  if (refused !== undefined) return refused;
  const { decision, decisionRef } = call;
  const { judgement } = judgeCall(host, call, "plan");
  if (judgement.decision === "deny") return denyByPolicy(call, judgement);
  // Whoever said yes was shown the plan: it is still their answer that the call runs by.
  call.decision = decision;
  call.decisionRef = decisionRef;
  return undefined;
}

function judgeCall(host: ApprovalHost, call: Call, stage: "targets" | "plan"): Judged {
  const facts = permissionFacts(call, host.runContext());
  const judgement = evaluate(host.policy, facts, host.grants);
  recordJudgement(host, call, facts, judgement, stage);
  return (call.judged = { facts, judgement });
}

function recordJudgement(
  host: RunBase,
  call: Call,
  facts: PermissionFacts,
  judgement: Judgement,
  stage: "targets" | "plan",
): void {
  const { decision, reason, chain, grant_id } = judgement;
  const { permission, effects, resources, hosts, planned_destructive } = facts;
  const data = {
    decision,
    reason,
    chain,
    permission,
    effects,
    resources,
    hosts,
    planned_destructive,
    // Left out where nothing changed it: then it is the model_input of the request (SCHEMA-6).
    permission_input: call.mutated ? seenInput(host, call).redacted : undefined,
    grant_id,
    digest: call.plan?.digest,
    // Left out for a tool that plans nothing: it is judged once.
    stage: toolOf(call).definition.prepare === undefined ? undefined : stage,
  };
  // Without targets there is nothing in it but the words of rules and our own.
  const isOurs =
    !call.mutated && resources.length === 0 && hosts.length === 0 && facts.hook === undefined;
  const fact = isOurs
    ? host.recorder.recordClean("permission.evaluated", data, call)
    : host.recorder.record("permission.evaluated", data, call);
  call.decision = decision;
  call.decisionRef = fact.id;
}

function denyByPolicy(call: Call, judgement: Judgement): Ending {
  return ending(
    "denied",
    toolError({
      code: judgement.code ?? "policy_denied",
      error_class: "policy_blocked",
      message: `${call.tool_name} is denied: ${judgement.reason}`,
      recovery: "use_another_tool",
    }),
  );
}

/**
 * A call that cannot be planned has passed hooks and the first judgement. Where that let it through, or where the
 * model may read the targets anyway, it is told why; else a person has to say yes first (PIPE-9).
 */
async function failToPlan(
  host: ApprovalHost,
  call: Call,
  turn: TurnControl,
  failure: Ending,
): Promise<Ending> {
  const { judgement } = call.judged as Judged;
  if (judgement.decision === "deny") return denyByPolicy(call, judgement);
  // A yes to a change is none to reading what is there.
  const isWithheld =
    !call.effects.read_only && isPrivatePreview(host, call, { kind: "text", text: "" });
  const told = isWithheld ? withheld(call, failure) : failure;
  if (judgement.decision === "allow" || mayReadTargets(host, call)) return told;
  return (await requestApproval(host, call, turn)) ?? told;
}

/** The same failure without what it would say of a restricted file. */
function withheld(call: Call, { status, outcome, ...rest }: Ending): Ending {
  const { code = "prepare_failed", error_class = "execution_failed" } = outcome.error ?? {};
  const message = `${call.tool_name} could not be carried out as given (${code}); nothing was done. Why is not reported, because it would show what is in a restricted file. Ask the user.`;
  const error = toolError({ code, error_class, message, recovery: "ask_the_user" });
  return { ...rest, ...ending(status, error), unplannable: true };
}
