// The pipeline of one call, in the order of PIPE-1: targets → pre-hooks → permission → plan → permission for what the
// plan added → execute. The stages before it are in accept-call.ts, those after it in finish.ts. No call is executed in
// any other way, and nothing else judges one: the evaluator decides; where it says ask, the user does (PERM-1…8, HOOK-4).

import type { FactData } from "../journal/index.ts";
import { evaluate, type Judgement } from "../permission/index.ts";
import { toolError } from "../tool/index.ts";
import { checkDefinitionCurrent } from "./accept-call.ts";
import {
  unlessCancelled,
  type AcceptedCall,
  type Call,
  type Ending,
  type Judged,
  type TurnControl,
} from "./call.ts";
import { decisionRef } from "./call-record.ts";
import { runLateHooks, runPreToolHooks, seenInput } from "./call-hooks.ts";
import { deepFreeze } from "./context.ts";
import { endCall, endCancelled, endWith } from "./endings.ts";
import { Execution } from "./execute.ts";
import {
  hasPlainFacts,
  isFinalDeny,
  isPrivatePreview,
  isHiddenBeforeYes,
  mayReadTargets,
  permissionFacts,
  planAdds,
} from "./permission-facts.ts";
import { checkProject, namesTargets, planCall, resolveTargets } from "./plan-call.ts";
import { requestApproval } from "./request-approval.ts";

export async function runCallPipeline(call: AcceptedCall, turn: TurnControl): Promise<Ending> {
  const isHooked = call.run.hooks.has("PreToolUse");
  const isPlanned = call.tool.definition.prepare !== undefined;
  let end: Ending | "changed" | undefined = namesTargets(call)
    ? await resolveTargets(call)
    : checkProject(call);
  for (;;) {
    if (isHooked) end ??= await runPreToolHooks(call, turn);
    // On what the input names: a deny ends the call before anything is read.
    if (end === undefined) {
      const judged = judgeCall(call, call.plan === undefined ? "targets" : "plan");
      if (isFinalDeny(call, judged)) end = denyByPolicy(call, judged.judgement);
    }
    if (isPlanned) end ??= await planCall(call);
    if (isPlanned && isHooked) end ??= await runLateHooks(call, turn);
    if (end !== "changed") break;
    // A hook that saw the plan changed the input: all hooks and judgements once more.
    end = undefined;
  }
  if (isPlanned || call.decision !== "allow") end ??= await authorizePlan(call, turn);
  if (end !== undefined) return end;
  if (call.class === "spawns_agent") return runChild(call, turn);
  if (!call.effects.repeatable) return startDurably(call, turn);
  return beginCall(call) ?? (await executeCall(call, turn));
}

/** For a call that may leave something behind, `tool.started` is durable before anything happens (PIPE-3). */
async function startDurably(call: AcceptedCall, turn: TurnControl): Promise<Ending> {
  const refused = beginCall(call);
  if (refused !== undefined) return refused;
  await call.run.recorder.flush();
  return call.cancellation === undefined ? executeCall(call, turn) : endCancelled(call);
}

/** `tool.started` is on record before anything happens. */
function beginCall(call: AcceptedCall): Ending | undefined {
  if (call.cancellation !== undefined) return endCancelled(call);
  // It may have waited long, for an approval or for its slot: what was shown is what runs (REG-3).
  const changed = checkDefinitionCurrent(call);
  if (changed === undefined) recordStart(call);
  return changed;
}

function executeCall(call: AcceptedCall, turn: TurnControl): Promise<Ending> {
  call.startedAt = call.run.clock.monotonic();
  return new Execution(call, turn).run();
}

function recordStart(call: AcceptedCall): void {
  const { effects, plan, mutated, record, decision } = call;
  const { recorder } = call.run;
  const { interrupt_behavior } = call.tool.effects;
  call.started = true;
  record.decision = decision;
  record.decisionSeq = call.decisionSeq;
  record.interruptBehavior = interrupt_behavior;
  const isAsQueued = effects === record.effects && call.class === record.class;
  if (isAsQueued && plan === undefined && call.hookResults === undefined && !mutated) {
    recorder.note(record, "tool.started");
    return;
  }
  const data = {
    decision,
    decision_ref: decisionRef(call),
    class: call.class,
    effects,
    is_destructive: plan?.destructive ?? effects.destructive,
    interrupt_behavior,
    digest: plan?.digest,
    hooks: call.hookResults,
    // As permission_input: absent where it is the model_input.
    call_input: mutated ? seenInput(call).redacted : undefined,
  };
  recorder.recordClean("tool.started", data, call);
}

async function runChild(call: AcceptedCall, turn: TurnControl): Promise<Ending> {
  const { run } = call;
  const limit = run.config.agents.max_children_per_run;
  if (run.childrenStarted >= limit) {
    const message = `This run has started its ${limit} child agents; it may not start another.`;
    return endCall("failed", "child_agent_limit_exceeded", message);
  }
  run.childrenStarted += 1;
  const place = run.children.enter();
  const waited = await unlessCancelled(call, place);
  if (waited.cancelled) {
    run.childrenStarted -= 1;
    void place.then((leave) => leave());
    return endCancelled(call);
  }
  try {
    const end = await startDurably(call, turn);
    // Refused by its own handler: no agent was started.
    if (end.outcome.error?.details?.["started"] === false) run.childrenStarted -= 1;
    return end;
  } finally {
    waited.value();
  }
}

