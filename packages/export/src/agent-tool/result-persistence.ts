// Whether a result is in its record whole, in part, or elsewhere.

import { hasBytes } from "../projection/omit-bytes.ts";
import type { ExportState } from "./export-state.ts";
import type { OpenCall } from "./open-call.ts";
import {
  readCount,
  readList,
  readRecord,
  readText,
  type UncheckedRecord,
} from "../projection/read-fields.ts";
import {
  SCHEMA_VERSION,
  type ArtifactReference,
  type PersistenceStrategy,
  type ToolResultPersistence,
  type ToolResultRecord,
} from "./records.ts";

/** `recorded`: the result as the journal has it, if it has one. */
export function choosePersistence(
  call: OpenCall,
  state: ExportState,
  result: ToolResultRecord,
  recorded: UncheckedRecord | undefined,
): ToolResultPersistence {
  const metadata = readRecord(recorded?.["metadata"]);
  const truncation = readRecord(metadata["truncation"] ?? call.truncation);
  const artifact = findKept(truncation, result, call);
  const { strategy, reason } = chooseStrategy(state, result, recorded, {
    isTruncated: readCount(truncation["original_chars"]) !== undefined,
    artifact,
  });
  const persisted_ref = KEEPS.has(strategy) ? artifact : undefined;
  const limit = call.run.settings.inlineLimitBytes;
  return {
    record_type: "tool_result_persistence",
    schema_version: SCHEMA_VERSION,
    decision_id: `${call.invocation_id}/persistence`,
    invocation_id: call.invocation_id,
    result_id: result.result_id,
    strategy,
    threshold: limit === undefined ? undefined : { max_inline_bytes: limit },
    original_size_bytes: persisted_ref?.size_bytes,
    original_chars: readCount(truncation["original_chars"]),
    preview_chars: readCount(truncation["kept_chars"]),
    persisted_ref,
    redaction_state: result.redaction_state,
    reason,
    created_at: state.writer.time,
  };
}

const KEEPS: ReadonlySet<PersistenceStrategy> = new Set(["preview_and_persist", "ref_only"]);

interface Choice {
  readonly strategy: PersistenceStrategy;
  readonly reason?: string;
}

function chooseStrategy(
  { hasContent }: ExportState,
  { status, content = [], redaction_state }: ToolResultRecord,
  recorded: UncheckedRecord | undefined,
  kept: { readonly isTruncated: boolean; readonly artifact: ArtifactReference | undefined },
): Choice {
  if (recorded === undefined) return { strategy: "drop_with_reason", reason: "no_result_recorded" };
  if (!hasContent) return { strategy: "never_persist", reason: "content_not_exported" };
  if (status === "discarded") {
    return { strategy: "drop_with_reason", reason: "streaming_fallback_discarded" };
  }
  if (kept.isTruncated) {
    const reason = "result_exceeded_inline_limit";
    // The rest could not be kept.
    if (kept.artifact === undefined) return { strategy: "drop_with_reason", reason };
    return { strategy: "preview_and_persist", reason };
  }
  if (kept.artifact !== undefined && content.length > 0 && content.every(isReference)) {
    return { strategy: "ref_only", reason: "result_is_an_artifact" };
  }
  if (readList(recorded["content"]).some(hasBytes)) {
    return { strategy: "drop_with_reason", reason: "bytes_not_exported" };
  }
  return { strategy: redaction_state === "redacted" ? "redact" : "inline" };
}

/** The artifact that a cut result is in; else the first that the result is made of. */
function findKept(
  truncation: UncheckedRecord,
  { artifact_refs = [] }: ToolResultRecord,
  { artifacts = [] }: OpenCall,
): ArtifactReference | undefined {
  const id = readText(truncation["artifact_id"]);
  if (id !== undefined) return artifacts.find(({ artifact_id }) => artifact_id === id);
  return readCount(truncation["original_chars"]) === undefined ? artifact_refs[0] : undefined;
}

function isReference(block: object): boolean {
  return "type" in block && (block.type === "artifact_ref" || block.type === "resource_link");
}
