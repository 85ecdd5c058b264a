// OpenAI's own client, on responses.

import {
  createOpenAiResponsesCallReader,
  readOpenAiResponsesCalls,
  renderOpenAiResponsesResults,
  renderOpenAiResponsesTools,
} from "@soong/bridge/vendors";
import OpenAI from "openai";
import type { Driver } from "../scenario.ts";
import { playVendor, type OpenConversation } from "./vendors/play-vendor.ts";

export const driver: Driver = {
  peer: "openai 7.55.0, responses",
  play: (play) => playVendor(play, open),
};

const open: OpenConversation = (url, saved) => {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
  const input = (
    saved === undefined ? [{ role: "user", content: "go" }] : JSON.parse(saved)
  ) as OpenAI.Responses.ResponseInput;
  return {
    async request(tools, { stream, signal, onCall }) {
      const body = { model: "scripted", input, tools: renderOpenAiResponsesTools(tools) };
      if (!stream) {
        const response = await client.responses.create(body, { signal });
        input.push(...(response.output as OpenAI.Responses.ResponseInput));
        return readOpenAiResponsesCalls(response);
      }
      const reader = createOpenAiResponsesCallReader();
      const streamed = client.responses.stream(body, { signal });
      for await (const event of streamed) {
        if (onCall !== undefined) reader.push(event).forEach(onCall);
      }
      const response = await streamed.finalResponse();
      input.push(...(response.output as OpenAI.Responses.ResponseInput));
      return readOpenAiResponsesCalls(response);
    },
    addResults(calls, outcomes) {
      input.push(...renderOpenAiResponsesResults(calls, outcomes));
    },
    addTexts(calls, texts) {
      for (const [at, { id = "" }] of calls.entries()) {
        input.push({ type: "function_call_output", call_id: id, output: texts[at] ?? "" });
      }
    },
    save: () => JSON.stringify(input),
  };
};
