// Where policy says ask: the request, who answers it, and what the answer means (PERM-4…8, PERM-13, PERM-18, HOOK-4).
// No other place in Soong asks for permission.

import { runHook } from "../hook/index.ts";
import type { GivenUp, Waited } from "../journal/index.ts";
import {
  alwaysRule,
  describeScopes,
  type Judgement,
  type PermissionFacts,
  type ToolGrant,
} from "../permission/index.ts";
import { redactedPreview, visibleJson } from "../result/index.ts";
import { asJson } from "@soong/schema";
import { messageOf, toolError, type Preview } from "../tool/index.ts";
import {
  cancelledEnding,
  ending,
  toolOf,
  withinCall,
  type Call,
  type Ending,
  type TurnControl,
} from "./call.ts";
import { hookPorts, hookSubject, notifyHooks, seenInput } from "./hook-view.ts";
import type { RunAuthority, RunBase, RunPeople, RunTools } from "./host.ts";
import { callDigest } from "./permission-facts.ts";
import {
  NobodyToAsk,
  readPermissionAnswer,
  type PermissionAnswer,
  type PermissionRequest,
} from "./permission-request.ts";
import { planAgain, type PlanHost } from "./plan-call.ts";
import { denyByHook } from "./pre-tool-hooks.ts";
import { isPrivatePreview } from "./readable-targets.ts";

export type ApprovalHost = PlanHost & RunPeople & RunTools;

export type Judged = NonNullable<Call["judged"]>;

export async function requestApproval(
  host: ApprovalHost,
  call: Call,
  turn: TurnControl,
): Promise<Ending | undefined> {
  const { facts, judgement } = call.judged as Judged;
  const made = permissionRequest(host, call, facts, judgement);
  const request_id = await host.findRequestId?.(made);
  const request = request_id === undefined ? made : { ...made, request_id };
  const guarded = host.hooks.has("PermissionRequest")
    ? await permissionHooks(host, call, request)
    : undefined;
  if (guarded !== undefined) return guarded;
  if (call.cancellation !== undefined) return cancelledEnding(call);
  if (call.given.made_by === "runtime") {
    return denyUnanswered(
      host,
      call,
      request,
      judgement,
      "no one is asked about a call of the runtime",
    );
  }
  if (host.ask === undefined) {
    return denyUnanswered(host, call, request, judgement, "there is nobody to ask");
  }
  if (previewLength(call.plan?.preview) > MAX_SHOWN_CHARS) {
    const why = `what it would do is too long to be shown to anybody (over ${MAX_SHOWN_CHARS} characters); do it in smaller steps`;
    return denyUnanswered(host, call, request, judgement, why);
  }
  host.recorder.record("permission.requested", { request }, call);
  const shown = withWholePreview(host, call, request);
  const { ask } = host;
  const answer = withinCall(host.clock, call, host.config.permissions.ask_timeout_ms, () =>
    // A copy: the callback cannot change the request.
    ask(JSON.parse(JSON.stringify(shown)) as PermissionRequest, {
      signal: call.signal,
      recorded: request,
    }),
  );
  const why = `${call.tool_name} needs permission: ${judgement.reason}`;
  const [answered] = await Promise.all([
    // Recorded when it is given: the call may still have to wait for a slot after that.
    turn.waitForPerson(
      call,
      answer.then((reply) => recordReply(host, call, request, judgement, reply)),
    ),
    notifyHooks(host, call, "permission", why),
  ]);
  if (call.cancellation !== undefined) return cancelledEnding(call);
  return "outcome" in answered ? answered : takeAnswer(host, call, request, answered, judgement);
}

/** What was answered, or how the call ends without an answer. */
function recordReply(
  host: RunBase,
  call: Call,
  request: PermissionRequest,
  judgement: Judgement,
  reply: Waited<unknown> | GivenUp,
): PermissionAnswer | Ending {
  if (reply.kind === "given_up" || call.cancellation !== undefined) return cancelledEnding(call);
  if (reply.kind === "timed_out") {
    return denyUnanswered(host, call, request, judgement, `nobody answered within ${reply.ms} ms`);
  }
  if (reply.kind === "threw") {
    const why = messageOf(reply.error);
    const isNobody = reply.error instanceof NobodyToAsk;
    return denyUnanswered(host, call, request, judgement, isNobody ? why : `asking failed: ${why}`);
  }
  const given = readPermissionAnswer(reply.value);
  if (typeof given === "string")
    return denyUnanswered(host, call, request, judgement, `asking failed: it ${given}`);
  const answer = host.redactor.value(given);
  const { request_id, digest } = request;
  const resolved = host.recorder.record(
    "permission.resolved",
    { request_id, ...answer, digest },
    call,
  );
  call.decision = answer.decision;
  call.decisionRef = resolved.id;
  return answer;
}

