// A block of a message as text. Pictures and sounds are named; what they show is with the call.

import type { ContentBlock } from "@soong/core";

export function blockText(block: ContentBlock): { text: string; is_code: boolean } {
  switch (block.type) {
    case "text":
      return { text: block.text, is_code: false };
    case "json":
      return { text: JSON.stringify(block.json, null, 2), is_code: true };
    case "image":
    case "audio":
      return named(block.type, block.media_type);
    case "resource":
      return "text" in block
        ? { text: `${block.uri}\n${block.text}`, is_code: true }
        : named("resource", block.uri);
    case "resource_link":
      return named("link", block.name ?? "", block.uri);
    case "artifact_ref":
      return named("artifact", block.name ?? block.artifact_id, `${block.size} bytes`);
    default:
      // Written by a later version.
      return { text: JSON.stringify(block), is_code: true };
  }
}

function named(...parts: readonly string[]): { text: string; is_code: boolean } {
  return { text: `[${parts.filter((part) => part !== "").join(" · ")}]`, is_code: false };
}
