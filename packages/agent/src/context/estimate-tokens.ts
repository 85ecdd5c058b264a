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

export function tokensOfText(text: string): number {
  return Math.ceil(text.length / 4);
}

export function tokensOfMessages(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + knownTokens(message), 0);
}

/** The older part of a conversation is the same objects from request to request. */
const counted = new WeakMap<ModelMessage, number>();

function knownTokens(message: ModelMessage): number {
  const tokens = counted.get(message) ?? tokensOfMessage(message);
  counted.set(message, tokens);
  return tokens;
}

export function tokensOfTools(tools: readonly ModelTool[]): number {
  return tools.reduce((sum, tool) => sum + tokensOfText(JSON.stringify(tool)), 0);
}

function tokensOfMessage(message: ModelMessage): number {
  switch (message.role) {
    case "user":
      return FRAME_TOKENS + tokensOfContent(message.content);
    case "assistant": {
      const { text, calls, provider_data: extra } = message;
      const sent = calls.reduce(
        (sum, call) => sum + FRAME_TOKENS + tokensOfText(call.name + call.arguments),
        0,
      );
      const kept = extra === undefined ? 0 : tokensOfText(JSON.stringify(extra));
      return FRAME_TOKENS + tokensOfText(text) + sent + kept;
    }
    case "tool":
      return message.results.reduce(
        (sum, result) => sum + FRAME_TOKENS + tokensOfContent(result.content),
        0,
      );
  }
}

function tokensOfContent(content: readonly ContentBlock[]): number {
  return content.reduce((sum, block) => {
    if (block.type === "image") return sum + IMAGE_TOKENS;
    // Only named to the model.
    if (isMediaBlock(block)) return sum + FRAME_TOKENS;
    return sum + tokensOfText(block.type === "text" ? block.text : JSON.stringify(block));
  }, 0);
}
