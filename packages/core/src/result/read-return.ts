// Folds whatever a handler returned or threw into one shape (DEF-7, RESULT-2). Nothing here trusts the
// value: it may be cyclic, huge, a proxy, or hold getters that throw.

import { type JsonObject, type JsonValue, isRecord, omitUndefined } from "@soong/schema";
import {
  isContextNodeKind,
  isErrorClass,
  isHandlerErrorStatus,
  isHandlerStatus,
  isMarkedResult,
  isRecovery,
  messageOf,
  ToolFailure,
  toolError,
  type ArtifactRef,
  type ContentBlock,
  type ContextModifier,
  type ContextNode,
  type HandlerErrorStatus,
  type HandlerResult,
  type HandlerStatus,
  type ToolError,
} from "../tool/index.ts";
import { snapshotOf, type Snapshot } from "./snapshot.ts";

export interface HandlerOutcome {
  status: HandlerStatus;
  content: ContentBlock[];
  /** The returned value, copied, when there is one beside the content. */
  data?: Snapshot;
  /** Set when the handler returned just this text: an output schema speaks of it. */
  returned_text?: string;
  summary?: string;
  artifacts: ArtifactRef[];
  error?: ToolError;
  metadata?: JsonObject;
  context_nodes?: ContextNode[];
  modify_context?: ContextModifier;
}

const FULL_RESULT_KEYS: ReadonlySet<string> = new Set([
  "ok",
  "status",
  "content",
  "summary",
  "data",
  "artifacts",
  "error",
  "metadata",
  "context_nodes",
  "modify_context",
]);

export function readReturn(value: unknown): HandlerOutcome {
  try {
    if (typeof value === "string") {
      return { ...succeeded([{ type: "text", text: value }]), returned_text: value };
    }
    if (value === undefined) return succeeded([]);
    if (isFullResult(value)) return readFullResult(value);
    const data = snapshotOf(value);
    if (data === undefined) return unserialisable(`a ${typeof value} is not JSON`);
    const lost = lostInJson(value, data);
    if (lost !== undefined) return unserialisable(`${lost} has no JSON form`);
    return { status: "succeeded", content: [], artifacts: [], data };
  } catch (error) {
    // The stack of the copy is the bound; what is left below 500 levels is dropped when it is redacted.
    return unserialisable(
      error instanceof RangeError ? "it is nested too deeply" : messageOf(error),
    );
  }
}

export function readThrown(thrown: unknown): HandlerOutcome {
  try {
    if (thrown instanceof ToolFailure) {
      const content = readContent(thrown.content);
      const error = readError(thrown.error) ?? FAILED_WITHOUT_ERROR;
      return {
        status: isHandlerErrorStatus(thrown.status) ? thrown.status : "failed",
        content: typeof content === "string" ? [] : content,
        artifacts: [],
        error,
      };
    }
  } catch {
    // A proxy that throws when it is looked at: it is told as whatever words it has.
  }
  return failed({ code: "execution_failed", message: messageOf(thrown) });
}

/** A Map, a Set, an Error: objects of which JSON would keep nothing, without a word. */
function lostInJson(value: unknown, data: Snapshot): string | undefined {
  if (!isRecord(value)) return undefined;
  const kept = data.value;
  const isEmpty = typeof kept === "object" && kept !== null && Object.keys(kept).length === 0;
  const prototype = Object.getPrototypeOf(value) as { constructor?: { name?: unknown } } | null;
  if (!isEmpty || prototype === null || prototype === Object.prototype) return undefined;
  const name = prototype.constructor?.name;
  return typeof name === "string" && name !== "" ? `a ${name}` : "such an object";
}

function succeeded(content: ContentBlock[]): HandlerOutcome {
  return { status: "succeeded", content, artifacts: [] };
}

function failed(error: Parameters<typeof toolError>[0]): HandlerOutcome {
  return { status: "failed", content: [], artifacts: [], error: toolError(error) };
}

function unserialisable(why: string): HandlerOutcome {
  return failed({
    code: "result_not_json",
    message: `The tool ran, but its result cannot be written as JSON: ${why}`,
    recovery: "use_another_tool",
  });
}

/** Marked with toolResult(), or plainly of its shape: `ok` or content blocks, and no foreign key. */
function isFullResult(value: unknown): value is HandlerResult {
  if (!isRecord(value)) return false;
  if (isMarkedResult(value)) return true;
  const { ok, content } = value as HandlerResult;
  if (ok === undefined && content === undefined) return false;
  const shaped =
    typeof ok === "boolean" ||
    (Array.isArray(content) &&
      content.length > 0 &&
      content.every((block) => isContentBlock(block)));
  return shaped && Object.keys(value).every((key) => FULL_RESULT_KEYS.has(key));
}

function readFullResult(value: HandlerResult): HandlerOutcome {
  const content = readContent(value.content);
  if (typeof content === "string") return unserialisable(content);
  const error = readError(value.error);
  const status = readStatus(value, error !== undefined);
  const data = value.data === undefined ? undefined : snapshotOf(value.data);
  const metadata = plainObject(value.metadata);
  return {
    status,
    content,
    artifacts: readArtifacts(value.artifacts),
    ...omitUndefined({ data }),
    ...(typeof value.summary === "string" ? { summary: value.summary } : {}),
    ...(isHandlerErrorStatus(status) ? { error: error ?? errorFrom(status, value.summary) } : {}),
    ...(status === "partial" && error !== undefined ? { error } : {}),
    ...omitUndefined({ metadata }),
    ...(Array.isArray(value.context_nodes)
      ? { context_nodes: readNodes(value.context_nodes) }
      : {}),
    ...(typeof value.modify_context === "function" ? { modify_context: value.modify_context } : {}),
  };
}

