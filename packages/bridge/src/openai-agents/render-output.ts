// A result in the form that the SDK sends: text, with images as parts of their own. It has no flag for an error: the text says it.

import { renderBlocks, renderText, type CallOutcome } from "../kernel/index.ts";
import type { AgentsOutputPart, AgentsToolOutput } from "./types.ts";

export function renderOutput(outcome: CallOutcome): AgentsToolOutput {
  const images = renderBlocks(outcome).flatMap((block): AgentsOutputPart[] =>
    block.type === "image"
      ? [{ type: "image", image: { data: block.data, mediaType: block.media_type } }]
      : [],
  );
  const text = renderText(outcome);
  // The text names the images too, for models that take text alone.
  return images.length === 0 ? text : [{ type: "text", text }, ...images];
}