async function takeAnswer(
  host: ApprovalHost,
  call: Call,
  request: PermissionRequest,
  answer: PermissionAnswer,
  judgement: Judgement,
): Promise<Ending | undefined> {
  if (answer.decision === "deny") {
    const why = answer.reason === undefined ? "" : `: ${answer.reason}`;
    return ending(
      "rejected",
      toolError({
        code: "rejected_by_user",
        error_class: "approval_rejected",
        message: `${whoSaid(answer)} said no to ${call.tool_name}${why}`,
        recovery: "ask_the_user",
      }),
    );
  }
  const changed = await changedSinceApproval(host, call, request.digest);
  if (changed !== undefined) return changed;
  // A question that is put every time covers nothing: there is nothing to remember.
  const remembers = answer.decision === "allow_for_session" && judgement.scopes.length > 0;
  if (remembers) remember(host, call, judgement, answer);
  return undefined;
}

/** A client may have answered without its user: only other answers are the user's. */
function whoSaid({ answered_by = "" }: PermissionAnswer): string {
  return answered_by.startsWith("client ") ? `The ${answered_by}` : "The user";
}

/** Planned again after the wait: what was approved is what happens, or nothing does (PERM-8). */
async function changedSinceApproval(
  host: ApprovalHost,
  call: Call,
  approved: string,
): Promise<Ending | undefined> {
  if (call.plan === undefined) return undefined;
  const again = await planAgain(host, call);
  if (call.cancellation !== undefined) return cancelledEnding(call);
  if (again.ok && again.value === approved) return undefined;
  const why = again.ok
    ? ""
    : ` (${again.ending.outcome.error?.message ?? "it can no longer be planned"})`;
  const end = ending(
    "failed",
    toolError({
      code: "changed_since_approval",
      error_class: "execution_failed",
      message: `What ${call.tool_name} would do has changed since it was approved${why}; nothing was done. Look again, then call again.`,
      retryable: true,
      recovery: "retry",
    }),
  );
  return { ...end, unplannable: true };
}

function remember(
  host: RunBase & RunAuthority,
  call: Call,
  judgement: Judgement,
  answer: PermissionAnswer,
): void {
  const grant: ToolGrant = {
    grant_id: host.ids.next("grant"),
    tool_name: call.tool_name,
    // As they are: a later call is compared with them. What is recorded of them is redacted.
    scopes: [...judgement.scopes],
    session_id: host.identity.session_id,
    granted_by: answer.answered_by ?? "user",
    granted_at: new Date(host.clock.now()).toISOString(),
    tool_call_id: call.tool_call_id,
    agent_id: host.identity.agent_id,
  };
  host.grants.add(grant);
  host.recorder.record("grant.created", { grant }, call);
}

/** No one to ask, a callback that throws, an invalid answer or none in time: that is a no (PERM-4). */
function denyUnanswered(
  host: RunBase,
  call: Call,
  request: PermissionRequest,
  judgement: Judgement,
  why: string,
): Ending {
  host.recorder.record(
    "permission.failed",
    { request_id: request.request_id, message: why },
    call,
    "warn",
  );
  return ending(
    "denied",
    toolError({
      code: judgement.code ?? "permission_unanswered",
      error_class: "permission_denied",
      message: `${call.tool_name} needs permission (${judgement.reason}), and ${why}.`,
      recovery: "needs_approval",
    }),
  );
}

async function permissionHooks(
  host: ApprovalHost,
  call: Call,
  request: PermissionRequest,
): Promise<Ending | undefined> {
  for (const hook of host.hooks.matching("PermissionRequest", hookSubject(call))) {
    const payload = { request: asJson(request) };
    const outcome = await runHook(hook, "PermissionRequest", payload, hookPorts(host, call), call);
    if (call.cancellation !== undefined) return cancelledEnding(call);
    // A readonly call is being asked about already, so a failed guard changes nothing for it.
    if (!outcome.ok && !outcome.continues && !call.effects.read_only) {
      return denyByHook(host, call, hook.id, `the hook "${hook.id}" failed (${outcome.message})`);
    }
    if (outcome.ok && outcome.answer.decision === "deny") {
      const reason = outcome.answer.reason ?? `the hook "${hook.id}" refused this call`;
      return denyByHook(host, call, hook.id, reason);
    }
  }
  return undefined;
}

