// Gemini's content, streamed or whole.

import {
  formatEvents,
  readArguments,
  readContent,
  readObjects,
  type ReplyCall,
  type WireFormat,
} from "./wire-format.ts";

export const geminiContent: WireFormat = {
  name: "gemini generateContent",
  path: /:(streamGenerateContent|generateContent)$/,
  read({ tools, contents }) {
    const parts = readObjects(contents).flatMap(({ parts }) => readObjects(parts));
    return {
      tools: readObjects(tools)
        .flatMap(({ functionDeclarations }) => readObjects(functionDeclarations))
        .map(({ name }) => String(name)),
      calls: readObjects(parts.map(({ functionCall }) => functionCall)).map(readId),
      results: readObjects(parts.map(({ functionResponse }) => functionResponse)).map((one) => {
        const images = readObjects(one["parts"]).map(() => "\n[image]");
        return { id: readId(one), text: `${readContent(one["response"])}${images.join("")}` };
      }),
    };
  },
  write({ text, calls = [] }, { path }) {
    const said = text === undefined ? [] : [{ text }];
    if (!path.endsWith(":streamGenerateContent")) {
      return { kind: "whole", body: createChunk([...said, ...calls.map(callPart)], "STOP") };
    }
    return {
      kind: "stream",
      opening: said.length === 0 ? "" : formatEvents([createChunk(said)]),
      calls: calls.map((call) => formatEvents([createChunk([callPart(call)])])),
      closing: formatEvents([createChunk([{ text: "" }], "STOP")]),
    };
  },
};

function createChunk(parts: readonly object[], finishReason?: string): object {
  return {
    candidates: [{ index: 0, content: { role: "model", parts }, finishReason }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  };
}

function callPart({ id, name, arguments: given }: ReplyCall): object {
  return { functionCall: { id, name, args: readArguments(given) } };
}

function readId({ id, name }: Record<string, unknown>): string {
  return String(id ?? name);
}
