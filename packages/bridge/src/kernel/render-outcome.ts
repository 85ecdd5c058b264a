// What a loop sends to its model for a call: the result, and behind it what hooks and the tool add to the conversation.

import { joinText, type ContentBlock } from "@soong/core";
import type { CallOutcome } from "./bridged-turn.ts";

/** As one text. */
export function renderText({ result, added }: CallOutcome): string {
  const parts = [result.content, ...added.map(({ content }) => content)].map(joinText);
  return parts.filter((part) => part !== "").join("\n\n");
}

/** As blocks, for loops whose models take images and other media in results. */
export function renderBlocks({ result, added }: CallOutcome): ContentBlock[] {
  return [result.content, ...added.map(({ content }) => content)].flat();
}
