// Gemini's content, streamed or whole.

import { EVENTS, events, JSON_TYPE, objects, type WireFormat } from "./wire-format.ts";

export const geminiContent: WireFormat = {
  name: "gemini generateContent",
  path: /:(streamGenerateContent|generateContent)$/,
  read: ({ tools, contents }) => ({
    tools: objects(tools)
      .flatMap(({ functionDeclarations }) => objects(functionDeclarations))
      .map(({ name }) => String(name)),
    results: objects(contents)
      .flatMap(({ parts }) => objects(parts))
      .filter(({ functionResponse }) => functionResponse !== undefined)
      .map((part) => JSON.stringify(part)),
  }),
  write(reply, { path }) {
    const part =
      reply.kind === "text"
        ? { text: reply.text }
        : { functionCall: { name: reply.name, args: reply.input } };
    const whole = {
      candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    };
    return path.endsWith(":streamGenerateContent")
      ? { type: EVENTS, text: events([whole]) }
      : { type: JSON_TYPE, text: JSON.stringify(whole) };
  },
};
