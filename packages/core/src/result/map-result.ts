// One mapping from what a handler gave to the ToolResult that is recorded, read and shown (RESULT-2…6).
// Redaction and bounding happen here, once, whatever tool it came from.

import type { ArtifactStore, Redactor } from "../journal/index.ts";
import type { JsonValue } from "../schema/index.ts";
import {
  isErrorStatus,
  toolError,
  type ContentBlock,
  type ResultMetadata,
  type ToolError,
  type ToolResult,
  type ToolStatus,
} from "../tool/index.ts";
import { headTail } from "./head-tail.ts";
import type { HandlerOutcome } from "./read-return.ts";

export interface ResultFrame {
  tool_call_id: string;
  tool_name: string;
  metadata: ResultMetadata;
}

export interface MappingRules {
  redactor: Redactor;
  /** Full: look-alikes of keys too. Known values only where the text must stay usable (REDACT-1). */
  redaction: "full" | "known_values";
  /** Paths of output fields the schema marks sensitive (REDACT-2). */
  sensitive: readonly (readonly string[])[];
  /** The smallest of all bounds that apply (RESULT-6); infinite for a tool that bounds itself. */
  limit: { maxBytes: number; maxChars: number };
}

/** Keeps what does not fit inline. */
export type KeepOverflow = (
  text: string,
  about: { media_type: string; name: string },
) => ReturnType<ArtifactStore["write"]>;

/** An image is not text: providers take these whole or not at all. */
const MAX_IMAGE_CHARS = 5 * 1024 * 1024;
const MAX_SUMMARY_CHARS = 200;
const MAX_ERROR_CHARS = 8000;

export function mapResult(
  frame: ResultFrame,
  status: ToolStatus,
  outcome: HandlerOutcome,
  rules: MappingRules,
): ToolResult {
  const { redactor, redaction: scope } = rules;
  const before = redactor.count;
  const error = outcome.error === undefined ? undefined : redactError(outcome.error, rules);
  const content: ContentBlock[] = [];
  for (const block of outcome.content) content.push(redactBlock(block, rules));
  let data: JsonValue | undefined;
  if (outcome.data !== undefined) {
    data = redactor.value(outcome.data.value, { scope, sensitive: rules.sensitive });
    if (content.length === 0) content.push({ type: "json", json: data });
  }
  if (error !== undefined) content.unshift({ type: "text", text: error.message });
  if (content.length === 0) content.push({ type: "text", text: emptyText(frame.tool_name) });

  const metadata: ResultMetadata =
    outcome.metadata === undefined
      ? frame.metadata
      : { ...frame.metadata, tool: redactor.value(outcome.metadata, { scope }) };
  const result: ToolResult = {
    tool_call_id: frame.tool_call_id,
    tool_name: frame.tool_name,
    status,
    is_error: isErrorStatus(status),
    content,
    summary: "",
    artifacts: outcome.artifacts,
    metadata,
  };
  if (data !== undefined) result.data = data;
  if (error !== undefined) result.error = error;
  result.summary =
    outcome.summary === undefined
      ? summaryOf(result)
      : firstLine(redactor.text(outcome.summary, scope));
  if (redactor.count > before) metadata.redactions = redactor.count - before;
  return result;
}

/** Whether the result may stay as it is; if not, `boundResult` makes it fit. */
export function fitsInline(
  { content, data }: ToolResult,
  outcome: HandlerOutcome,
  limit: MappingRules["limit"],
): boolean {
  let chars = outcome.data === undefined ? 0 : outcome.data.chars * 2;
  for (const block of content) {
    if (block.type === "text") chars += block.text.length;
    else if (block.type === "json" && block.json !== data) {
      chars += JSON.stringify(block.json).length;
    } else if (block.type === "image" && block.data.length > MAX_IMAGE_CHARS) return false;
  }
  // Three bytes at the most for one UTF-16 unit: only a long text has to be looked at closely.
  if (chars <= limit.maxChars && chars * 3 <= limit.maxBytes) return true;
  const held = data !== undefined && !content.some((block) => block.type === "json");
  const text = held ? `${textOf(content)}\n${JSON.stringify(data)}` : textOf(content);
  return !headTail(text, limit).truncated;
}