/** `ok: false` is a failure whatever else is said; a status nobody knows is one, too. */
function readStatus({ ok, status }: HandlerResult, hasError: boolean): HandlerStatus {
  if (ok === false) return isHandlerErrorStatus(status) ? status : "failed";
  if (status === undefined) return hasError ? "failed" : "succeeded";
  return isHandlerStatus(status) ? status : "failed";
}

const FAILED_WITHOUT_ERROR = toolError({
  code: "execution_failed",
  message: "The tool reported a failure without saying which.",
});

/** A model must not take either of these for a plain failure, after which it could try again. */
const WITHOUT_ERROR = {
  failed: FAILED_WITHOUT_ERROR,
  timed_out: toolError({
    code: "timed_out",
    error_class: "timeout",
    message: "The tool gave up waiting; it may or may not have happened.",
    recovery: "ask_the_user",
  }),
  unknown: toolError({
    code: "outcome_unknown",
    message: "It may or may not have happened: find out before doing it again.",
    recovery: "ask_the_user",
  }),
} as const;

/** A tool that failed and gave a summary has said why there. */
function errorFrom(status: HandlerErrorStatus, summary: unknown): ToolError {
  const known = WITHOUT_ERROR[status];
  if (status !== "failed" || typeof summary !== "string" || summary.trim() === "") return known;
  return toolError({ ...known, message: summary });
}

/** Whatever is not of the type it should be is left out, and the safer value taken. */
function readError(error: unknown): ToolError | undefined {
  if (error === undefined || error === null) return undefined;
  if (typeof error === "string") return toolError({ code: "execution_failed", message: error });
  const given = plainObject(error) ?? {};
  const { code, message, error_class, retryable, recovery, details } = given;
  return toolError({
    code: typeof code === "string" && code !== "" ? label(code) : "execution_failed",
    message: typeof message === "string" ? message : FAILED_WITHOUT_ERROR.message,
    ...(isErrorClass(error_class) ? { error_class } : {}),
    ...(typeof retryable === "boolean" ? { retryable } : {}),
    ...(isRecovery(recovery) ? { recovery } : {}),
    ...(isRecord(details) ? { details } : {}),
  });
}

/** The blocks as JSON of our own, or what is wrong with them. */
function readContent(content: unknown): ContentBlock[] | string {
  if (content === undefined) return [];
  if (!Array.isArray(content)) return "content is not a list of blocks";
  const bad = content.findIndex((block) => !isContentBlock(block));
  if (bad !== -1) return `content[${bad}] is not a block of a known type`;
  return (JSON.parse(JSON.stringify(content)) as ContentBlock[]).map(shortLabels);
}

/** Words about a block that no bound of the text counts. */
function shortLabels(block: ContentBlock): ContentBlock {
  if (block.type === "text" || block.type === "json") return block;
  if (block.media_type !== undefined) block.media_type = label(block.media_type);
  if (block.type === "artifact_ref") {
    block.artifact_id = label(block.artifact_id);
    if (block.name !== undefined) block.name = label(block.name);
  }
  return block;
}

const MAX_LABEL_CHARS = 300;

function label(text: unknown): string {
  return String(text).slice(0, MAX_LABEL_CHARS);
}

/** Whether a value is a block that a result may hold. */
export function isContentBlock(block: unknown): block is ContentBlock {
  if (typeof block !== "object" || block === null) return false;
  const given = block as Record<string, unknown>;
  switch (given["type"]) {
    case "text":
      return typeof given["text"] === "string";
    case "json":
      return given["json"] !== undefined;
    case "image":
    case "audio":
      return typeof given["media_type"] === "string" && typeof given["data"] === "string";
    case "resource":
      return typeof given["uri"] === "string" && hasOneOf(given, "text", "blob");
    case "resource_link":
      return typeof given["uri"] === "string";
    case "artifact_ref":
      return typeof given["artifact_id"] === "string";
    default:
      return false;
  }
}

function hasOneOf(given: Record<string, unknown>, one: string, other: string): boolean {
  const [has, lacks] = given[one] === undefined ? [other, one] : [one, other];
  return typeof given[has] === "string" && given[lacks] === undefined;
}

function readArtifacts(artifacts: unknown): ArtifactRef[] {
  if (!Array.isArray(artifacts)) return [];
  return artifacts.slice(0, MAX_ARTIFACTS).flatMap((ref: Partial<ArtifactRef> | null) => {
    const { artifact_id, media_type = "application/octet-stream", size } = ref ?? {};
    if (typeof artifact_id !== "string") return [];
    const { sha256 = "", name } = ref ?? {};
    return {
      artifact_id: label(artifact_id),
      media_type: label(media_type),
      size: typeof size === "number" ? size : 0,
      sha256: label(sha256),
      ...(typeof name === "string" ? { name: label(name) } : {}),
    };
  });
}

/** As many as a tool can sensibly give at once; each is a fact of its own already. */
const MAX_ARTIFACTS = 1000;

function readNodes(nodes: readonly ContextNode[]): ContextNode[] {
  return (JSON.parse(JSON.stringify(nodes)) as ContextNode[]).filter(
    (node) => isContextNodeKind(node?.kind) && typeof node.text === "string",
  );
}

function plainObject(value: unknown): JsonObject | undefined {
  if (!isRecord(value)) return undefined;
  return JSON.parse(JSON.stringify(value)) as Record<string, JsonValue>;
}
