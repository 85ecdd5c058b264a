// Google's own client, on the Gemini API.

import { GoogleGenAI, type Content, type Part } from "@google/genai";
import { readGoogleCalls, renderGoogleResults, renderGoogleTools } from "@soong/bridge/vendors";
import type { ToolCall } from "@soong/core";
import type { Driver } from "../scenario.ts";
import { playVendor, type OpenConversation } from "./vendors/play-vendor.ts";

export const driver: Driver = {
  peer: "@google/genai 3.1.0",
  without: { "arguments-not-json": "its API sends arguments as an object" },
  play: (play) => playVendor(play, open),
};

const open: OpenConversation = (url, saved) => {
  const ai = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: url } });
  const contents = (
    saved === undefined ? [{ role: "user", parts: [{ text: "go" }] }] : JSON.parse(saved)
  ) as Content[];
  return {
    async request(tools, { stream, signal, onCall }) {
      const config = { tools: renderGoogleTools(tools), abortSignal: signal };
      const body = { model: "scripted", contents, config };
      if (!stream) {
        const response = await ai.models.generateContent(body);
        const content = response.candidates?.[0]?.content;
        if (content !== undefined) contents.push(content);
        return readGoogleCalls(response);
      }
      const parts: Part[] = [];
      const calls: ToolCall[] = [];
      for await (const chunk of await ai.models.generateContentStream(body)) {
        parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
        const read = readGoogleCalls(chunk);
        calls.push(...read);
        if (onCall !== undefined) read.forEach(onCall);
      }
      contents.push({ role: "model", parts });
      return calls;
    },
    addResults(calls, outcomes) {
      contents.push({
        role: "user",
        parts: renderGoogleResults(calls, outcomes, { images: true }),
      });
    },
    addTexts(calls, texts) {
      const parts = calls.map(({ id, name }, at) => ({
        functionResponse: {
          ...(id !== undefined && { id }),
          name,
          response: { output: texts[at] },
        },
      }));
      contents.push({ role: "user", parts });
    },
    save: () => JSON.stringify(contents),
  };
};
