// Where policy says ask: the request, who answers it, and what the answer means
// (PERM-4…8, PERM-13, PERM-18, HOOK-4). No other place in Soong asks for permission.

import { asJson, omitUndefined } from "@soong/schema";
import type { GivenUp, Waited } from "../journal/index.ts";
import {
  alwaysRule,
  describeScopes,
  scopeChoices,
  type GrantScope,
  type Judgement,
  type PermissionRule,
  type ToolGrant,
} from "../permission/index.ts";
import { redactedPreview } from "../result/head-tail.ts";
import { visibleJson } from "../result/visible.ts";
import { messageOf, type PlannedSandbox, type Preview } from "../tool/index.ts";
import {
  withinCall,
  type AcceptedCall,
  type Call,
  type Ending,
  type Judged,
  type TurnControl,
} from "./call.ts";
import { notifyHooks, runPermissionHooks, seenInput } from "./call-hooks.ts";
import { endCall, endCancelled, endRejected } from "./endings.ts";
import { callDigest, isPrivatePreview } from "./permission-facts.ts";
import {
  NoOneToAsk,
  readPermissionAnswer,
  type PermissionAnswer,
  type PermissionRequest,
} from "./permission-request.ts";
import { planAgain } from "./plan-call.ts";

export async function requestApproval(
  call: AcceptedCall,
  turn: TurnControl,
): Promise<Ending | undefined> {
  const { ask, findRequestId, hooks, config, recorder } = call.run;
  const { judgement } = call.judged as Judged;
  const made = createRequest(call, call.judged as Judged);
  const request_id = await findRequestId?.(made);
  const request = request_id === undefined ? made : { ...made, request_id };
  const guarded = hooks.has("PermissionRequest")
    ? await runPermissionHooks(call, asJson(request))
    : undefined;
  if (guarded !== undefined) return guarded;
  if (call.cancellation !== undefined) return endCancelled(call);
  const deny = (why: string): Ending => denyUnanswered(call, request, judgement, why);
  if (call.given.made_by === "runtime")
    return deny("a call of the runtime itself cannot request approval");
  if (ask === undefined) return deny("there is no one to ask");
  if (previewLength(call.plan?.preview) > MAX_SHOWN_CHARS) {
    return deny(
      `what it would do is too long to be shown (over ${MAX_SHOWN_CHARS} characters); do it in smaller steps`,
    );
  }
  recorder.record("permission.requested", { request }, call);
  const shown = withWholePreview(call, request);
  const answer = withinCall(
    call,
    () =>
      // A copy: the callback cannot change the request.
      ask(JSON.parse(JSON.stringify(shown)) as PermissionRequest, {
        signal: call.signal,
        recorded: request,
      }),
    config.permissions.ask_timeout_ms ?? Number.POSITIVE_INFINITY,
  );
  const why = `${call.tool_name} needs permission: ${judgement.reason}`;
  const [answered] = await Promise.all([
    // Recorded when it is given: the call may still have to wait for a slot after that.
    turn.waitForUser(
      call,
      answer.then((reply) => recordReply(call, request, deny, reply)),
    ),
    notifyHooks(call, "permission", why),
  ]);
  if (call.cancellation !== undefined) return endCancelled(call);
  return "outcome" in answered ? answered : takeAnswer(call, request, answered);
}

/** For hooks and records: that a restricted file is there is not said before a yes (PIPE-9). How many are masked is. */
function countMasked(sandbox: PlannedSandbox): PlannedSandbox {
  if (sandbox.state !== "applied") return sandbox;
  const { masked, masked_more = 0 } = sandbox;
  return { ...sandbox, masked: [], masked_more: masked.length + masked_more };
}

/** What was answered, or how the call ends without an answer. */
function recordReply(
  call: Call,
  { request_id, digest }: PermissionRequest,
  deny: (why: string) => Ending,
  reply: Waited<unknown> | GivenUp,
): PermissionAnswer | Ending {
  if (reply.kind === "given_up" || call.cancellation !== undefined) return endCancelled(call);
  if (reply.kind === "timed_out") return deny(`no one answered within ${reply.ms} ms`);
  if (reply.kind === "threw") {
    const why = messageOf(reply.error);
    return deny(reply.error instanceof NoOneToAsk ? why : `asking failed: ${why}`);
  }
  const given = readPermissionAnswer(reply.value);
  if (typeof given === "string") return deny(`asking failed: it ${given}`);
  if (given.decision !== "deny" && chosenScopes(call, given) === undefined) {
    return deny(`asking failed: it answered with the scope ${given.scope}, which was not offered`);
  }
  const { recorder, redactor } = call.run;
  const answer = redactor.value(given);
  const data = { request_id, ...answer, digest };
  call.decisionSeq = recorder.record("permission.resolved", data, call).seq;
  call.decision = answer.decision;
  return answer;
}

