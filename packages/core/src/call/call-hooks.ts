// Hooks of a call (HOOK-2…7): what they, and the user that a call is shown to, see of it, and what their answers mean. A guard
// may deny, ask, add context, stop the run, or replace the input. A replaced input is validated, its targets are resolved
// anew, and every guard sees it again, until nothing changes.

import { omitUndefined, sameJson, type JsonObject, type JsonValue } from "@soong/schema";
import { runHook, type HookOutcome, type HookPorts, type HookSubject } from "../hook/run-hooks.ts";
import type { AnyHook, HookAnswers, HookPayloads } from "../hook/hook.ts";
import { within } from "../journal/index.ts";
import { recordable } from "../result/read-return.ts";
import type { ToolResult } from "../tool/index.ts";
import {
  listResources,
  unlessCancelled,
  withinCall,
  type AcceptedCall,
  type Call,
  type Ending,
  type HookVerdict,
  type TurnControl,
} from "./call.ts";
import { endCall, endCancelled } from "./endings.ts";
import type { AddedNode } from "./host.ts";
import { addedResources, resolveTargets } from "./plan-call.ts";
import { recordMutation, validateInput } from "./validate.ts";

/** Hooks that still change the input after this many rounds do not agree with each other. */
const MAX_ROUNDS = 4;

export async function runPreToolHooks(
  call: AcceptedCall,
  turn: TurnControl,
): Promise<Ending | undefined> {
  while (call.guardRounds < MAX_ROUNDS) {
    call.guardRounds += 1;
    const guards = call.run.hooks.matching("PreToolUse", hookSubject(call));
    const end = await runGuards(call, turn, guards);
    if (end === "changed") continue;
    if (end === undefined) call.hookVerdict ??= reachedGuard(call);
    return end;
  }
  return denyByHook(call, "PreToolUse", `hooks keep changing the input of ${call.tool_name}`);
}

/** A plan may name paths that the targets did not: hooks on such a path run before anything executes. */
export async function runLateHooks(
  call: AcceptedCall,
  turn: TurnControl,
): Promise<Ending | "changed" | undefined> {
  if (addedResources(call).length === 0) return undefined;
  const late = call.run.hooks
    .matching("PreToolUse", hookSubject(call))
    .filter((hook) => call.guardedBy?.has(hook) !== true);
  return runGuards(call, turn, late);
}

/** How the call ends, if it does; or that its input is another one now. */
async function runGuards(
  call: AcceptedCall,
  turn: TurnControl,
  hooks: readonly AnyHook[],
): Promise<Ending | "changed" | undefined> {
  let changed = false;
  for (const hook of hooks) {
    const seen = seenInput(call);
    const payload = { ...describeUse(call, hook), input: seen.redacted };
    const outcome = await runHook(hook, "PreToolUse", payload, hookPorts(call), call);
    (call.guardedBy ??= new Set()).add(hook);
    if (call.cancellation !== undefined) return endCancelled(call);
    const stopped = readVerdict(call, turn, outcome);
    if (stopped !== undefined) return stopped;
    const replacement = outcome.ok ? outcome.answer.input : undefined;
    if (replacement === undefined) continue;
    const input = seen.restore(replacement) as JsonObject;
    if (sameJson(input, observableInput(call))) continue;
    changed = true;
    const problem = await takeReplacement(call, turn, hook.id, input);
    if (problem !== undefined) return problem;
  }
  return changed ? "changed" : undefined;
}

