// An output for the model's next request: a failure is marked as one, an image is sent as an image.

import { isContentBlock, joinText, type ContentBlock } from "@soong/core";
import { isRecord } from "@soong/schema";

export type ModelOutput =
  | { type: "text"; value: string }
  | { type: "error-text"; value: string }
  | { type: "content"; value: ModelOutputPart[] };

export type ModelOutputPart =
  | { type: "text"; text: string }
  | { type: "image-data"; data: string; mediaType: string };

/** The output may come from stored messages, so its shape is checked. */
export function toModelOutput(output: unknown, isVersion7: boolean): ModelOutput {
  const content = readContent(output);
  if (content === undefined) return { type: "text", value: JSON.stringify(output) ?? "" };
  if (isRecord(output) && output["is_error"] === true) {
    return { type: "error-text", value: joinText(content) };
  }
  if (!content.some(isImage)) return { type: "text", value: joinText(content) };
  return { type: "content", value: content.map((block) => toPart(block, isVersion7)) };
}

function readContent(output: unknown): ContentBlock[] | undefined {
  const content = isRecord(output) ? output["content"] : undefined;
  return Array.isArray(content) && content.every(isContentBlock) ? content : undefined;
}

type Image = Extract<ContentBlock, { type: "image" }>;

function isImage(block: ContentBlock): block is Image {
  return block.type === "image";
}

function toPart(block: ContentBlock, isVersion7: boolean): ModelOutputPart {
  if (!isImage(block)) return { type: "text", text: joinText([block]) };
  const { data, media_type: mediaType } = block;
  if (!isVersion7) return { type: "image-data", data, mediaType };
  // Version 7 warns at each request about the part above, which is the only one that version 6 knows.
  const part: unknown = { type: "file", data: { type: "data", data }, mediaType };
  return part as ModelOutputPart;
}
