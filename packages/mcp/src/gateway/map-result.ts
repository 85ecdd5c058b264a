// A result as a client reads it (GATE-4). Some hosts show a model the text and drop the structured content, some the
// other way round: so each of the two says everything, the notices too. What a server sent beside the content
// (`_meta`, annotations, titles) is on record, not in what a model reads, and goes back into the blocks it belongs to,
// as far as the protocol knows it. And what the protocol has another form, or an error, for.

import {
  isSpecType,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type CallToolResult,
  type GetPromptResult,
  type ReadResourceResult,
} from "@modelcontextprotocol/server";
import type { ContentBlock, JsonObject, JsonValue, ToolResult } from "@soong/core";
import { isJsonObject, omitUndefined } from "@soong/schema";
import { splitMessages } from "../relay/relay-tools.ts";
import { CALL_TOOL } from "./list-tools.ts";

type ClientBlock = CallToolResult["content"][number];

/** `reader`: the wire name of the tool that reads artifacts, where the surface has it. */
export function mapResult(result: ToolResult, reader: string | undefined): CallToolResult {
  const { data, is_error, metadata } = result;
  const beside = fieldsByBlock(result);
  const content = result.content.flatMap((block, place) =>
    clientBlocks(block).map((one) => withFields(one, beside.get(place))),
  );
  const notice = describeRest(result, reader);
  if (data !== undefined && !showsData(result)) content.push(textBlock(JSON.stringify(data)));
  if (notice !== undefined) content.push(textBlock(notice));
  if (content.length === 0) content.push(textBlock(result.summary));
  return {
    content,
    structuredContent: data === undefined ? undefined : structuredContent(result, data, notice),
    ...metaIn(metadata.tool?.["_meta"]),
    isError: is_error,
  };
}

export function mapPrompt(result: ToolResult, reader: string | undefined): GetPromptResult {
  throwIfError(result);
  const { description, messages } = splitMessages(result);
  const notice = describeRest(result, reader);
  const mapped = messages.flatMap(({ role, block }) =>
    clientBlocks(block).map((content) => ({ role, content })),
  );
  if (notice !== undefined) mapped.push({ role: "user", content: textBlock(notice) });
  return { description, messages: mapped };
}

/** What is not a resource any more, because it was cut or kept elsewhere, is text under the same address. */
export function mapResource(
  result: ToolResult,
  uri: string,
  reader: string | undefined,
): ReadResourceResult {
  throwIfError(result);
  const asText = (text: string) => ({ uri, mimeType: "text/plain", text });
  const contents = result.content.flatMap((block): ReadResourceResult["contents"] => {
    const [sent] = clientBlocks(block);
    if (sent === undefined || sent.type === "resource_link") return [];
    if (sent.type === "resource") return [sent.resource];
    return [
      sent.type === "text" ? asText(sent.text) : { uri, mimeType: sent.mimeType, blob: sent.data },
    ];
  });
  const notice = describeRest(result, reader);
  return { contents: notice === undefined ? contents : [...contents, asText(notice)] };
}

/** A server's own error keeps its number; any other error is ours. */
function throwIfError({ error, summary, is_error }: ToolResult): void {
  if (!is_error) return;
  const { rpc_code, data } = error?.details ?? {};
  const code = typeof rpc_code === "number" ? rpc_code : ProtocolErrorCode.InternalError;
  throwIfCapabilityMissing(error);
  throw new ProtocolError(code, error?.message ?? summary, isJsonObject(data) ? data : undefined);
}

/**
 * That there is no such tool is no result of one; its call is on record all the same. Nor is that it needs what
 * the client never declared.
 */
export function throwIfRefused({ error }: ToolResult, asked: string): void {
  const isUnknown = error?.code === "tool_not_available" && error.error_class === "unknown_tool";
  if (isUnknown && asked !== CALL_TOOL) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
  }
  throwIfCapabilityMissing(error);
}

function throwIfCapabilityMissing(error: ToolResult["error"]): void {
  if (error?.code !== "client_capability_missing") return;
  const { required_capabilities, data } = error.details ?? {};
  const listed = isJsonObject(data) ? data["requiredCapabilities"] : undefined;
  const required = required_capabilities ?? listed;
  throw new MissingRequiredClientCapabilityError(
    { requiredCapabilities: isJsonObject(required) ? required : {} },
    error.message,
  );
}

/** An artifact is spoken of in the notice, once for all of them. */
function clientBlocks(block: ContentBlock): ClientBlock[] {
  switch (block.type) {
    case "text":
      return [textBlock(block.text)];
    case "json":
      return [textBlock(JSON.stringify(block.json))];
    case "image":
    case "audio":
      return [{ type: block.type, data: block.data, mimeType: block.media_type }];
    case "resource": {
      const { type, media_type, ...resource } = block;
      return [{ type, resource: { ...resource, ...omitUndefined({ mimeType: media_type }) } }];
    }
    case "resource_link": {
      const { type, uri, name = uri, description, media_type: mimeType } = block;
      return [{ type, uri, name, description, mimeType }];
    }
    case "artifact_ref":
      return [];
  }
}

