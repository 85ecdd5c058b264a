// The end of a call: its one result, how that is persisted, and the complete invocation. Calls that the journal leaves open
// get a result, too.

import type { Fact, TerminalFactType } from "@soong/core";
import { isErrorClass } from "@soong/core/internal";
import { invocationId } from "../projection/invocation-id.ts";
import { findEnding, isToolStatus, PLAIN_STATUS, type CallEnding } from "./call-endings.ts";
import type { ExportState } from "./export-state.ts";
import { writeOpenHooks } from "./hook-records.ts";
import type { Mapper, Mappers } from "./mapper.ts";
import { writeInvocation, type OpenCall } from "./open-call.ts";
import { readArtifact } from "./read-artifact.ts";
import {
  readCount,
  readFlag,
  readList,
  readRecord,
  readText,
  readValue,
  type Unchecked,
  type UncheckedRecord,
} from "../projection/read-fields.ts";
import {
  SCHEMA_VERSION,
  type ArtifactReference,
  type ToolErrorRecord,
  type ToolResultRecord,
} from "./records.ts";
import { listResources, mapContent } from "./result-content.ts";
import { choosePersistence } from "./result-persistence.ts";

export const RESULT_RECORDS: Mappers<TerminalFactType> = {
  "tool.completed": endsCall("tool.completed"),
  "tool.failed": endsCall("tool.failed"),
  "tool.denied": endsCall("tool.denied"),
  "tool.skipped": endsCall("tool.skipped"),
  "tool.cancelled": endsCall("tool.cancelled"),
  "tool.discarded": endsCall("tool.discarded"),
};

/** Every call has a result, also one whose end is not in the journal. */
export function endOpenCalls(state: ExportState): void {
  for (const call of state.listOpenCalls()) {
    const message = call.started
      ? "The journal ends while this call was running: whether it happened is not known."
      : "The journal ends before this call was started.";
    const status = call.started ? "unknown" : "skipped";
    const error = { code: "journal_ended", message };
    endCall(call, state, { result: undefined, error, ending: findEnding(status, undefined) });
  }
}

function endsCall(type: TerminalFactType): Mapper<TerminalFactType> {
  return (data, state, fact) => {
    const call = state.reachCall(fact);
    if (call === undefined) return;
    const result = readRecord(data.result);
    const { status } = result;
    const error = readRecord(result["error"]);
    const ending = findEnding(
      isToolStatus(status) ? status : PLAIN_STATUS[type],
      readText(error["error_class"]),
    );
    (call.evidence ??= []).push(state.writer.factRef);
    const hasResult = data.result !== undefined;
    endCall(call, state, { result: hasResult ? result : undefined, error, ending, data, fact });
  };
}

interface CallEnd {
  /** Undefined: there is none on record. */
  readonly result: UncheckedRecord | undefined;
  readonly error: UncheckedRecord;
  readonly ending: CallEnding;
  readonly data?: Unchecked<TerminalFactType>;
  readonly fact?: Fact;
}

function endCall(call: OpenCall, state: ExportState, end: CallEnd): void {
  const { writer } = state;
  const { ending } = end;
  const artifacts = readArtifacts(call, end.result);
  writeOpenHooks(call, state);
  const result = createResult(call, state, end, artifacts);
  const persistence = choosePersistence(call, state, result, end.result);
  writer.add(persistence);
  writer.add(result);
  const { result_id } = result;
  if (persistence.redaction_state === "redacted") {
    writer.addEvent("tool.result.redacted", call, { result_id });
  }
  if (persistence.persisted_ref !== undefined) {
    const { decision_id, persisted_ref } = persistence;
    writer.addEvent("tool.result.persisted", call, { result_id, decision_id, persisted_ref });
  }
  writer.addEvent("tool.result.created", call, { result_id, status: result.status });
  const isInvalid = !call.started && INVALID.has(result.error?.error_class);
  if (isInvalid) {
    call.change("validation_failed", writer.time);
    writer.addEvent("tool.invocation.validation_failed", call, { result_id });
  }
  if (ending.result === "partial_succeeded") {
    call.change("partial_result", writer.time);
    writer.addEvent("tool.invocation.partial_result", call, { result_id });
  }
  call.end(ending.invocation, writer.time);
  writeInvocation(call, writer, writer.time);
  writer.addEvent(ending.event, call, { result_id, status: result.status });
  state.closeCall(call);
}

