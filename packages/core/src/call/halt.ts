// Ends that come from outside a call (PIPE-7, SCHED-3, 4, 6): who is told what, and who has to stop.

import { toolError } from "../tool/index.ts";
import { toolOf, type Call, type Cancellation } from "./call.ts";

/** Why a turn starts nothing more. `stop`: a hook ended the run. */
export type Halt = { kind: "abort" | "interrupt" | "discard" | "stop"; reason: string };

/** Whether a call that is under way has to end; one that has not started its work always has. */
export function endsRunning(halt: Halt, call: Call): boolean {
  if (!call.started) return true;
  if (halt.kind === "abort") return true;
  // Whatever is at work and may have changed something ends with its own result, and is not done again.
  if (halt.kind === "discard") return call.effects.repeatable || call.startedAt === undefined;
  return halt.kind === "interrupt" && toolOf(call).effects.interrupt_behavior === "cancel";
}

export function haltCancellation(halt: Halt, when: "queued" | "running"): Cancellation {
  switch (halt.kind) {
    case "abort":
      return {
        ...cancelled("aborted", "aborted", `The run was aborted: ${halt.reason}`),
        reason: halt.reason,
      };
    case "discard":
      return {
        status: "discarded",
        error: toolError({
          code: "discarded",
          error_class: "streaming_fallback_discarded",
          message: discardText(halt),
        }),
      };
    case "interrupt":
    case "stop": {
      const text =
        halt.kind === "stop"
          ? `The run was ended by a hook: ${halt.reason}`
          : `Interrupted: ${halt.reason}`;
      return when === "running"
        ? cancelled("cancelled", "interrupted", text)
        : cancelled("skipped", "interrupted", `${text}. The call was not started.`);
    }
  }
}

export function discardText(halt: Halt): string {
  return `The attempt this call belongs to was abandoned: ${halt.reason}`;
}

export function cancelled(
  status: Cancellation["status"],
  code: string,
  message: string,
): Cancellation {
  return { status, error: toolError({ code, error_class: "canceled", message, recovery: "none" }) };
}

export function skippedBecause(cause: string): Cancellation {
  return {
    status: "skipped",
    error: toolError({
      code: "skipped_after_failure",
      error_class: "canceled",
      message: `Not run, because ${cause} did not succeed and this call came after it.`,
      retryable: true,
      recovery: "retry",
    }),
  };
}

/** `cause`: its id; `name`: as the model is told. */
export function siblingFailed(cause: string, name: string): Cancellation {
  return {
    status: "cancelled",
    cause,
    error: toolError({
      code: "sibling_failed",
      error_class: "sibling_canceled",
      message: `Cancelled, because ${name}, which ran beside it, failed.`,
      retryable: true,
      recovery: "retry",
    }),
  };
}
