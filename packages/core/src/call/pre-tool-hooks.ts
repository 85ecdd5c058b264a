// PreToolUse hooks (HOOK-2…4): they may deny, ask, add context, stop the run, or replace the input. A
// replaced input is validated, its targets are resolved anew, and every guard sees it again, until nothing changes.

import { runHook, type AnyHook, type HookAnswers, type HookOutcome } from "../hook/index.ts";
import type { JsonObject } from "@soong/schema";
import { toolError } from "../tool/index.ts";
import {
  cancelledEnding,
  ending,
  sameJson,
  unlessCancelled,
  type Call,
  type Ending,
  type TurnControl,
} from "./call.ts";
import {
  hookIdentity,
  hookPorts,
  hookSubject,
  matchedPath,
  observableInput,
  reachedGuard,
  seenInput,
} from "./hook-view.ts";
import type { RunBase } from "./host.ts";
import { addedResources, resolveTargets, type PlanHost } from "./plan-call.ts";
import { recordMutation, validateInput } from "./validate-input.ts";

/** Hooks that still change the input after this many rounds do not agree with each other. */
const MAX_ROUNDS = 4;

export async function runPreToolHooks(
  host: PlanHost,
  call: Call,
  turn: TurnControl,
): Promise<Ending | undefined> {
  while (call.guardRounds < MAX_ROUNDS) {
    call.guardRounds += 1;
    const guards = host.hooks.matching("PreToolUse", hookSubject(call));
    const end = await runHooks(host, call, turn, guards);
    if (end === "changed") continue;
    if (end === undefined) call.hookVerdict ??= reachedGuard(host, call);
    return end;
  }
  return denyByHook(host, call, "PreToolUse", `hooks keep changing the input of ${call.tool_name}`);
}

/** A plan may name paths that the targets did not: hooks on such a path run before anything executes. */
export async function runLateHooks(
  host: PlanHost,
  call: Call,
  turn: TurnControl,
): Promise<Ending | "changed" | undefined> {
  if (addedResources(call).length === 0) return undefined;
  const late = host.hooks
    .matching("PreToolUse", hookSubject(call))
    .filter((hook) => call.guardedBy?.has(hook) !== true);
  return runHooks(host, call, turn, late);
}

/** How the call ends, if it does; or that its input is another one now. */
async function runHooks(
  host: PlanHost,
  call: Call,
  turn: TurnControl,
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
    const stopped = verdictOf(host, call, turn, outcome);
    if (stopped !== undefined) return stopped;
    const replacement = outcome.ok ? outcome.answer.input : undefined;
    if (replacement === undefined) continue;
    const input = seen.restore(replacement) as JsonObject;
    if (sameJson(input, observableInput(call))) continue;
    changed = true;
    const problem = await takeReplacement(host, call, turn, hook.id, input);
    if (problem !== undefined) return problem;
  }
  return changed ? "changed" : undefined;
}

function verdictOf(
  host: RunBase,
  call: Call,
  turn: TurnControl,
  outcome: HookOutcome<"PreToolUse">,
): Ending | undefined {
  const { hook } = outcome;
  noteResult(call, outcome);
  if (!outcome.ok) {
    if (outcome.continues) return undefined;
    const reason = `the hook "${hook}" failed (${outcome.message})`;
    if (!call.effects.read_only) return denyByHook(host, call, hook, reason);
    call.hookVerdict = { decision: "ask", reason, hook };
    return undefined;
  }
  const { decision, reason, context, stop }: HookAnswers["PreToolUse"] = outcome.answer;
  if (context !== undefined) (call.hookContext ??= new Map()).set(hook, context);
  if (stop !== undefined) {
    turn.stopRun(stop, hook);
    return denyByHook(host, call, hook, `the hook "${hook}" ended the run: ${stop}`, stop);
  }
  if (decision === "deny") {
    return denyByHook(host, call, hook, reason ?? `the hook "${hook}" refused this call`);
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
  host: PlanHost,
  call: Call,
  turn: TurnControl,
  hook: string,
  input: JsonObject,
): Promise<Ending | undefined> {
  recordMutation(host, call, `hook:${hook}`, "replaced by a PreToolUse hook", call.input, input);
  const scheduledAs = call.class;
  call.guardedBy = undefined;
  const problem =
    (await validateInput(host, call, input)) ?? (await retarget(host, call, turn, scheduledAs));
  const { error } = problem?.outcome ?? {};
  if (error !== undefined && problem?.status === "failed") {
    error.message = `After the hook "${hook}" changed the input: ${error.message}`;
  }
  return problem;
}

/** When the call may go on as what it now is: what ran before it may have changed where its names lead. */
async function retarget(
  host: PlanHost,
  call: Call,
  turn: TurnControl,
  scheduledAs: Call["class"],
): Promise<Ending | undefined> {
  if (call.class !== scheduledAs) {
    const waited = await unlessCancelled(call, turn.reclassify(call));
    if (waited.cancelled) return cancelledEnding(call);
  }
  return resolveTargets(host, call);
}

export function denyByHook(
  host: RunBase,
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
