// A result as a client reads it (GATE-4). Some hosts show a model the text and drop the structured content,
// some the other way round: so each of the two says everything, the notices too.

import type { CallToolResult } from "@modelcontextprotocol/server";
import type { ContentBlock, JsonObject, JsonValue, ToolResult } from "@soong/core";
import { isJsonObject, omitUndefined } from "@soong/schema";
import { besideContent, fieldsBeside, metaInside, metaOf } from "./beside-content.ts";

type ClientBlock = CallToolResult["content"][number];

/** `reader`: the wire name of the tool that reads artifacts, where the surface has it. */
export function mapResult(result: ToolResult, reader: string | undefined): CallToolResult {
  const beside = besideContent(result);
  const content = result.content.flatMap((block, place) =>
    clientBlocks(block).map((one) => withFields(one, beside.get(place))),
  );
  const notice = noticeOf(result, reader);
  const { data } = result;
  if (data !== undefined && !showsData(result)) content.push(textBlock(JSON.stringify(data)));
  if (notice !== undefined) content.push(textBlock(notice));
  if (content.length === 0) content.push(textBlock(result.summary));
  const structured = data === undefined ? undefined : structuredContent(result, data, notice);
  return {
    content,
    structuredContent: structured,
    ...metaOf(result),
    isError: result.is_error,
  };
}

function withFields(block: ClientBlock, beside: JsonObject | undefined): ClientBlock {
  if (beside === undefined) return block;
  const whole = { ...block, ...fieldsBeside(block.type, beside) };
  return whole.type === "resource"
    ? { ...whole, resource: { ...whole.resource, ...metaInside(beside) } }
    : whole;
}

/** An artifact is spoken of in the notice, once for all of them. */
export function clientBlocks(block: ContentBlock): ClientBlock[] {
  switch (block.type) {
    case "text":
      return [textBlock(block.text)];
    case "json":
      return [textBlock(JSON.stringify(block.json))];
    case "image":
      return [{ type: "image", data: block.data, mimeType: block.media_type }];
    case "audio":
      return [{ type: "audio", data: block.data, mimeType: block.media_type }];
    case "resource": {
      const { type, media_type, ...resource } = block;
      const mimeType = media_type === undefined ? {} : { mimeType: media_type };
      return [{ type, resource: { ...resource, ...mimeType } }];
    }
    case "resource_link": {
      const { uri, name, description, media_type } = block;
      return [
        {
          type: "resource_link",
          uri,
          name: name ?? uri,
          description,
          mimeType: media_type,
        },
      ];
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
    ...(text === "" ? {} : { soong_text: text }),
    ...omitUndefined({ soong_notice: notice }),
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

export function noticeOf(
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
  const named = artifacts.slice(0, MAX_NAMED_ARTIFACTS).map(({ artifact_id, media_type, size }) => {
    const what = artifact_id === truncation?.artifact_id ? "all of it is artifact" : "artifact";
    return `${what} ${artifact_id} (${media_type}, ${size} bytes)`;
  });
  parts.push(...named);
  const more = artifacts.length - named.length;
  if (more > 0) parts.push(`and ${more} more artifacts`);
  const [first] = artifacts;
  const how =
    reader === undefined || first === undefined
      ? ""
      : ` Read it with ${reader} {"artifact_id": ${JSON.stringify(first.artifact_id)}}.`;
  return `[Soong: ${parts.join("; ")}.${how}]`;
}

function textBlock(text: string): ClientBlock {
  return { type: "text", text };
}