function readVerdict(
  call: AcceptedCall,
  turn: TurnControl,
  outcome: HookOutcome<"PreToolUse">,
): Ending | undefined {
  const { hook } = outcome;
  const answer: HookAnswers["PreToolUse"] = outcome.ok ? outcome.answer : {};
  const { decision, reason, context, stop } = answer;
  // For the user who may be asked, and for the record.
  const noted = {
    hook,
    event: "PreToolUse",
    outcome: outcome.ok ? (decision ?? "pass") : "failed",
    reason: outcome.ok ? reason : outcome.message,
    replaced_input: answer.input === undefined ? undefined : true,
  };
  (call.hookResults ??= []).push(omitUndefined(noted));
  if (!outcome.ok) {
    if (outcome.continues) return undefined;
    const why = `the hook "${hook}" failed (${outcome.message})`;
    if (!call.effects.read_only) return denyByHook(call, hook, why);
    call.hookVerdict = { decision: "ask", reason: why, hook };
    return undefined;
  }
  if (context !== undefined) (call.hookContext ??= new Map()).set(hook, context);
  if (stop !== undefined) {
    turn.stopRun(stop, hook);
    return denyByHook(call, hook, `the hook "${hook}" ended the run: ${stop}`, stop);
  }
  if (decision === "deny") return denyByHook(call, hook, reason ?? refusedBy(hook));
  if (decision === "ask") {
    const why = reason ?? `the hook "${hook}" requires approval`;
    call.hookVerdict = { decision, hook, reason: why };
  }
  return undefined;
}

async function takeReplacement(
  call: AcceptedCall,
  turn: TurnControl,
  hook: string,
  input: JsonObject,
): Promise<Ending | undefined> {
  recordMutation(call, `hook:${hook}`, "replaced by a PreToolUse hook", call.input, input);
  const scheduledAs = call.class;
  call.guardedBy = undefined;
  const problem = (await validateInput(call, input)) ?? (await retarget(call, turn, scheduledAs));
  const { error } = problem?.outcome ?? {};
  if (error !== undefined && problem?.status === "failed") {
    error.message = `After the hook "${hook}" changed the input: ${error.message}`;
  }
  return problem;
}

/** When the call may continue as what it now is: what ran before it may have changed where its names lead. */
async function retarget(
  call: AcceptedCall,
  turn: TurnControl,
  scheduledAs: Call["class"],
): Promise<Ending | undefined> {
  if (call.class !== scheduledAs) {
    const waited = await unlessCancelled(call, turn.reclassify(call));
    if (waited.cancelled) return endCancelled(call);
  }
  return resolveTargets(call);
}

function denyByHook(call: Call, hook: string, reason: string, stop?: string): Ending {
  call.run.recorder.record("hook.denied", { hook, reason, stop }, call, "warn");
  return endCall("denied", "hook_denied", `Denied by a hook: ${reason}`);
}

function refusedBy(hook: string): string {
  return `the hook "${hook}" refused this call`;
}

/** The guards of a question: they may deny before the user is asked. */
export async function runPermissionHooks(
  call: AcceptedCall,
  request: JsonObject,
): Promise<Ending | undefined> {
  for (const hook of call.run.hooks.matching("PermissionRequest", hookSubject(call))) {
    const outcome = await runHook(hook, "PermissionRequest", { request }, hookPorts(call), call);
    if (call.cancellation !== undefined) return endCancelled(call);
    // A readonly call already waits for approval, so a failed guard changes nothing for it.
    if (!outcome.ok && !outcome.continues && !call.effects.read_only) {
      return denyByHook(call, hook.id, `the hook "${hook.id}" failed (${outcome.message})`);
    }
    if (outcome.ok && outcome.answer.decision === "deny") {
      return denyByHook(call, hook.id, outcome.answer.reason ?? refusedBy(hook.id));
    }
  }
  return undefined;
}

/** They may add context to the result, and replace what the model reads of it. */
export async function runPostToolHooks(call: AcceptedCall, result: ToolResult): Promise<void> {
  const { redactor, hooks } = call.run;
  const event = result.is_error ? "PostToolUseFailure" : "PostToolUse";
  for (const hook of hooks.matching(event, hookSubject(call))) {
    const input = seenInput(call).redacted;
    const payload = { ...describeUse(call, hook), input, result };
    const outcome = await runHook(hook, event, payload, hookPorts(call), call);
    if (!outcome.ok) continue;
    const { context, replace }: HookAnswers["PostToolUse"] = outcome.answer;
    if (context !== undefined) call.added = [...call.added, hookNode(call, hook.id, context)];
    if (typeof replace === "string") {
      call.replaced = [{ type: "text", text: redactor.text(replace) }];
    } else if (replace !== undefined) call.replaced = redactor.value(replace);
  }
}

