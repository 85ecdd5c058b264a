// The pipeline of one call, in the order of PIPE-1: targets → pre-hooks → permission → plan → permission for what the
// plan added → execute. The stages before it are in accept-call.ts, those after it in finish.ts. No call is executed in
// any other way.

import { toolError } from "../tool/index.ts";
import { checkDefinitionCurrent } from "./accept-call.ts";
import { authorizePlan, authorizeTargets } from "./authorize-call.ts";
import {
  cancelledEnding,
  ending,
  toolOf,
  unlessCancelled,
  type Call,
  type Ending,
  type TurnControl,
} from "./call.ts";
import { executeCall } from "./execute.ts";
import { seenInput } from "./hook-view.ts";
import type { CallHost, RunBase } from "./host.ts";
import { checkProject, namesTargets, planCall, resolveTargets } from "./plan-call.ts";
import { runLateHooks, runPreToolHooks } from "./pre-tool-hooks.ts";

export async function runCallPipeline(
  host: CallHost,
  call: Call,
  turn: TurnControl,
): Promise<Ending> {
  const isHooked = host.hooks.has("PreToolUse");
  const isPlanned = toolOf(call).definition.prepare !== undefined;
  let end: Ending | "changed" | undefined = checkProject(host, call);
  if (namesTargets(host, call)) end ??= await resolveTargets(host, call);
  for (;;) {
    if (isHooked) end ??= await runPreToolHooks(host, call, turn);
    end ??= authorizeTargets(host, call);
    if (isPlanned) end ??= await planCall(host, call);
    if (isPlanned && isHooked) end ??= await runLateHooks(host, call, turn);
    if (end !== "changed") break;
    // A hook that saw the plan changed the input: all hooks and judgements once more.
    end = undefined;
  }
  if (isPlanned || call.decision !== "allow") end ??= await authorizePlan(host, call, turn);
  if (end !== undefined) return end;
  return call.class === "spawns_agent" ? runChild(host, call, turn) : startCall(host, call, turn);
}

/** `tool.started` is on record before anything happens, durably for a call that may leave something behind (PIPE-3). */
async function startCall(host: CallHost, call: Call, turn: TurnControl): Promise<Ending> {
  if (call.cancellation !== undefined) return cancelledEnding(call);
  // It may have waited long, for an approval or for its slot: what was shown is what runs (REG-3).
  const changed = checkDefinitionCurrent(host, call);
  if (changed !== undefined) return changed;
  recordStart(host, call);
  if (!call.effects.repeatable) {
    await host.recorder.flush();
    if (call.cancellation !== undefined) return cancelledEnding(call);
  }
  call.startedAt = host.clock.monotonic();
  return executeCall(host, call, turn);
}

async function runChild(host: CallHost, call: Call, turn: TurnControl): Promise<Ending> {
  if (!host.children.grant()) {
    const limit = host.config.agents.max_children_per_run;
    return ending(
      "failed",
      toolError({
        code: "child_agent_limit_exceeded",
        error_class: "capability_gap",
        message: `This run has started its ${limit} child agents; it may not start another.`,
        recovery: "use_another_tool",
      }),
    );
  }
  const place = host.children.enter();
  const waited = await unlessCancelled(call, place);
  if (waited.cancelled) {
    host.children.giveBack();
    void place.then((leave) => leave());
    return cancelledEnding(call);
  }
  try {
    const end = await startCall(host, call, turn);
    // Refused by its own handler: no agent was started.
    if (end.outcome.error?.details?.["started"] === false) host.children.giveBack();
    return end;
  } finally {
    waited.value();
  }
}

function recordStart(host: RunBase, call: Call): void {
  const data = {
    decision: call.decision,
    decision_ref: call.decisionRef,
    class: call.class,
    effects: call.effects,
    is_destructive: call.plan?.destructive ?? call.effects.destructive,
    interrupt_behavior: toolOf(call).effects.interrupt_behavior,
    digest: call.plan?.digest,
    hooks: call.hookResults,
    // As permission_input: left out where it is the model_input.
    call_input: call.mutated ? seenInput(host, call).redacted : undefined,
  };
  host.recorder.recordClean("tool.started", data, call);
  call.started = true;
}
