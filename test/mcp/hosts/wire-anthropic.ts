// Anthropic's messages, streamed or whole.

import {
  EVENTS,
  events,
  JSON_TYPE,
  newId,
  objects,
  type Reply,
  type WireFormat,
} from "./wire-format.ts";

export const anthropicMessages: WireFormat = {
  name: "anthropic messages",
  path: /\/v1\/messages$/,
  read: ({ tools, messages }) => ({
    tools: objects(tools).map(({ name }) => String(name)),
    results: objects(messages)
      .flatMap(({ content }) => objects(content))
      .filter(({ type }) => type === "tool_result")
      .map(({ content }) => JSON.stringify(content)),
  }),
  write(reply, { body }) {
    const message = messageOf(reply, String(body["model"]));
    return body["stream"] === true
      ? { type: EVENTS, text: events(streamed(message, reply), true) }
      : { type: JSON_TYPE, text: JSON.stringify(message) };
  },
};

function messageOf(reply: Reply, model: string) {
  const content =
    reply.kind === "text"
      ? [{ type: "text", text: reply.text }]
      : [{ type: "tool_use", id: newId("toolu"), name: reply.name, input: reply.input }];
  return {
    id: newId("msg"),
    type: "message",
    role: "assistant",
    model,
    content,
    stop_reason: reply.kind === "text" ? "end_turn" : "tool_use",
    stop_sequence: null,
    usage: USAGE,
  };
}

function streamed(message: ReturnType<typeof messageOf>, reply: Reply): object[] {
  const [block] = message.content;
  const isText = reply.kind === "text";
  const begun = isText ? { type: "text", text: "" } : { ...block, input: {} };
  const delta = isText
    ? { type: "text_delta", text: reply.text }
    : { type: "input_json_delta", partial_json: JSON.stringify(reply.input) };
  return [
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
    { type: "content_block_start", index: 0, content_block: begun },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: message.stop_reason, stop_sequence: null },
      usage: { output_tokens: 1 },
    },
    { type: "message_stop" },
  ];
}

const USAGE = { input_tokens: 1, output_tokens: 1 };