function permissionRequest(
  host: ApprovalHost,
  call: Call,
  facts: PermissionFacts,
  judgement: Judgement,
): PermissionRequest {
  const tool = toolOf(call);
  const { session_id, run_id, agent_id, parent_run_id, parent_agent_id, role } = host.identity;
  const dangerous = tool.tags.includes("dangerous");
  const command = facts.resources.find(({ kind }) => kind === "command");
  const env = call.plan?.env_summary ?? tool.definition.metadata?.["env"];
  const { tool_name } = call;
  const { scopes, chain } = judgement;
  const rule = alwaysRule({
    tool_name,
    scopes,
    chain,
    resources: facts.resources,
    ...(host.roots.project === "" ? {} : { project: host.roots.project }),
    canBeWritten: (path) => host.policy.boundary.isOrdinaryWrite(path) === true,
  });
  const preview = shownPreview(host, call);
  const isPrivate = preview !== undefined && isPrivatePreview(host, call, preview);
  // What the plan found out of a restricted file, such as that it is there, is not told either.
  const destructive =
    (isPrivate ? undefined : facts.planned_destructive) ?? call.effects.destructive;
  const request: PermissionRequest = {
    request_id: host.ids.next("ask"),
    session_id,
    run_id,
    agent_id,
    ...(parent_run_id === undefined ? {} : { parent_run_id }),
    ...(parent_agent_id === undefined ? {} : { parent_agent_id }),
    role,
    tool_call_id: call.tool_call_id,
    tool_name: call.tool_name,
    description: tool.definition.description,
    permission: facts.permission,
    tags: tool.tags,
    arguments: seenInput(host, call).redacted,
    ...(preview === undefined ? {} : { preview: redactPreview(host, preview) }),
    ...(isPrivate ? { preview: PRIVATE, preview_is_private: true } : {}),
    resources: facts.resources,
    scopes: judgement.scopes,
    session_scope: describeScopes(call.tool_name, judgement.scopes),
    ...(rule === undefined ? {} : { always_rule: rule }),
    cwd: command?.kind === "command" ? command.cwd : host.roots.project,
    ...(Array.isArray(env) ? { env_summary: env.map(String) } : {}),
    network_hosts: facts.hosts,
    dangerous,
    destructive,
    hook_results: call.hookResults ?? [],
    reason: judgement.reason,
    chain: judgement.chain,
    suggested_decision: dangerous || destructive ? "deny" : "allow_once",
    digest: callDigest(call),
  };
  return host.redactor.value(request);
}

/** Of a call without a plan there is its input. Why is said by its code: the message may say what is in the file. */
function shownPreview(host: RunBase, call: Call): Preview | undefined {
  if (call.planFailure === undefined) return call.plan?.preview;
  const { code } = call.planFailure.outcome.error ?? { code: "not_planned" };
  const input = visibleJson(seenInput(host, call).redacted);
  const text = `No preview could be made: this call cannot be carried out as given (${code}).\nIts input: ${input}`;
  return { kind: "text", text };
}

/** What hooks, records and relays have instead of a preview that shows a restricted file (PIPE-9). */
const PRIVATE: Preview = {
  kind: "text",
  text: "The preview shows content of a restricted file; only the person who is asked sees it.",
};

/** For hooks and records: redacted, then cut. */
function redactPreview(host: RunBase, preview: Preview): Preview {
  return mapPreview(preview, (text) => redactedPreview(host.redactor, text, MAX_PREVIEW_CHARS));
}

/** Whoever is asked sees all of it (PERM-19). */
function withWholePreview(
  host: RunBase,
  call: Call,
  request: PermissionRequest,
): PermissionRequest {
  const preview = shownPreview(host, call);
  const isWhole = previewLength(preview) <= MAX_PREVIEW_CHARS && !request.preview_is_private;
  if (isWhole || preview === undefined) return request;
  return { ...request, preview: mapPreview(preview, (text) => host.redactor.text(text)) };
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
/** No person reads more, and no channel has to carry more. */
const MAX_SHOWN_CHARS = 1024 * 1024;
