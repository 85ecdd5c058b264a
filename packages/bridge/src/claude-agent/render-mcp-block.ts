// A block of a result as MCP has it.

import { joinText, type ContentBlock, type JsonObject } from "@soong/core";

export function renderMcpBlock(block: ContentBlock): JsonObject {
  if (block.type === "image" || block.type === "audio") {
    return { type: block.type, data: block.data, mimeType: block.media_type };
  }
  return { type: "text", text: joinText([block]) };
}