/** An object in every revision of the protocol; what is not one is put into one. */
function structuredContent(
  result: ToolResult,
  data: JsonValue,
  notice: string | undefined,
): Record<string, unknown> {
  const words = result.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const text = showsData(result) && !result.is_error ? "" : words.join("\n");
  return {
    ...(isJsonObject(data) ? data : { result: data }),
    ...omitUndefined({ soong_text: text || undefined, soong_notice: notice }),
  };
}

/** The data is what a block shows: as our own block of it, or as the text a server mirrored it to. */
function showsData({ content, data }: ToolResult): boolean {
  const whole = JSON.stringify(data);
  return content.some((block) => {
    if (block.type === "json") return JSON.stringify(block.json) === whole;
    return block.type === "text" && isSameJson(block.text, whole);
  });
}

function isSameJson(text: string, whole: string): boolean {
  if (text === whole) return true;
  // Only what begins like it is worth parsing.
  if (text.trimStart().charAt(0) !== whole.charAt(0)) return false;
  try {
    return JSON.stringify(JSON.parse(text)) === whole;
  } catch {
    return false;
  }
}

const MAX_NAMED_ARTIFACTS = 5;

/** Where the rest of it is, if this is not all. */
function describeRest(
  { metadata, artifacts }: ToolResult,
  reader: string | undefined,
): string | undefined {
  const { truncation } = metadata;
  if (truncation === undefined && artifacts.length === 0) return undefined;
  const parts: string[] = [];
  if (truncation !== undefined) {
    const { original_chars, kept_chars } = truncation;
    parts.push(`shortened from ${original_chars} to ${kept_chars} characters`);
  }
  for (const { artifact_id, media_type, size } of artifacts.slice(0, MAX_NAMED_ARTIFACTS)) {
    const what = artifact_id === truncation?.artifact_id ? "all of it is artifact" : "artifact";
    parts.push(`${what} ${artifact_id} (${media_type}, ${size} bytes)`);
  }
  const more = artifacts.length - MAX_NAMED_ARTIFACTS;
  if (more > 0) parts.push(`and ${more} more artifacts`);
  const [first] = artifacts;
  const how =
    reader === undefined || first === undefined
      ? ""
      : ` Read it with ${reader} {"artifact_id": ${JSON.stringify(first.artifact_id)}}.`;
  return `[Soong: ${parts.join("; ")}.${how}]`;
}

function textBlock(text: string) {
  return { type: "text" as const, text };
}

/** What came beside each block; one whose block is another now, because the result was shortened, is omitted. */
function fieldsByBlock({ metadata, content }: ToolResult): ReadonlyMap<number, JsonObject> {
  const listed = metadata.tool?.["content_meta"];
  const beside = new Map<number, JsonObject>();
  for (const one of Array.isArray(listed) ? listed.filter(isJsonObject) : []) {
    const { block, type } = one;
    if (typeof block === "number" && content[block]?.type === type) beside.set(block, one);
  }
  return beside;
}

/** A client refuses a whole result for one odd field, so only what has the right shape goes back. */
function withFields(block: ClientBlock, beside: JsonObject | undefined): ClientBlock {
  if (beside === undefined) return block;
  const { _meta, annotations, title, size, resource } = beside;
  const whole = { ...block, ...metaIn(_meta), ...annotationsIn(annotations) };
  if (whole.type === "resource_link") {
    return {
      ...whole,
      ...(typeof title === "string" && { title }),
      ...(typeof size === "number" && { size }),
    };
  }
  if (whole.type !== "resource") return whole;
  const inside = isJsonObject(resource) ? resource["_meta"] : undefined;
  return { ...whole, resource: { ...whole.resource, ...metaIn(inside) } };
}

/** Names the protocol keeps for itself: they are about the server's connection, not about ours. */
const RESERVED = "io.modelcontextprotocol/";

function metaIn(given: JsonValue | undefined): { _meta?: JsonObject } {
  if (!isJsonObject(given)) return {};
  const own = Object.entries(given).filter(([key]) => !key.startsWith(RESERVED));
  return own.length === 0 ? {} : { _meta: Object.fromEntries(own) };
}

function annotationsIn(given: JsonValue | undefined): { annotations?: JsonObject } {
  if (!isJsonObject(given)) return {};
  const known = ["audience", "priority", "lastModified"].flatMap((key) => {
    const value = given[key];
    return value !== undefined && isSpecType.Annotations({ [key]: value }) ? [[key, value]] : [];
  });
  return known.length === 0 ? {} : { annotations: Object.fromEntries(known) as JsonObject };
}
