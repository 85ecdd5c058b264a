// How a call ends without a result of its handler: what each error code means to a model, and the ends that come from
// outside a call (PIPE-7, SCHED-3, 4, 6).

import { toolError, type ToolError, type ToolStatus } from "../tool/index.ts";
import type { Call, Cancellation, Ending } from "./call.ts";

/** Beside its message. What is not named has the default of `toolError`. */
const MEANINGS = {
  aborted: { error_class: "canceled" },
  changed_since_approval: { retryable: true, recovery: "retry" },
  child_agent_limit_exceeded: { error_class: "capability_gap", recovery: "use_another_tool" },
  discarded: { error_class: "streaming_fallback_discarded" },
  hook_denied: { error_class: "hook_blocked", recovery: "use_another_tool" },
  internal_error: { recovery: "ask_the_user" },
  interrupted: { error_class: "canceled" },
  invalid_arguments: {
    error_class: "invalid_arguments",
    retryable: true,
    recovery: "change_arguments",
  },
  journal_unavailable: { error_class: "dependency_unavailable", recovery: "ask_the_user" },
  output_schema_mismatch: { recovery: "use_another_tool" },
  permission_unanswered: { error_class: "permission_denied", recovery: "needs_approval" },
  policy_denied: { error_class: "policy_blocked", recovery: "use_another_tool" },
  prepare_failed: {},
  project_missing: { recovery: "ask_the_user" },
  rejected_by_user: { error_class: "approval_rejected", recovery: "ask_the_user" },
  runtime_restarted: {},
  schema_not_loaded: {
    error_class: "schema_not_loaded",
    retryable: true,
    recovery: "discover_first",
  },
  sibling_failed: { error_class: "sibling_canceled", retryable: true, recovery: "retry" },
  skipped_after_failure: { error_class: "canceled", retryable: true, recovery: "retry" },
  timed_out: { error_class: "timeout", retryable: true, recovery: "retry" },
  tool_broken: { recovery: "use_another_tool" },
  tool_definition_changed: { error_class: "schema_not_loaded" },
  tool_not_available: { error_class: "unknown_tool" },
  turn_ended: { error_class: "canceled" },
} as const satisfies Record<string, Partial<ToolError>>;

export type CallErrorCode = keyof typeof MEANINGS;

export function callError(
  code: CallErrorCode,
  message: string,
  more?: Partial<ToolError>,
): ToolError {
  return toolError({ code, message, ...MEANINGS[code], ...more });
}

/** Ends a call with this error; its handler was not called. */
export function endCall(
  status: ToolStatus,
  code: CallErrorCode,
  message: string,
  more?: Partial<ToolError>,
): Ending {
  return endWith(status, callError(code, message, more));
}

export function endWith(status: ToolStatus, error: ToolError): Ending {
  const outcome: Ending["outcome"] = { status: "failed", content: [], artifacts: [], error };
  return { status, executed: false, outcome };
}

/** A user said no to it. */
export function endRejected({ tool_name }: Call, reason?: string, who = "The user"): Ending {
  const why = reason === undefined ? "" : `: ${reason}`;
  return endCall("rejected", "rejected_by_user", `${who} said no to ${tool_name}${why}`);
}

export function endCancelled(call: Call): Ending {
  const { status, error } = call.cancellation as Cancellation;
  return endWith(status, error);
}

/** Why a turn starts nothing more. `stop`: a hook ended the run. */
export type Halt = { kind: "abort" | "interrupt" | "discard" | "stop"; reason: string };

/** Whether a call that is under way has to end; one that has not started its work always has. */
export function endsRunning(halt: Halt, call: Call): boolean {
  if (!call.started) return true;
  if (halt.kind === "abort") return true;
  // What is running and may have changed something ends with its own result, and is not done again.
  if (halt.kind === "discard") return call.effects.repeatable || call.startedAt === undefined;
  return halt.kind === "interrupt" && call.tool?.effects.interrupt_behavior === "cancel";
}

export function haltCancellation(halt: Halt, when: "queued" | "running"): Cancellation {
  const { kind, reason } = halt;
  if (kind === "abort") {
    const error = callError("aborted", `The run was aborted: ${reason}`);
    return { status: "aborted", error, reason };
  }
  if (kind === "discard") {
    return { status: "discarded", error: callError("discarded", discardText(halt)) };
  }
  const text =
    kind === "stop" ? `The run was ended by a hook: ${reason}` : `Interrupted: ${reason}`;
  return when === "running"
    ? { status: "cancelled", error: callError("interrupted", text) }
    : {
        status: "skipped",
        error: callError("interrupted", `${text}. The call was not started.`),
      };
}

export function discardText({ reason }: Halt): string {
  return `The attempt this call belongs to was abandoned: ${reason}`;
}
