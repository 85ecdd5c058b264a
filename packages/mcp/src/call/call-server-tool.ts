// One call (MCP-4, MCP-5): the server is asked once, its progress and its questions are passed on, and every outcome
// is a result. An answer that makes no sense in places is kept as far as it does; it has happened either way.

import {
  toolResult,
  type HandlerResult,
  type JsonObject,
  type JsonValue,
  type ToolContext,
} from "@soong/core";
import { isJsonObject } from "@soong/schema";
import { McpRequestFailure } from "../connection/failure.ts";
import type { ConnectedServer, ToolCallRequest } from "../connection/connected-server.ts";
import { askServer, type AskingCall } from "./ask-server.ts";
import { readContent } from "./read-content.ts";

/** How often a server may send the user to a page before it does what it was asked. */
const MAX_PAGE_ROUNDS = 2;
const MAX_META_CHARS = 16 * 1024;
/** Longer, and the text stays content, where it is bounded with a preview. */
const MAX_ERROR_TEXT = 4_000;

/** Throws a ToolFailure for anything that is not an answer of the tool. */
export function callServerTool(
  call: AskingCall & ToolCallRequest & { readonly server: Pick<ConnectedServer, "callTool"> },
  context: ToolContext,
): Promise<HandlerResult> {
  const { server, name, arguments: input } = call;
  return askServer(call, context, {
    send: (options) => server.callTool({ name, arguments: input }, options),
    read: (answer) => readCallResult(answer, context),
    opensPages: MAX_PAGE_ROUNDS,
  });
}

async function readCallResult(answer: JsonObject, context: ToolContext): Promise<HandlerResult> {
  const { content: given, structuredContent: data, isError, _meta } = answer;
  const isList = Array.isArray(given);
  if (!isList && data === undefined) {
    throw new McpRequestFailure("invalid_answer", "it has neither content nor structured content");
  }
  const { content, artifacts, metas } = await readContent(isList ? given : [], context);
  const { metadata, artifact } = await keepMeta(_meta, metas, context);
  if (artifact !== undefined) artifacts.push(artifact);
  const result: HandlerResult = { content, artifacts, data, metadata };
  if (isError !== true) return toolResult(result);
  // The server's own words are the error.
  const words = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const text = words.join("\n").trim();
  const isShort = text !== "" && text.length <= MAX_ERROR_TEXT;
  const none = text === "" ? " without a word about it" : "";
  const message = isShort ? text : `${context.toolName} reported an error${none}.`;
  return toolResult({
    ...result,
    status: "failed",
    content: isShort ? content.filter(({ type }) => type !== "text") : content,
    error: { code: "tool_error", message },
  });
}

/** `_meta` of the result and of its blocks: on record, not in what the model reads. */
async function keepMeta(
  own: JsonValue | undefined,
  ofBlocks: readonly JsonObject[],
  { artifacts, toolName }: ToolContext,
) {
  const metadata: JsonObject = {
    ...(isJsonObject(own) && { _meta: own }),
    ...(ofBlocks.length > 0 && { content_meta: [...ofBlocks] }),
  };
  if (Object.keys(metadata).length === 0) return {};
  const text = JSON.stringify(metadata);
  if (text.length <= MAX_META_CHARS) return { metadata };
  const name = `${toolName}.meta.json`;
  const artifact = await artifacts.write(text, { media_type: "application/json", name });
  return { metadata: { meta_artifact_id: artifact.artifact_id }, artifact };
}
