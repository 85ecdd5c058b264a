// How each way a call ends is called in Agent Tool: of its result, of its invocation, of its event.

import type { TerminalFactType, ToolStatus } from "@soong/core";
import type { InvocationStatus, ResultStatus, TerminalEventType } from "./records.ts";

export interface CallEnding {
  readonly result: ResultStatus;
  readonly invocation: InvocationStatus;
  readonly event: TerminalEventType;
  readonly isError: boolean;
  /** Where the result names none. */
  readonly error_class: string;
}

/** `error_class`: of the result, which tells apart why a call was denied, and what a recovered call is. */
export function findEnding(status: ToolStatus, error_class: string | undefined): CallEnding {
  if (status === "denied") return (error_class && DENIALS.get(error_class)) || ENDINGS.denied;
  if (status === "failed") return (error_class && FAILURES.get(error_class)) || ENDINGS.failed;
  return ENDINGS[status];
}

/** The status that a terminal fact without a readable result means. */
export const PLAIN_STATUS: Readonly<Record<TerminalFactType, ToolStatus>> = {
  "tool.completed": "succeeded",
  "tool.failed": "failed",
  "tool.denied": "denied",
  "tool.skipped": "skipped",
  "tool.cancelled": "cancelled",
  "tool.discarded": "discarded",
};

export function isToolStatus(value: unknown): value is ToolStatus {
  return typeof value === "string" && Object.hasOwn(ENDINGS, value);
}

const FAILED = "tool.invocation.failed";

/** What was denied or blocked has failed: the standard has no event of its own for that. */
const EVENTS: { readonly [Status in InvocationStatus]?: TerminalEventType } = {
  succeeded: "tool.invocation.succeeded",
  canceled: "tool.invocation.canceled",
  timed_out: "tool.invocation.timed_out",
};

const ENDINGS: Readonly<Record<ToolStatus, CallEnding>> = {
  succeeded: nameEnding("succeeded", "succeeded", "execution_failed", false),
  partial: nameEnding("partial_succeeded", "succeeded", "partial_failure", false),
  failed: nameEnding("failed", "failed", "execution_failed"),
  timed_out: nameEnding("timed_out", "timed_out", "timeout"),
  aborted: nameEnding("canceled", "canceled", "canceled"),
  // Whether it happened is not known, so the runtime made the result.
  unknown: nameEnding("synthetic_error", "failed", "execution_failed"),
  denied: nameEnding("denied", "denied", "permission_denied"),
  rejected: nameEnding("rejected", "denied", "approval_rejected"),
  skipped: nameEnding("canceled", "canceled", "canceled"),
  cancelled: nameEnding("canceled", "canceled", "canceled"),
  discarded: nameEnding("discarded", "canceled", "streaming_fallback_discarded"),
};

const DENIALS: ReadonlyMap<string, CallEnding> = new Map([
  ["policy_blocked", nameEnding("denied", "blocked", "policy_blocked")],
  ["hook_blocked", nameEnding("denied", "blocked", "hook_blocked")],
  // No one denied it: there is no such tool.
  ["unknown_tool", nameEnding("failed", "failed", "unknown_tool")],
]);

const FAILURES: ReadonlyMap<string, CallEnding> = new Map([
  ["result_too_large", nameEnding("too_large", "failed", "result_too_large")],
  ["result_redacted", nameEnding("redacted", "failed", "result_redacted")],
]);

function nameEnding(
  result: ResultStatus,
  invocation: InvocationStatus,
  error_class: string,
  isError = true,
): CallEnding {
  return { result, invocation, event: EVENTS[invocation] ?? FAILED, isError, error_class };
}
