// The pipeline of one call, in the order of PIPE-1: targets → pre-hooks → permission → plan → permission for what the
// plan added → execute. What comes before it is in arrive.ts, what comes after in finish.ts. This is the only way a call
// is ever executed.

import { isThenable } from "../journal/index.ts";
import { toolError } from "../tool/index.ts";
import {
  cancelledEnding,
  ending,
  toolOf,
  unlessCancelled,
  type Call,
  type Ending,
} from "./call.ts";
import { staleness } from "./arrive.ts";
import { executeCall } from "./execute.ts";
import type { Gate } from "./gate.ts";
import { guardCall, lateGuards, runGuards } from "./guard.ts";
import { seenInput } from "./hook-view.ts";
import type { CallHost } from "./host.ts";
import { authorizePlan, authorizeTargets } from "./permit.ts";
import { planCall, resolveTargets } from "./prepare.ts";

/** A stage ends in the next one, or in how the call ends. */
type Stage = (
  host: CallHost,
  call: Call,
  gate: Gate,
) => Ending | undefined | Promise<Ending | undefined>;

const STAGES: readonly Stage[] = [
  resolveTargets,
  guard,
  authorizeTargets,
  planCall,
  guardPlan,
  authorizePlan,
  begin,
];
const GUARD = STAGES.indexOf(guard);

/** Waits only for what has to be waited for: a plain call goes through in one go. */
export function conductCall(
  host: CallHost,
  call: Call,
  gate: Gate,
  from = 0,
): Ending | Promise<Ending> {
  for (let i = from; i < STAGES.length; i += 1) {
    const end = STAGES[i]?.(host, call, gate);
    if (end === undefined) continue;
    if (!isThenable(end)) return end;
    return end.then((awaited) => awaited ?? conductCall(host, call, gate, i + 1));
  }
  throw new Error("the last stage did not end the call");
}

function guard(host: CallHost, call: Call, gate: Gate): ReturnType<Stage> {
  return host.hooks.has("PreToolUse") ? guardCall(host, call, gate) : undefined;
}

/** A plan may name paths that its targets did not: guards of such a path run now, before anything executes. */
function guardPlan(host: CallHost, call: Call, gate: Gate): ReturnType<Stage> {
  const late = lateGuards(host, call);
  if (late.length === 0) return undefined;
  return runGuards(host, call, gate, late).then((end) =>
    end === "changed" ? conductCall(host, call, gate, GUARD) : end,
  );
}

function begin(host: CallHost, call: Call, gate: Gate): Ending | Promise<Ending> {
  return call.class === "starter" ? asChild(host, call, gate) : start(host, call, gate);
}

/** `tool.started` is on record before anything happens, durably for whatever leaves something behind (PIPE-3). */
function start(host: CallHost, call: Call, gate: Gate): Ending | Promise<Ending> {
  if (call.cancellation !== undefined) return cancelledEnding(call);
  // It may have waited long: for a person, or for its turn. What was shown is what runs (REG-3).
  const stale = staleness(host, call);
  if (stale !== undefined) return stale;
  recordStart(host, call);
  if (!call.effects.repeatable) {
    const flushed = host.recorder.flush();
    if (isThenable(flushed)) return flushed.then(() => execute(host, call, gate));
  }
  return execute(host, call, gate);
}

function execute(host: CallHost, call: Call, gate: Gate): Ending | Promise<Ending> {
  if (call.cancellation !== undefined) return cancelledEnding(call);
  call.startedAt = host.clock.monotonic();
  return executeCall(host, call, gate);
}

async function asChild(host: CallHost, call: Call, gate: Gate): Promise<Ending> {
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
  const waited = await unlessCancelled(call, Promise.resolve(place));
  if (waited.cancelled) {
    host.children.giveBack();
    void Promise.resolve(place).then((leave) => leave());
    return cancelledEnding(call);
  }
  try {
    const end = await start(host, call, gate);
    // Refused by its own handler: nobody was started.
    if (end.outcome.error?.details?.["started"] === false) host.children.giveBack();
    return end;
  } finally {
    waited.value();
  }
}

function recordStart(host: CallHost, call: Call): void {
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
