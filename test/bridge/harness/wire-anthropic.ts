// Anthropic's messages, streamed or whole.

import {
  formatEvents,
  newId,
  readArguments,
  readContent,
  readObjects,
  type Reply,
  type ReplyCall,
  type WireFormat,
} from "./wire-format.ts";

export const anthropicMessages: WireFormat = {
  name: "anthropic messages",
  // Some packages have the version in their base url.
  path: /\/messages$/,
  read({ tools, messages }) {
    const blocks = readObjects(messages).flatMap(({ content }) => readObjects(content));
    return {
      tools: readObjects(tools).map(({ name }) => String(name)),
      calls: blocks.filter(({ type }) => type === "tool_use").map(({ id }) => String(id)),
      results: blocks
        .filter(({ type }) => type === "tool_result")
        .map(({ tool_use_id, content, is_error }) => ({
          id: String(tool_use_id),
          text: readContent(content),
          is_error: is_error === true,
        })),
    };
  },
  write(reply, { body }) {
    const message = createMessage(reply, String(body["model"]));
    if (body["stream"] !== true) return { kind: "whole", body: message };
    const { text, calls = [] } = reply;
    const begun = { ...message, content: [], stop_reason: null };
    const said = text === undefined ? [] : [text];
    return {
      kind: "stream",
      opening: formatEvents(
        [{ type: "message_start", message: begun }, ...said.flatMap(streamText)],
        true,
      ),
      calls: calls.map((call, at) =>
        formatEvents(streamCall(call, message.content[said.length + at], said.length + at), true),
      ),
      closing: formatEvents(
        [
          {
            type: "message_delta",
            delta: { stop_reason: message.stop_reason, stop_sequence: null },
            usage: { output_tokens: 1 },
          },
          { type: "message_stop" },
        ],
        true,
      ),
    };
  },
};

function createMessage({ text, calls = [] }: Reply, model: string) {
  return {
    id: newId("msg"),
    type: "message",
    role: "assistant",
    model,
    content: [
      ...(text === undefined ? [] : [{ type: "text", text }]),
      ...calls.map(({ id = newId("toolu"), name, arguments: given }) => ({
        type: "tool_use",
        id,
        name,
        input: readArguments(given),
      })),
    ],
    stop_reason: calls.length === 0 ? "end_turn" : "tool_use",
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  };
}

function streamText(text: string): object[] {
  return [
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
    { type: "content_block_stop", index: 0 },
  ];
}

function streamCall(call: ReplyCall, block: object | undefined, index: number): object[] {
  const delta = { type: "input_json_delta", partial_json: call.arguments };
  return [
    { type: "content_block_start", index, content_block: { ...block, input: {} } },
    { type: "content_block_delta", index, delta },
    { type: "content_block_stop", index },
  ];
}