/** Judges again what the plan added, and asks where the user has to decide. */
async function authorizePlan(call: AcceptedCall, turn: TurnControl): Promise<Ending | undefined> {
  const first = call.judged ?? judgeCall(call, "plan");
  if (call.planFailure !== undefined) return failToPlan(call, turn, call.planFailure, first);
  const adds = planAdds(call, first.facts);
  if (adds && isHiddenBeforeYes(call, first)) return askThenJudge(call, turn);
  const { judgement } = adds ? judgeCall(call, "plan") : first;
  if (judgement.decision === "allow") return undefined;
  if (judgement.decision === "deny") return denyByPolicy(call, judgement);
  return requestApproval(call, turn);
}

/** A judgement of the plan would say whether a restricted file is there, so the question is put first (PIPE-9). */
async function askThenJudge(call: AcceptedCall, turn: TurnControl): Promise<Ending | undefined> {
  const refused = await requestApproval(call, turn);
  if (refused !== undefined) return refused;
  const { decision, decisionSeq } = call;
  const { judgement } = judgeCall(call, "plan");
  if (judgement.decision === "deny") return denyByPolicy(call, judgement);
  // The user who said yes was shown the plan: the call still runs by that answer.
  call.decision = decision;
  call.decisionSeq = decisionSeq;
  return undefined;
}

function judgeCall(call: AcceptedCall, stage: "targets" | "plan"): Judged {
  const { run, mutated } = call;
  const isPlain = stage === "targets" && hasPlainFacts(call);
  const last = isPlain ? run.plainVerdicts.get(call.tool) : undefined;
  const { known: secrets } = run.redactor;
  const isSame =
    last?.effects === call.effects && last.context === run.context && last.secrets === secrets;
  if (isSame) return recordVerdict(call, last, last.data);
  const facts = permissionFacts(call, run.context);
  const judgement = evaluate(run.policy, facts, run.grants);
  const { decision, reason, chain, grant_id } = judgement;
  const { permission, effects, resources, hosts, planned_destructive } = facts;
  // The words of a rule, too, may hold a secret.
  const data = run.redactor.value({
    decision,
    reason,
    chain,
    permission,
    effects,
    resources,
    hosts,
    planned_destructive,
    // Absent where nothing changed it: then it is the model_input of the request (SCHEMA-6).
    permission_input: mutated ? seenInput(call).redacted : undefined,
    grant_id,
    digest: call.plan?.digest,
    // Absent for a tool that plans nothing: it is judged once.
    stage: call.tool.definition.prepare === undefined ? undefined : stage,
  });
  // Without targets there is nothing in it but the words of rules and our own.
  const isOurs =
    !mutated && resources.length === 0 && hosts.length === 0 && facts.hook === undefined;
  if (isPlain && decision === "allow" && grant_id === undefined) {
    const { input_digest: _ofThisCall, ...ofAll } = facts;
    // The facts of all these calls have it: no reader of one may change it for the others.
    deepFreeze(data);
    const { context } = run;
    const verdict = { effects: call.effects, context, secrets, facts: ofAll, judgement, data };
    run.plainVerdicts.set(call.tool, verdict);
  }
  if (isOurs && call.record.evaluated === undefined) {
    return recordVerdict(call, { facts, judgement }, data);
  }
  call.decisionSeq = run.recorder.recordClean("permission.evaluated", data, call).seq;
  call.decision = decision;
  return (call.judged = { facts, judgement });
}

function recordVerdict(
  call: AcceptedCall,
  judged: Judged,
  data: FactData<"permission.evaluated">,
): Judged {
  call.record.evaluated = data;
  call.decisionSeq = call.run.recorder.note(call.record, "permission.evaluated");
  call.decision = judged.judgement.decision;
  return (call.judged = judged);
}

function denyByPolicy({ tool_name }: Call, { reason, code = "policy_denied" }: Judgement): Ending {
  return endCall("denied", "policy_denied", `${tool_name} is denied: ${reason}`, { code });
}

/**
 * A call that cannot be planned has passed hooks and the first judgement. Where that let it through, or where the
 * model may read the targets anyway, the model learns why; else the user has to say yes first (PIPE-9).
 */
async function failToPlan(
  call: AcceptedCall,
  turn: TurnControl,
  failure: Ending,
  { judgement }: Judged,
): Promise<Ending> {
  if (judgement.decision === "deny") return denyByPolicy(call, judgement);
  // A yes to a change is none to reading what is there.
  const isWithheld = !call.effects.read_only && isPrivatePreview(call, { kind: "text", text: "" });
  const reported = isWithheld ? withhold(call, failure) : failure;
  if (judgement.decision === "allow" || mayReadTargets(call)) return reported;
  return (await requestApproval(call, turn)) ?? reported;
}

/** The same failure without what it would say of a restricted file. */
function withhold({ tool_name }: Call, { status, outcome }: Ending): Ending {
  const { code = "prepare_failed", error_class = "execution_failed" } = outcome.error ?? {};
  const message = `${tool_name} could not be carried out as given (${code}); nothing was done. Why is not reported, because it would show what is in a restricted file. Ask the user.`;
  const error = toolError({ code, error_class, message, recovery: "ask_the_user" });
  return { ...endWith(status, error), unplannable: true };
}