async function takeAnswer(
  call: AcceptedCall,
  { digest }: PermissionRequest,
  answer: PermissionAnswer,
): Promise<Ending | undefined> {
  if (answer.decision === "deny") {
    const { reason, answered_by = "" } = answer;
    // A client may have answered without its user: only other answers are the user's.
    const who = answered_by.startsWith("client ") ? `The ${answered_by}` : undefined;
    return endRejected(call, reason, who);
  }
  const changed = await checkUnchanged(call, digest);
  if (changed !== undefined) return changed;
  // A question that is put every time covers nothing: there is nothing to remember.
  const scopes = chosenScopes(call, answer) ?? [];
  if (answer.decision === "allow_for_session" && scopes.length > 0) remember(call, scopes, answer);
  return undefined;
}

/** As they were before redaction. Undefined: what was chosen was not offered. */
function chosenScopes(call: Call, { scope }: PermissionAnswer): readonly GrantScope[] | undefined {
  const { facts, judgement } = call.judged as Judged;
  if (scope === undefined) return judgement.scopes;
  const choices = scopeChoices(call.run.policy, facts, judgement);
  return choices.find(({ id }) => id === scope)?.scopes;
}

/** Planned again after the wait: what was approved is what happens, or nothing does (PERM-8). */
async function checkUnchanged(call: AcceptedCall, approved: string): Promise<Ending | undefined> {
  if (call.plan === undefined) return undefined;
  const again = await planAgain(call);
  if (call.cancellation !== undefined) return endCancelled(call);
  if (again.ok && again.value.digest === approved) return undefined;
  const why = again.ok
    ? ""
    : ` (${again.ending.outcome.error?.message ?? "it can no longer be planned"})`;
  const message = `What ${call.tool_name} would do has changed since it was approved${why}; nothing was done. Look again, then call again.`;
  return { ...endCall("failed", "changed_since_approval", message), unplannable: true };
}

function remember(call: Call, scopes: readonly GrantScope[], answer: PermissionAnswer): void {
  const { ids, clock, identity, grants, recorder } = call.run;
  const grant: ToolGrant = {
    grant_id: ids.next("grant"),
    tool_name: call.tool_name,
    // As they are: a later call is compared with them. What is recorded of them is redacted.
    scopes: [...scopes],
    session_id: identity.session_id,
    granted_by: answer.answered_by ?? "user",
    granted_at: new Date(clock.now()).toISOString(),
    tool_call_id: call.tool_call_id,
    agent_id: identity.agent_id,
  };
  grants.add(grant);
  recorder.record("grant.created", { grant }, call);
}

/** No one to ask, a callback that throws, an invalid answer or none in time: that is a no (PERM-4). */
function denyUnanswered(
  call: Call,
  { request_id }: PermissionRequest,
  { code = "permission_unanswered", reason }: Judgement,
  why: string,
): Ending {
  call.run.recorder.record("permission.failed", { request_id, message: why }, call, "warn");
  // A rule to paste is the end of it, or no longer one.
  const end = why.endsWith(".") || why.includes("\n") ? "" : ".";
  const message = `${call.tool_name} needs permission (${reason}), and ${why}${end}`;
  return endCall("denied", "permission_unanswered", message, { code });
}

