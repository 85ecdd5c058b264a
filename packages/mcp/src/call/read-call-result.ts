// What a server answered to tools/call, as a result of ours (MCP-4). An answer that makes no sense in places is
// kept as far as it does; it has happened either way.

import {
  toolResult,
  type ContentBlock,
  type HandlerResult,
  type JsonObject,
  type JsonValue,
  type ToolContext,
} from "@soong/core";
import { isJsonObject } from "@soong/schema";
import { McpRequestFailure } from "../connection/index.ts";
import { readContent } from "./read-content.ts";

type Artifacts = Pick<ToolContext, "artifacts" | "toolName">;

const MAX_META_CHARS = 16 * 1024;
/** Longer, and the text stays content, where it is bounded with a preview. */
const MAX_ERROR_TEXT = 4_000;

export async function readCallResult(
  answer: JsonObject,
  context: Artifacts,
): Promise<HandlerResult> {
  const { content: given, structuredContent: data, isError, _meta } = answer;
  if (!Array.isArray(given) && data === undefined) {
    throw new McpRequestFailure("invalid_answer", "it has neither content nor structured content");
  }
  const { content, artifacts, metas } = await readContent(
    Array.isArray(given) ? given : [],
    context,
  );
  const meta = await keptMeta(_meta, metas, context);
  const result: HandlerResult = {
    content,
    artifacts: [...artifacts, ...meta.artifacts],
    data,
    metadata: meta.metadata,
  };
  return toolResult(isError === true ? failed(result, context.toolName) : result);
}

/** The server's own words are the error. */
function failed(result: HandlerResult, toolName: string): HandlerResult {
  const { content = [] } = result;
  const text = content
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n")
    .trim();
  const isShort = text !== "" && text.length <= MAX_ERROR_TEXT;
  const message = isShort
    ? text
    : `${toolName} reported an error${text === "" ? " without a word about it" : ""}.`;
  const rest = content.filter((block: ContentBlock) => !isShort || block.type !== "text");
  return { ...result, status: "failed", content: rest, error: { code: "tool_error", message } };
}

/** `_meta` of the result and of its blocks: on record, not in what the model reads. */
async function keptMeta(
  own: JsonValue | undefined,
  ofBlocks: readonly JsonObject[],
  context: Artifacts,
): Promise<{ metadata?: JsonObject; artifacts: NonNullable<HandlerResult["artifacts"]> }> {
  const metadata: JsonObject = {
    ...(isJsonObject(own) ? { _meta: own } : {}),
    ...(ofBlocks.length === 0 ? {} : { content_meta: [...ofBlocks] }),
  };
  if (Object.keys(metadata).length === 0) return { artifacts: [] };
  const text = JSON.stringify(metadata);
  if (text.length <= MAX_META_CHARS) return { metadata, artifacts: [] };
  const name = `${context.toolName}.meta.json`;
  const ref = await context.artifacts.write(text, { media_type: "application/json", name });
  return { metadata: { meta_artifact_id: ref.artifact_id }, artifacts: [ref] };
}