export function hookNode({ run }: Call, hook: string, text: string): AddedNode {
  const content: AddedNode["content"] = [{ type: "text", text: run.redactor.text(text) }];
  return { kind: "hook_context", content, data: { hook } };
}

/** HOOK-7: the call waits for the user. The hooks watch meanwhile; their outcome changes nothing. */
export async function notifyHooks(
  call: AcceptedCall,
  kind: HookPayloads["Notification"]["kind"],
  message: string,
): Promise<void> {
  const { hooks, clock, identity } = call.run;
  if (!hooks.has("Notification")) return;
  const { session_id, run_id } = identity;
  const { tool_call_id, tool_name } = call;
  const payload = { session_id, run_id, tool_call_id, tool_name, kind, message };
  const wait: HookPorts["wait"] = (ms, work) => within(clock, ms, work);
  for (const hook of hooks.matching("Notification", hookSubject(call))) {
    await runHook(hook, "Notification", payload, { ...hookPorts(call), wait }, call);
  }
}

export function hookSubject(call: AcceptedCall): HookSubject {
  const paths = listResources(call).flatMap((resource) => {
    if (resource.kind === "host") return [];
    return resource.kind === "path" ? [resource.path, ...(resource.also ?? [])] : [resource.cwd];
  });
  return { tool_name: call.tool_name, tags: call.tool.tags, paths };
}

/** Asks for a guard of a path that the call only may reach: nothing is named that the guard could judge (PERM-15). */
export function reachedGuard(call: AcceptedCall): HookVerdict | undefined {
  const { hooks } = call.run;
  const subject = hookSubject(call);
  for (const resource of listResources(call)) {
    if (resource.kind === "host") continue;
    for (const path of resource.may_reach ?? []) {
      const guard = hooks.guardOf({ path, access: "read" }, subject);
      if (guard === undefined || hooks.matchedPath(guard, subject) !== undefined) continue;
      const hook = guard.id;
      const isCommand = resource.kind === "command";
      const answer = isCommand ? " A rule that allows this very command answers it." : "";
      return {
        decision: "ask",
        hook,
        reason: `This ${isCommand ? "program" : "call"} could reach ${JSON.stringify(path)}, which the hook "${hook}" guards, without naming it, so the hook cannot judge it.${answer}`,
        ...(isCommand ? { unspelled: true } : {}),
      };
    }
  }
  return undefined;
}

/** With the path that made a hook with a `path` match. */
function describeUse(call: AcceptedCall, hook: AnyHook) {
  const { session_id, run_id, agent_id } = call.run.identity;
  const { tool_call_id, tool_name } = call;
  const path = call.run.hooks.matchedPath(hook, hookSubject(call));
  return { session_id, run_id, agent_id, tool_call_id, tool_name, path };
}

export function hookPorts(call: Call): HookPorts {
  const { clock, recorder, redactor, config } = call.run;
  return {
    clock,
    recorder,
    redactor,
    signal: () => call.signal,
    defaultTimeoutMs: config.hooks.timeout_ms,
    wait: (ms, work) => withinCall(call, work, ms),
  };
}

/** JSON, and such that giving it again means the same call. */
function observableInput(call: Call): JsonValue {
  return call.observable ?? recordable(call.input);
}

/** The input as hooks and the user see it: without secrets, and with a way back for what they return. */
export function seenInput(call: AcceptedCall): {
  redacted: JsonValue;
  restore(value: JsonValue): JsonValue;
} {
  return call.run.redactor.reversible(observableInput(call), call.tool.input.sensitive);
}
