// Content blocks as the text a model reads where a provider has no form of its own for them.

import type { ContentBlock } from "@soong/core";

export function renderBlock(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "json":
      return JSON.stringify(block.json);
    case "image":
      return `[image ${block.media_type}, not shown: this model takes no images here]`;
    case "audio":
      return `[audio ${block.media_type}, not played: this model takes no sound here]`;
    case "resource": {
      const head = line("resource", block.uri, [block.media_type]);
      return "text" in block ? `${head}\n${block.text}` : head;
    }
    case "resource_link":
      return line("resource", block.uri, [block.name, block.media_type, block.description]);
    case "artifact_ref":
      return line("artifact", block.artifact_id, [
        block.name,
        block.media_type,
        `${block.size} bytes`,
      ]);
  }
}

function line(kind: string, where: string, about: readonly (string | undefined)[]): string {
  const known = about.filter((part) => part !== undefined && part !== "");
  return `[${[`${kind} ${where}`, ...known].join(", ")}]`;
}
