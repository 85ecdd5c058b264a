// What a server sent beside the content of a result (GATE-4): `_meta`, annotations, titles. It is on record, not in
// what a model reads, and goes back into the blocks it belongs to, as far as the protocol knows it.

import type { ContentBlock, JsonObject, JsonValue, ToolResult } from "@soong/core";
import { isJsonObject } from "@soong/schema";

/** Names the protocol keeps for itself: they are about the server's connection, not about ours. */
const RESERVED = "io.modelcontextprotocol/";

export function metaOf({ metadata }: ToolResult): { _meta?: JsonObject } {
  return metaIn(metadata.tool?.["_meta"]);
}

/** By place of the block; one whose block is another now, because the result was shortened, is omitted. */
export function besideContent({ metadata, content }: ToolResult): ReadonlyMap<number, JsonObject> {
  const listed = metadata.tool?.["content_meta"];
  const beside = new Map<number, JsonObject>();
  for (const one of Array.isArray(listed) ? listed : []) {
    const { block, type } = isJsonObject(one) ? one : {};
    if (typeof block !== "number" || content[block]?.type !== type) continue;
    beside.set(block, one as JsonObject);
  }
  return beside;
}

/** A client refuses a whole result for one odd field, so only what has the right shape goes back. */
export function fieldsBeside(type: ContentBlock["type"], beside: JsonObject): JsonObject {
  const { _meta, annotations, title, size } = beside;
  return {
    ...metaIn(_meta),
    ...annotationsIn(annotations),
    ...(type === "resource_link" && typeof title === "string" ? { title } : {}),
    ...(type === "resource_link" && typeof size === "number" ? { size } : {}),
  };
}

export function metaInside({ resource }: JsonObject): { _meta?: JsonObject } {
  return isJsonObject(resource) ? metaIn(resource["_meta"]) : {};
}

function metaIn(given: JsonValue | undefined): { _meta?: JsonObject } {
  if (!isJsonObject(given)) return {};
  const own = Object.entries(given).filter(([key]) => !key.startsWith(RESERVED));
  return own.length === 0 ? {} : { _meta: Object.fromEntries(own) };
}

function annotationsIn(given: JsonValue | undefined): { annotations?: JsonObject } {
  if (!isJsonObject(given)) return {};
  const { audience, priority, lastModified } = given;
  const isAudience =
    Array.isArray(audience) && audience.every((who) => who === "user" || who === "assistant");
  const isPriority = typeof priority === "number" && priority >= 0 && priority <= 1;
  const isTime = typeof lastModified === "string" && TIME.test(lastModified);
  const annotations: JsonObject = {
    ...(isAudience ? { audience } : {}),
    ...(isPriority ? { priority } : {}),
    ...(isTime ? { lastModified } : {}),
  };
  return Object.keys(annotations).length === 0 ? {} : { annotations };
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