function redactBlock(block: ContentBlock, rules: MappingRules): ContentBlock {
  const { redactor, redaction: scope } = rules;
  switch (block.type) {
    case "text": {
      const text = redactor.text(block.text, scope);
      return text === block.text ? block : { ...block, text };
    }
    case "json":
      return { ...block, json: redactor.value(block.json, { scope, sensitive: rules.sensitive }) };
    case "resource_link":
      return redactor.value(block as never, { scope });
    case "image":
    case "artifact_ref":
      return block;
  }
}

function redactError(error: ToolError, { redactor }: MappingRules): ToolError {
  const message = redactor.text(error.message);
  return toolError({
    ...error,
    // The head alone: what was thrown may have been cut at its end, in the middle of a secret.
    message: message.length > MAX_ERROR_CHARS ? `${message.slice(0, MAX_ERROR_CHARS)}…` : message,
    ...(error.details === undefined ? {} : { details: redactor.value(error.details) }),
  });
}

/** Head and tail stay; everything that was text goes to an artifact, raw, and out of the record. */
export async function boundResult(
  result: ToolResult,
  outcome: HandlerOutcome,
  limit: MappingRules["limit"],
  keep: KeepOverflow,
): Promise<ToolResult> {
  const isData = outcome.data !== undefined && outcome.content.length === 0;
  const raw = isData ? JSON.stringify(outcome.data?.value) : textOf(outcome.content);
  const shown =
    isData && result.data !== undefined ? JSON.stringify(result.data) : textOf(result.content);
  const preview = headTail(shown, limit);
  const content: ContentBlock[] = [{ type: "text", text: preview.text }];
  const { data: _data, ...rest } = result;
  const artifacts = [...result.artifacts];
  const metadata = { ...result.metadata };
  metadata.truncation = { original_chars: shown.length, kept_chars: preview.kept_chars };
  try {
    const kept = await keep(raw, {
      media_type: isData ? "application/json" : "text/plain",
      name: `${result.tool_name}.${isData ? "json" : "txt"}`,
    });
    const { artifact_id, media_type, size, sha256, name } = kept;
    content.push({ type: "artifact_ref", artifact_id, media_type, size, name });
    artifacts.push({ artifact_id, media_type, size, sha256, name });
    metadata.truncation.artifact_id = artifact_id;
  } catch (error) {
    content.push({
      type: "text",
      text: `(The rest could not be kept: ${error instanceof Error ? error.message : String(error)})`,
    });
  }
  for (const block of result.content) {
    if (block.type === "image" && block.data.length <= MAX_IMAGE_CHARS) content.push(block);
    if (block.type === "resource_link" || block.type === "artifact_ref") content.push(block);
  }
  return { ...rest, content, artifacts, metadata };
}

/** The text a model would read of these blocks. */
export function textOf(content: readonly ContentBlock[]): string {
  const parts: string[] = [];
  for (const block of content) {
    if (block.type === "text") parts.push(block.text);
    else if (block.type === "json") parts.push(JSON.stringify(block.json));
    else if (block.type === "image") parts.push(`[image ${block.media_type}]`);
    else if (block.type === "resource_link")
      parts.push(`[${block.name ?? "resource"}: ${block.uri}]`);
    else parts.push(`[artifact ${block.artifact_id}, ${block.size} bytes]`);
  }
  return parts.join("\n");
}

function emptyText(toolName: string): string {
  return `${toolName} succeeded and returned nothing.`;
}

function summaryOf(result: ToolResult): string {
  if (result.error !== undefined) return oneLine(result.error.message);
  const block = result.content[0];
  if (block?.type === "text") return firstLine(block.text);
  if (block?.type === "json") return shapeOf(block.json);
  return firstLine(textOf(result.content));
}

/** The lines of an error belong together: the first one often only says what the others are about. */
function oneLine(message: string): string {
  const [head = "", ...rest] = message.split(/\s*\n(?:- )?\s*/);
  return firstLine(rest.length === 0 ? head : `${head} ${rest.join("; ")}`);
}

function firstLine(text: string): string {
  const end = text.indexOf("\n");
  const line = end === -1 ? text : text.slice(0, end);
  return line.length > MAX_SUMMARY_CHARS ? `${line.slice(0, MAX_SUMMARY_CHARS - 1)}…` : line;
}

function shapeOf(value: JsonValue): string {
  if (Array.isArray(value)) return `${value.length} item${value.length === 1 ? "" : "s"}`;
  if (typeof value !== "object" || value === null) return firstLine(String(value));
  const keys = Object.keys(value);
  return keys.length <= 8 ? `{ ${keys.join(", ")} }` : `{ ${keys.slice(0, 8).join(", ")}, … }`;
}
