// PreToolUse hooks (HOOK-2…4): they may deny, ask, add context, stop the run, or replace the input. A
// replaced input is validated, its targets are resolved anew, and every guard sees it again, until nothing changes.

import { runHook, type AnyHook, type HookAnswers, type HookOutcome } from "../hook/index.ts";
import type { JsonObject } from "../schema/index.ts";
import { toolError } from "../tool/index.ts";
import { admitInput, recordMutation } from "./admit-input.ts";
import {
  cancelledEnding,
  ending,
  sameJson,
  unlessCancelled,
  type Call,
  type Ending,
} from "./call.ts";
import type { Gate } from "./gate.ts";
import {
  hookIdentity,
  hookPorts,
  hookSubject,
  matchedPath,
  observableInput,
  reachedGuard,
  seenInput,
} from "./hook-view.ts";
import type { CallHost } from "./host.ts";
import { addedResources, resolveTargets } from "./prepare.ts";

/** Hooks that still change the input after this many rounds do not agree with each other. */
const MAX_ROUNDS = 4;

export async function guardCall(
  host: CallHost,
  call: Call,
  gate: Gate,
): Promise<Ending | undefined> {
  while (call.guardRounds < MAX_ROUNDS) {
    call.guardRounds += 1;
    const guards = host.hooks.matching("PreToolUse", hookSubject(call));
    const end = await runGuards(host, call, gate, guards);
    if (end === "changed") continue;
    if (end === undefined) call.hookVerdict ??= reachedGuard(host, call);
    return end;
  }
  return denied(host, call, "PreToolUse", `hooks keep changing the input of ${call.tool_name}`);
}

/** Those of a path that only the plan named: they have not seen this call yet. */
export function lateGuards(host: CallHost, call: Call): readonly AnyHook[] {
  if (!host.hooks.has("PreToolUse") || addedResources(call).length === 0) return NO_HOOKS;
  return host.hooks
    .matching("PreToolUse", hookSubject(call))
    .filter((hook) => call.guardedBy?.has(hook) !== true);
}

const NO_HOOKS: readonly AnyHook[] = [];

/** How the call ends, if it does; or that its input is another one now. */
export async function runGuards(
  host: CallHost,
  call: Call,
  gate: Gate,
  hooks: readonly AnyHook[],
): Promise<Ending | "changed" | undefined> {
  let changed = false;
  for (const hook of hooks) {
    const seen = seenInput(host, call);
    const payload = {
      ...hookIdentity(host, call),
      input: seen.redacted,
      ...matchedPath(host, call, hook),
    };
    const outcome = await runHook(hook, "PreToolUse", payload, hookPorts(host, call), call);
    (call.guardedBy ??= new Set()).add(hook);
    if (call.cancellation !== undefined) return cancelledEnding(call);
    const stopped = verdictOf(host, call, gate, outcome);
    if (stopped !== undefined) return stopped;
    const replacement = outcome.ok ? outcome.answer.input : undefined;
    if (replacement === undefined) continue;
    const input = seen.restore(replacement) as JsonObject;
    if (sameJson(input, observableInput(call))) continue;
    changed = true;
    const problem = await takeReplacement(host, call, gate, hook.id, input);
    if (problem !== undefined) return problem;
  }
  return changed ? "changed" : undefined;
}

function verdictOf(
  host: CallHost,
  call: Call,
  gate: Gate,
  outcome: HookOutcome<"PreToolUse">,
): Ending | undefined {
  const { hook } = outcome;
  noteResult(call, outcome);
  if (!outcome.ok) {
    if (outcome.continues) return undefined;
    const reason = `the hook "${hook}" failed (${outcome.message})`;
    if (!call.effects.read_only) return denied(host, call, hook, reason);
    call.hookVerdict = { decision: "ask", reason, hook };
    return undefined;
  }
  const { decision, reason, context, stop }: HookAnswers["PreToolUse"] = outcome.answer;
  if (context !== undefined) (call.hookContext ??= new Map()).set(hook, context);
  if (stop !== undefined) {
    gate.stopRun(stop, hook);
    return denied(host, call, hook, `the hook "${hook}" ended the run: ${stop}`, stop);
  }
  if (decision === "deny") {
    return denied(host, call, hook, reason ?? `the hook "${hook}" refused this call`);
  }
  if (decision === "ask") {
    call.hookVerdict = {
      decision,
      hook,
      reason: reason ?? `the hook "${hook}" wants a person to decide`,
    };
  }
  return undefined;
}

/** For the person who may be asked, and for the record. */
function noteResult(call: Call, outcome: HookOutcome<"PreToolUse">): void {
  const { hook } = outcome;
  const { decision, reason, input } = outcome.ok ? outcome.answer : {};
  (call.hookResults ??= []).push({
    hook,
    event: "PreToolUse",
    outcome: outcome.ok ? (decision ?? "pass") : "failed",
    ...(reason === undefined ? {} : { reason }),
    ...(outcome.ok ? {} : { reason: outcome.message }),
    ...(input === undefined ? {} : { replaced_input: true }),
  });
}

async function takeReplacement(
  host: CallHost,
  call: Call,
  gate: Gate,
  hook: string,
  input: JsonObject,
): Promise<Ending | undefined> {
  recordMutation(host, call, `hook:${hook}`, "replaced by a PreToolUse hook", call.input, input);
  const scheduledAs = call.class;
  call.guardedBy = undefined;
  const problem =
    (await admitInput(host, call, input)) ?? (await retarget(host, call, gate, scheduledAs));
  const { error } = problem?.outcome ?? {};
  if (error !== undefined && problem?.status === "failed") {
    error.message = `After the hook "${hook}" changed the input: ${error.message}`;
  }
  return problem;
}

/** When the call may go on as what it now is: what ran before it may have changed where its names lead. */
async function retarget(
  host: CallHost,
  call: Call,
  gate: Gate,
  scheduledAs: Call["class"],
): Promise<Ending | undefined> {
  if (call.class !== scheduledAs) {
    const waited = await unlessCancelled(call, gate.reclassify(call.class));
    if (waited.cancelled) return cancelledEnding(call);
  }
  return resolveTargets(host, call);
}

export function denied(
  host: CallHost,
  call: Call,
  hook: string,
  reason: string,
  stop?: string,
): Ending {
  host.recorder.record("hook.denied", { hook, reason, stop }, call, "warn");
  return ending(
    "denied",
    toolError({
      code: "hook_denied",
      error_class: "hook_blocked",
      message: `Denied by a hook: ${reason}`,
      recovery: "use_another_tool",
    }),
  );
}