function createRequest(call: AcceptedCall, { facts, judgement }: Judged): PermissionRequest {
  const { run, tool, tool_name, tool_call_id, plan } = call;
  const { definition, tags } = tool;
  const { scopes, chain, reason } = judgement;
  const { resources, permission } = facts;
  const { project } = run.roots;
  const dangerous = tags.includes("dangerous");
  const command = resources.find((one) => one.kind === "command");
  const env = plan?.env_summary ?? definition.metadata?.["env"];
  const findRule = (covered: readonly GrantScope[]): PermissionRule | undefined =>
    alwaysRule({
      tool_name,
      scopes: covered,
      chain,
      resources,
      project: project === "" ? undefined : project,
      canBeWritten: (path) => run.policy.boundary.isOrdinaryWrite(path) === true,
    });
  const choices = scopeChoices(run.policy, facts, judgement).map((choice) =>
    omitUndefined({
      ...choice,
      session_scope: describeScopes(tool_name, choice.scopes),
      always_rule: findRule(choice.scopes),
    }),
  );
  const shown = shownPreview(call);
  const isPrivate = shown !== undefined && isPrivatePreview(call, shown);
  // For hooks and records: redacted, then cut.
  const cut = (text: string): string => redactedPreview(run.redactor, text, MAX_PREVIEW_CHARS);
  const preview = shown && mapPreview(shown, cut);
  // What the plan found out of a restricted file, such as that it is there, is not shown either.
  const destructive =
    (isPrivate ? undefined : facts.planned_destructive) ?? call.effects.destructive;
  const request = omitUndefined({
    request_id: run.ids.next("ask"),
    ...run.identity,
    tool_call_id,
    tool_name,
    description: definition.description,
    permission,
    tags,
    arguments: seenInput(call).redacted,
    preview: isPrivate ? PRIVATE : preview,
    preview_is_private: isPrivate ? true : undefined,
    resources,
    scopes,
    session_scope: describeScopes(tool_name, scopes),
    scope_choices: choices.length === 0 ? undefined : choices,
    always_rule: findRule(scopes),
    cwd: command?.cwd ?? project,
    project: project === "" ? undefined : project,
    env_summary: Array.isArray(env) ? env.map(String) : undefined,
    sandbox: plan?.sandbox && countMasked(plan.sandbox),
    network_hosts: facts.hosts,
    dangerous,
    destructive,
    marks: tellingMarks(call, destructive, isPrivate),
    hook_results: call.hookResults ?? [],
    reason,
    chain,
    suggested_decision: dangerous || destructive ? ("deny" as const) : ("allow_once" as const),
    digest: callDigest(call),
  });
  return run.redactor.value(request);
}

/** A command that asks is always both, and of a tool that says nothing of itself destructive is only assumed. */
function tellingMarks(
  { tool, plan, targets }: AcceptedCall,
  destructive: boolean,
  isPrivate: boolean,
): ("dangerous" | "destructive")[] {
  const resources = targets?.resources ?? [];
  if (resources.some(({ kind }) => kind === "command")) return [];
  const saysSo = (isPrivate ? undefined : plan?.destructive) ?? tool.definition.destructive;
  return [
    ...(tool.tags.includes("dangerous") ? (["dangerous"] as const) : []),
    ...(destructive && saysSo === true ? (["destructive"] as const) : []),
  ];
}

/** Of a call without a plan there is its input. Why is said by its code: the message may say what is in the file. */
function shownPreview(call: AcceptedCall): Preview | undefined {
  if (call.planFailure === undefined) return call.plan?.preview;
  const { code } = call.planFailure.outcome.error ?? { code: "not_planned" };
  const input = visibleJson(seenInput(call).redacted);
  const text = `No preview could be made: this call cannot be carried out as given (${code}).\nIts input: ${input}`;
  return { kind: "text", text };
}

/** What hooks, records and relays have instead of a preview that shows a restricted file (PIPE-9). */
const PRIVATE: Preview = {
  kind: "text",
  text: "The preview shows content of a restricted file; only the user who is asked sees it.",
};

/** The user who is asked sees all of it (PERM-19). */
function withWholePreview(call: AcceptedCall, request: PermissionRequest): PermissionRequest {
  const preview = shownPreview(call);
  const isWhole = previewLength(preview) <= MAX_PREVIEW_CHARS && !request.preview_is_private;
  const whole =
    isWhole || preview === undefined
      ? undefined
      : mapPreview(preview, (text) => call.run.redactor.text(text));
  return { ...request, ...omitUndefined({ preview: whole, sandbox: call.plan?.sandbox }) };
}

function mapPreview(preview: Preview, change: (text: string) => string): Preview {
  if (preview.kind === "text") return { ...preview, text: change(preview.text) };
  if (preview.kind === "diff") return { ...preview, diff: change(preview.diff) };
  return preview;
}

function previewLength(preview: Preview | undefined): number {
  if (preview?.kind === "text") return preview.text.length;
  return preview?.kind === "diff" ? preview.diff.length : 0;
}

const MAX_PREVIEW_CHARS = 256 * 1024;
/** No user reads more, and no channel has to carry more. */
const MAX_SHOWN_CHARS = 1024 * 1024;
