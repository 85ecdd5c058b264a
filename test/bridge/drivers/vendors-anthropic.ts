// Anthropic's own client.

import Anthropic from "@anthropic-ai/sdk";
import {
  createAnthropicCallReader,
  readAnthropicCalls,
  renderAnthropicResults,
  renderAnthropicTools,
} from "@soong/bridge/vendors";
import type { Driver } from "../scenario.ts";
import { playVendor, type OpenConversation } from "./vendors/play-vendor.ts";

export const driver: Driver = {
  peer: "@anthropic-ai/sdk 1.9.0",
  play: (play) => playVendor(play, open),
};

const open: OpenConversation = (url, saved) => {
  const client = new Anthropic({ baseURL: url, apiKey: "none", maxRetries: 0 });
  const messages = (
    saved === undefined ? [{ role: "user", content: "go" }] : JSON.parse(saved)
  ) as Anthropic.MessageParam[];
  return {
    async request(tools, { stream, signal, onCall }) {
      const body = {
        model: "scripted",
        max_tokens: 1000,
        messages,
        tools: renderAnthropicTools(tools),
      };
      if (!stream) {
        const message = await client.messages.create(body, { signal });
        messages.push({ role: "assistant", content: message.content });
        return readAnthropicCalls(message);
      }
      const streamed = client.messages.stream(body, { signal });
      const reader = createAnthropicCallReader();
      if (onCall !== undefined) {
        streamed.on("streamEvent", (event) => reader.push(event).forEach(onCall));
      }
      const message = await streamed.finalMessage();
      messages.push({ role: "assistant", content: message.content });
      return readAnthropicCalls(message);
    },
    addResults(calls, outcomes) {
      messages.push({ role: "user", content: renderAnthropicResults(calls, outcomes) });
    },
    addTexts(calls, texts) {
      messages.push({
        role: "user",
        content: calls.map(({ id = "" }, at) => ({
          type: "tool_result",
          tool_use_id: id,
          content: texts[at] ?? "",
        })),
      });
    },
    save: () => JSON.stringify(messages),
  };
};