/** Errors in what the model sent. */
const INVALID: ReadonlySet<unknown> = new Set(["schema_validation_failed", "invalid_arguments"]);

function createResult(
  call: OpenCall,
  state: ExportState,
  end: CallEnd,
  artifact_refs: readonly ArtifactReference[] | undefined,
): ToolResultRecord {
  const { invocation_id } = call;
  const { result = {}, ending, data, fact } = end;
  const metadata = readRecord(result["metadata"]);
  const isError = readFlag(result["is_error"]) ?? ending.isError;
  const content = end.result && state.hasContent ? mapContent(result["content"]) : undefined;
  const duration_ms = metadata["duration_ms"];
  return {
    record_type: "tool_result",
    schema_version: SCHEMA_VERSION,
    result_id: `${invocation_id}/result`,
    invocation_id,
    status: ending.result,
    is_error: isError,
    content,
    structured_content: state.hasContent ? readValue(result["data"]) : undefined,
    ui_facing_summary: state.readContent(data?.person_view),
    resource_refs: content && listResources(content),
    artifact_refs,
    evidence_refs: call.evidence,
    telemetry_refs:
      typeof duration_ms === "number"
        ? [{ tool_name: call.tool_name, tool_call_id: fact?.tool_call_id, duration_ms }]
        : undefined,
    persistence_refs: [`${invocation_id}/persistence`],
    summary: state.readContent(result["summary"]),
    redaction_state: describeRedaction(call, state, metadata),
    error: isError ? createError(state, end, metadata) : undefined,
    created_at: state.writer.time,
  };
}

function createError(
  state: ExportState,
  { error, ending, data, fact }: CallEnd,
  metadata: UncheckedRecord,
): ToolErrorRecord {
  const { error_class, code, message, recovery, retryable, details } = error;
  const sibling = readText(data?.cancelled_by);
  return {
    error_class: isErrorClass(error_class) ? error_class : ending.error_class,
    error_code: readText(code),
    message: state.readContent(message),
    recoverability: readText(recovery),
    retryable: readFlag(retryable),
    outcome: ending.result === "synthetic_error" ? "unknown" : undefined,
    abort_reason: state.readContent(metadata["abort_reason"]),
    sibling_invocation_id: sibling && invocationId({ run_id: fact?.run_id, tool_call_id: sibling }),
    details: state.hasContent ? readValue(details) : undefined,
  };
}

function describeRedaction(
  call: OpenCall,
  { hasContent }: ExportState,
  metadata: UncheckedRecord,
): string {
  if (!hasContent) return "omitted";
  const count = readCount(metadata["redactions"]) ?? call.redactions ?? 0;
  return count > 0 ? "redacted" : "none";
}

/** Its invocation refers to them, too. */
function readArtifacts(
  call: OpenCall,
  result: UncheckedRecord | undefined,
): readonly ArtifactReference[] | undefined {
  const list = readList(result?.["artifacts"]);
  const { truncation = call.truncation } = readRecord(result?.["metadata"]);
  const artifacts = list.flatMap((one) => readArtifact(one) ?? []);
  for (const artifact of artifacts) call.addArtifact(artifact);
  // Where nothing more is known of what a cut result is kept in than its id.
  const kept = readArtifact(truncation);
  if (kept !== undefined) call.addArtifact(kept);
  return artifacts.length === 0 ? undefined : artifacts;
}
