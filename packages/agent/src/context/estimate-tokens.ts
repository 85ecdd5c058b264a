// How many tokens something is, roughly (CTX-3): characters over four. Prose and code are within a third of
// that; scripts with a token a character, such as Chinese, are up to four times more.

import type { ContentBlock, ModelTool } from "@soong/core";
import { isMediaBlock } from "@soong/core/internal";
import type { ModelMessage } from "../model/index.ts";

export const TOKEN_ESTIMATE = {
  method: "characters / 4",
  error: "within a third for prose and code; up to four times too low for Chinese and the like",
} as const;

/** What providers count for an image of ordinary size; its bytes say nothing. */
const IMAGE_TOKENS = 1600;

/** Roles, ids and brackets around each message or result. */
const FRAME_TOKENS = 4;

export function estimateTextTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

export function estimateMessageTokens(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + measureMessageOnce(message), 0);
}

/** The older part of a conversation is the same objects from request to request. */
const counted = new WeakMap<ModelMessage, number>();

function measureMessageOnce(message: ModelMessage): number {
  const tokens = counted.get(message) ?? measureMessage(message);
  counted.set(message, tokens);
  return tokens;
}

export function estimateToolTokens(tools: readonly ModelTool[]): number {
  return tools.reduce((sum, tool) => sum + estimateTextTokens(JSON.stringify(tool)), 0);
}

function measureMessage(message: ModelMessage): number {
  switch (message.role) {
    case "user":
      return FRAME_TOKENS + measureContent(message.content);
    case "assistant": {
      const { text, calls, provider_data: extra } = message;
      const sent = calls.reduce(
        (sum, call) => sum + FRAME_TOKENS + estimateTextTokens(call.name + call.arguments),
        0,
      );
      const kept = extra === undefined ? 0 : estimateTextTokens(JSON.stringify(extra));
      return FRAME_TOKENS + estimateTextTokens(text) + sent + kept;
    }
    case "tool":
      return message.results.reduce(
        (sum, result) => sum + FRAME_TOKENS + measureContent(result.content),
        0,
      );
  }
}

function measureContent(content: readonly ContentBlock[]): number {
  return content.reduce((sum, block) => {
    if (block.type === "image") return sum + IMAGE_TOKENS;
    // Only named to the model.
    if (isMediaBlock(block)) return sum + FRAME_TOKENS;
    return sum + estimateTextTokens(block.type === "text" ? block.text : JSON.stringify(block));
  }, 0);
}
