// A result for the application and, of that, the form for the model: Mastra stores the first and asks for the second.

import { renderBlocks, renderText, type CallOutcome } from "../kernel/index.ts";
import type { MastraContentPart, MastraModelOutput, MastraToolOutput } from "./types.ts";

export function renderOutput(outcome: CallOutcome): MastraToolOutput {
  const images = renderBlocks(outcome).flatMap((block) =>
    block.type === "image" ? [{ data: block.data, media_type: block.media_type }] : [],
  );
  return { text: renderText(outcome), ...(images.length > 0 && { images }) };
}

export function toModelOutput({ text, images = [] }: MastraToolOutput): MastraModelOutput {
  if (images.length === 0) return { type: "text", value: text };
  const media = images.map(({ data, media_type }): MastraContentPart => ({
    type: "media",
    data,
    mediaType: media_type,
  }));
  return { type: "content", value: [{ type: "text", text }, ...media] };
}
