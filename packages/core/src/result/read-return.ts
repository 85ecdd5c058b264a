// Folds whatever a handler returned or threw into one shape (DEF-7, RESULT-2). Nothing here trusts the
// value: it may be cyclic, huge, a proxy, or hold getters that throw.

import type { JsonObject, JsonValue } from "../schema/index.ts";
import {
  isMarkedResult,
  messageOf,
  ToolFailure,
  toolError,
  type ArtifactRef,
  type ContentBlock,
  type ContextModifier,
  type ContextNode,
  type HandlerResult,
  type ToolError,
} from "../tool/index.ts";
import { snapshotOf, type Snapshot } from "./snapshot.ts";

export interface HandlerOutcome {
  status: "succeeded" | "partial" | "failed";
  content: ContentBlock[];
  /** The returned value, copied, when there is one beside the content. */
  data?: Snapshot;
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
    if (typeof value === "string") return succeeded([{ type: "text", text: value }]);
    if (value === undefined) return succeeded([]);
    if (isFullResult(value)) return readFullResult(value);
    const data = snapshotOf(value);
    if (data === undefined) return unserialisable(`a ${typeof value} is not JSON`);
    return { status: "succeeded", content: [], artifacts: [], data };
  } catch (error) {
    return unserialisable(messageOf(error));
  }
}

export function readThrown(thrown: unknown): HandlerOutcome {
  if (thrown instanceof ToolFailure) {
    return { status: "failed", content: thrown.content, artifacts: [], error: thrown.error };
  }
  return failed({ code: "execution_failed", message: messageOf(thrown) });
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
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
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
  const status =
    value.status ?? (value.ok === false || error !== undefined ? "failed" : "succeeded");
  const data = value.data === undefined ? undefined : snapshotOf(value.data);
  const metadata = plainObject(value.metadata);
  return {
    status: status === "partial" || status === "failed" ? status : "succeeded",
    content,
    artifacts: readArtifacts(value.artifacts),
    ...(data === undefined ? {} : { data }),
    ...(typeof value.summary === "string" ? { summary: value.summary } : {}),
    ...(status === "failed" ? { error: error ?? FAILED_WITHOUT_ERROR } : {}),
    ...(status === "partial" && error !== undefined ? { error } : {}),
    ...(metadata === undefined ? {} : { metadata }),
    ...(Array.isArray(value.context_nodes)
      ? { context_nodes: readNodes(value.context_nodes) }
      : {}),
    ...(typeof value.modify_context === "function" ? { modify_context: value.modify_context } : {}),
  };
}

const FAILED_WITHOUT_ERROR = toolError({
  code: "execution_failed",
  message: "The tool reported a failure without saying which.",
});

function readError(error: unknown): ToolError | undefined {
  if (error === undefined || error === null) return undefined;
  if (typeof error === "string") return toolError({ code: "execution_failed", message: error });
  const given = (plainObject(error) ?? {}) as Partial<ToolError>;
  return toolError({
    ...given,
    code: typeof given.code === "string" ? given.code : "execution_failed",
    message: typeof given.message === "string" ? given.message : FAILED_WITHOUT_ERROR.message,
  });
}

/** The blocks as JSON of our own, or what is wrong with them. */
function readContent(content: unknown): ContentBlock[] | string {
  if (content === undefined) return [];
  if (!Array.isArray(content)) return "content is not a list of blocks";
  const bad = content.findIndex((block) => !isContentBlock(block));
  if (bad !== -1) return `content[${bad}] is not a block of a known type`;
  return JSON.parse(JSON.stringify(content)) as ContentBlock[];
}

export function isContentBlock(block: unknown): block is ContentBlock {
  if (typeof block !== "object" || block === null) return false;
  const given = block as Record<string, unknown>;
  switch (given["type"]) {
    case "text":
      return typeof given["text"] === "string";
    case "json":
      return given["json"] !== undefined;
    case "image":
      return typeof given["media_type"] === "string" && typeof given["data"] === "string";
    case "resource_link":
      return typeof given["uri"] === "string";
    case "artifact_ref":
      return typeof given["artifact_id"] === "string";
    default:
      return false;
  }
}

function readArtifacts(artifacts: unknown): ArtifactRef[] {
  if (!Array.isArray(artifacts)) return [];
  return (JSON.parse(JSON.stringify(artifacts)) as ArtifactRef[]).filter(
    (ref) => typeof ref?.artifact_id === "string",
  );
}

function readNodes(nodes: readonly ContextNode[]): ContextNode[] {
  return (JSON.parse(JSON.stringify(nodes)) as ContextNode[]).filter(
    (node) => typeof node?.kind === "string" && typeof node.text === "string",
  );
}

function plainObject(value: unknown): JsonObject | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return JSON.parse(JSON.stringify(value)) as Record<string, JsonValue>;
}
