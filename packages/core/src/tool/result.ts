// What a call ends in (RESULT-2…4): the record, and the exception a handler may throw to choose its error.

import type { JsonObject, JsonValue } from "@soong/schema";
import { SoongError } from "./errors.ts";

export type ToolStatus =
  | "succeeded"
  | "partial"
  | "failed"
  | "timed_out"
  | "aborted"
  | "unknown"
  | "denied"
  | "rejected"
  | "skipped"
  | "cancelled"
  | "discarded";

/**
 * How a handler may say its call ended. `timed_out`: it gave up waiting for what it had asked. `unknown`: what it
 * had asked was lost half-way, and whether it happened no one knows.
 */
export type HandlerStatus = Extract<
  ToolStatus,
  "succeeded" | "partial" | "failed" | "timed_out" | "unknown"
>;

export type HandlerErrorStatus = Exclude<HandlerStatus, "succeeded" | "partial">;

export function isHandlerStatus(value: unknown): value is HandlerStatus {
  return value === "succeeded" || value === "partial" || isHandlerErrorStatus(value);
}

export function isHandlerErrorStatus(value: unknown): value is HandlerErrorStatus {
  return value === "failed" || value === "timed_out" || value === "unknown";
}

export interface ToolResult {
  tool_call_id: string;
  tool_name: string;
  status: ToolStatus;
  is_error: boolean;
  content: ContentBlock[];
  summary: string;
  data?: JsonValue;
  artifacts: ArtifactRef[];
  error?: ToolError;
  metadata: ResultMetadata;
}

export type ContentBlock =
  | { type: "text"; text: string }
  | { type: "json"; json: JsonValue }
  | { type: "image"; media_type: string; data: string }
  | { type: "audio"; media_type: string; data: string }
  /** A resource with what is in it: text, or bytes as base64. */
  | { type: "resource"; uri: string; media_type?: string; text: string }
  | { type: "resource"; uri: string; media_type?: string; blob: string }
  | { type: "resource_link"; uri: string; name?: string; description?: string; media_type?: string }
  | { type: "artifact_ref"; artifact_id: string; media_type: string; size: number; name?: string };

/** Blocks that hold bytes, as base64: no text to read, to count or to search. */
export type MediaBlock = Extract<ContentBlock, { type: "image" | "audio" } | { blob: string }>;

export function isMediaBlock(block: ContentBlock): block is MediaBlock {
  return block.type === "image" || block.type === "audio" || "blob" in block;
}

/** The media type of what a file held before a call changed it: kept to take the change back, for no tool to read. */
export const PRE_IMAGE = "application/vnd.soong.pre-image";

export interface ArtifactRef {
  artifact_id: string;
  media_type: string;
  size: number;
  sha256: string;
  name?: string;
}

export interface ResultMetadata {
  /** Execution only: time spent waiting for the user is not in it (PIPE-6). */
  duration_ms: number;
  provenance: { readonly source_kind: string; readonly source_id: string };
  truncation?: { original_chars: number; kept_chars: number; artifact_id?: string };
  redactions?: number;
  /** The model's own call id and tool name where they differ from ours (NAME-2). */
  native_call_id?: string;
  native_name?: string;
  alias?: string;
  aborted?: true;
  partial?: true;
  abort_reason?: string;
  /** What the call had ended in before its attempt was abandoned (SCHED-6). */
  discarded_status?: ToolStatus;
  /** Free-form facts from the tool itself. */
  tool?: JsonObject;
}

/** The error classes of Agent Tool v0.2.0, so that no export has to guess. */
const ERROR_CLASSES = [
  "unknown_tool",
  "schema_not_loaded",
  "schema_validation_failed",
  "invalid_arguments",
  "capability_gap",
  "setup_required",
  "credential_missing",
  "sandbox_violation",
  "hook_blocked",
  "permission_denied",
  "approval_rejected",
  "policy_blocked",
  "canceled",
  "sibling_canceled",
  "timeout",
  "rate_limited",
  "dependency_unavailable",
  "execution_failed",
  "partial_failure",
  "result_too_large",
  "result_redacted",
  "streaming_fallback_discarded",
] as const;

export type ErrorClass = (typeof ERROR_CLASSES)[number];

export function isErrorClass(value: unknown): value is ErrorClass {
  return ERROR_CLASSES.includes(value as ErrorClass);
}

const RECOVERIES = [
  "change_arguments",
  "discover_first",
  "needs_approval",
  "retry",
  "retry_after_delay",
  "use_another_tool",
  "set_up_first",
  "ask_the_user",
  "none",
] as const;

export type Recovery = (typeof RECOVERIES)[number];

export function isRecovery(value: unknown): value is Recovery {
  return RECOVERIES.includes(value as Recovery);
}

export interface ToolError {
  code: string;
  error_class: ErrorClass;
  message: string;
  retryable: boolean;
  recovery: Recovery;
  details?: JsonObject;
}

/** Thrown by a handler, validate or prepare to end its call with this exact error. */
export class ToolFailure extends SoongError {
  override readonly name = "ToolFailure";
  readonly error: ToolError;
  readonly content: ContentBlock[];
  readonly status: HandlerErrorStatus;

  constructor(
    error: Pick<ToolError, "code" | "message"> & Partial<ToolError>,
    content: ContentBlock[] = [],
    status: HandlerErrorStatus = "failed",
  ) {
    super(error.code, error.message);
    this.error = toolError(error);
    this.content = content;
    this.status = status;
  }
}

/** The failure of a call whose input cannot be used: the model gives another. */
export function invalidArguments(
  code: string,
  message: string,
  details?: JsonObject,
  content?: ContentBlock[],
): ToolFailure {
  const recovery = "change_arguments";
  const error = { code, error_class: "invalid_arguments", message, recovery, details } as const;
  return new ToolFailure(error, content);
}

export function toolError(
  error: Pick<ToolError, "code" | "message"> & Partial<ToolError>,
): ToolError {
  const { code, message, details } = error;
  const { error_class = "execution_failed", retryable = false, recovery = "none" } = error;
  const known = { code, error_class, message, retryable, recovery };
  return details === undefined ? known : { ...known, details };
}

export function isErrorStatus(status: ToolStatus): boolean {
  return status !== "succeeded" && status !== "partial";
}
