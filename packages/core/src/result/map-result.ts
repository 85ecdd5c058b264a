// One mapping from what a handler gave to the ToolResult that is recorded, read and shown (RESULT-2…6).
// Redaction and bounding happen here, once, for the results of all tools.

import type { Redactor } from "../journal/index.ts";
import { shorten, type JsonValue } from "@soong/schema";
import {
  isErrorStatus,
  isPromise,
  messageOf,
  toolError,
  type AnyTool,
  type ContentBlock,
  type ResultMetadata,
  type ToolError,
  type ToolResult,
  type ToolStatus,
} from "../tool/index.ts";
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

const MAX_SUMMARY_CHARS = 200;
const MAX_ERROR_CHARS = 8000;
const MAX_SHOWN_KEYS = 8;

export function mapResult(
  frame: ResultFrame,
  status: ToolStatus,
  outcome: HandlerOutcome,
  rules: MappingRules,
): ToolResult {
  const { redactor, redaction: scope } = rules;
  const before = redactor.count;
  const error = outcome.error === undefined ? undefined : redactError(outcome.error, rules);
  const said = outcome.summary === undefined ? undefined : redactor.text(outcome.summary, scope);
  const isSaid = said !== undefined && said.trim() !== "";
  // Lists of the right size from the start: one that grows keeps room for what never comes.
  let content = outcome.content.map((block) => redactBlock(block, rules));
  let data: JsonValue | undefined;
  if (outcome.data !== undefined) {
    data = redactor.value(outcome.data.value, { scope, sensitive: rules.sensitive });
    // Beside a summary, null is how a tool says that it has no data.
    if (content.length === 0 && !(data === null && isSaid)) {
      content = [{ type: "json", json: data }];
    }
  }
  if (error !== undefined) content = [{ type: "text", text: error.message }, ...content];
  // Some providers refuse a blank text, and no model can distinguish it from a lost one.
  if (content.every((block) => block.type === "text" && block.text.trim() === "")) {
    content = [isSaid ? { type: "text", text: said } : emptyBlock(frame.tool_name, error)];
  }

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
    artifacts: outcome.artifacts.map((ref) =>
      ref.name === undefined ? ref : { ...ref, name: redactor.text(ref.name) },
    ),
    metadata,
  };
  if (data !== undefined) result.data = data;
  if (error !== undefined) result.error = error;
  result.summary = said === undefined ? summarizeResult(result) : firstLine(said);
  if (redactor.count > before) metadata.redactions = redactor.count - before;
  return result;
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
    case "resource": {
      // Bytes are not changed, as those of an image are not: text found in base64 is no text.
      if ("text" in block) return redactor.value(block, { scope });
      const { blob, ...about } = block;
      return { ...redactor.value(about, { scope }), blob };
    }
    case "resource_link":
      return redactor.value(block, { scope });
    case "image":
    case "audio":
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
    details: error.details && redactor.value(error.details),
  });
}

/** The text a model would read of these blocks. */
export function joinText(content: readonly ContentBlock[]): string {
  const parts: string[] = [];
  for (const block of content) {
    if (block.type === "text") parts.push(block.text);
    else if (block.type === "json") parts.push(JSON.stringify(block.json));
    else if (block.type === "image" || block.type === "audio")
      parts.push(`[${block.type} ${block.media_type}]`);
    else if (block.type === "resource_link" || block.type === "resource")
      parts.push(describeResource(block));
    else parts.push(`[artifact ${block.artifact_id}, ${block.size} bytes]`);
  }
  return parts.join("\n");
}

function describeResource(
  block: Extract<ContentBlock, { type: "resource" | "resource_link" }>,
): string {
  const { uri, media_type } = block;
  if (block.type === "resource_link") {
    const { name = "resource", description } = block;
    return description === undefined ? `[${name}: ${uri}]` : `[${name}: ${uri}] ${description}`;
  }
  const head =
    media_type === undefined ? `[resource: ${uri}]` : `[resource: ${uri}, ${media_type}]`;
  return "text" in block ? `${head}\n${block.text}` : head;
}

/** It succeeded, and its content only says that there is none. */
export function isEmptyResult({ tool_name, content }: ToolResult): boolean {
  return joinText(content) === joinText([emptyBlock(tool_name, undefined)]);
}

function emptyBlock(toolName: string, error: ToolError | undefined): ContentBlock {
  const ended =
    error === undefined ? "succeeded and returned nothing" : "failed and gave no reason";
  return { type: "text", text: `${toolName} ${ended}.` };
}

function summarizeResult(result: ToolResult): string {
  if (result.error !== undefined) return joinLines(result.error.message);
  const block = result.content[0];
  if (block?.type === "text") return firstLine(block.text);
  if (block?.type === "json") return describeShape(block.json);
  return firstLine(joinText(result.content));
}

/** The lines of an error belong together: the first one often only says what the others are about. */
function joinLines(message: string): string {
  const [head = "", ...rest] = message.split(/\s*\n(?:- )?\s*/);
  return firstLine(rest.length === 0 ? head : `${head} ${rest.join("; ")}`);
}

function firstLine(text: string): string {
  const end = text.indexOf("\n");
  const line = end === -1 ? text : text.slice(0, end);
  return shorten(line, MAX_SUMMARY_CHARS);
}

function describeShape(value: JsonValue): string {
  if (Array.isArray(value)) return `${value.length} item${value.length === 1 ? "" : "s"}`;
  if (typeof value !== "object" || value === null) return firstLine(String(value));
  // Joined from a list: a text put together piece by piece keeps every piece as long as it lives.
  const keys: string[] = [];
  for (const key in value) {
    if (keys.length === MAX_SHOWN_KEYS) {
      keys.push("…");
      break;
    }
    keys.push(key);
  }
  return firstLine(["{ ", keys.join(", "), " }"].join(""));
}

/** Three views of one result (RESULT-5), each derived from the same mapped result and made once. */
export interface ResultViews {
  model: readonly ContentBlock[];
  person: string;
  search: string;
}

const MAX_SEARCH_CHARS = 16_384;

/** A result as the model, the user and a search see it. */
export function viewsOf(result: ToolResult, tool?: Pick<AnyTool, "render">): ResultViews {
  const known = made.get(result);
  if (known !== undefined) return known;
  const text = joinText(result.content);
  const views: ResultViews = {
    model: result.content,
    person: renderResult(result, tool) ?? text,
    search: `${result.tool_name} ${result.summary}\n${text}`.slice(0, MAX_SEARCH_CHARS),
  };
  made.set(result, views);
  return views;
}

const made = new WeakMap<ToolResult, ResultViews>();

/** A tool that cannot show its result costs only its own picture of it. */
function renderResult(result: ToolResult, tool?: Pick<AnyTool, "render">): string | undefined {
  if (tool?.render === undefined) return undefined;
  try {
    const text: unknown = tool.render(result);
    return !isPromise(text) && typeof text === "string" ? text : undefined;
  } catch (error) {
    return `${joinText(result.content)}\n(The tool could not render this: ${messageOf(error)})`;
  }
}
