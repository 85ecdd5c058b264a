// OpenAI's own client, on chat completions.

import {
  createOpenAiChatCallReader,
  readOpenAiChatCalls,
  renderOpenAiChatResults,
  renderOpenAiChatTools,
} from "@soong/bridge/vendors";
import OpenAI from "openai";
import type { Driver } from "../scenario.ts";
import { playVendor, type OpenConversation } from "./vendors/play-vendor.ts";

export const driver: Driver = {
  peer: "openai 7.55.0, chat completions",
  play: (play) => playVendor(play, open),
};

const open: OpenConversation = (url, saved) => {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
  const messages = (
    saved === undefined ? [{ role: "user", content: "go" }] : JSON.parse(saved)
  ) as OpenAI.ChatCompletionMessageParam[];
  return {
    async request(tools, { stream, signal, onCall }) {
      const body = { model: "scripted", messages, tools: renderOpenAiChatTools(tools) };
      if (!stream) {
        const { choices } = await client.chat.completions.create(body, { signal });
        const [choice] = choices;
        if (choice === undefined) return [];
        messages.push(choice.message);
        return readOpenAiChatCalls(choice.message);
      }
      const reader = createOpenAiChatCallReader();
      const streamed = client.chat.completions.stream(body, { signal });
      if (onCall !== undefined) {
        streamed.on("chunk", (chunk) => reader.push(chunk).forEach(onCall));
      }
      const message = await streamed.finalMessage();
      messages.push(message);
      return readOpenAiChatCalls(message);
    },
    addResults(calls, outcomes) {
      messages.push(...renderOpenAiChatResults(calls, outcomes));
    },
    addTexts(calls, texts) {
      for (const [at, { id = "" }] of calls.entries()) {
        messages.push({ role: "tool", tool_call_id: id, content: texts[at] ?? "" });
      }
    },
    save: () => JSON.stringify(messages),
  };
};
