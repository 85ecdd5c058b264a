// OpenAI's responses and its older chat completions, streamed or whole.

import {
  EVENTS,
  events,
  JSON_TYPE,
  newId,
  objects,
  type Reply,
  type WireFormat,
} from "./wire-format.ts";

export const openaiResponses: WireFormat = {
  name: "openai responses",
  path: /\/responses$/,
  read: ({ tools, input }) => ({
    tools: objects(tools).flatMap(toolNames),
    results: objects(input)
      .filter(({ type }) => type === "function_call_output")
      .map(({ output }) => JSON.stringify(output)),
  }),
  write(reply, { body }) {
    const item = itemOf(reply);
    const response = {
      id: newId("resp"),
      object: "response",
      created_at: 0,
      status: "completed",
      model: body["model"],
      output: [item],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    };
    if (body["stream"] !== true) return { type: JSON_TYPE, text: JSON.stringify(response) };
    const begun = { ...response, status: "in_progress", output: [] };
    const list = [
      { type: "response.created", response: begun },
      { type: "response.output_item.added", output_index: 0, item },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response },
    ];
    return { type: EVENTS, text: events(list, true) };
  },
};

/** Tools of a server may stand in a namespace of their own. */
function toolNames({ type, name, tools }: Record<string, unknown>): string[] {
  return type === "namespace"
    ? objects(tools).map((tool) => `${String(name)}${NAMESPACE}${String(tool["name"])}`)
    : [String(name ?? type)];
}

/** Between a namespace and a name in it: in no name. */
const NAMESPACE = "\u0000";

function itemOf(reply: Reply) {
  if (reply.kind === "text") {
    const content = [{ type: "output_text", text: reply.text, annotations: [] }];
    return { id: newId("msg"), type: "message", role: "assistant", status: "completed", content };
  }
  const [first = "", second] = reply.name.split(NAMESPACE);
  return {
    id: newId("fc"),
    type: "function_call",
    status: "completed",
    call_id: newId("call"),
    ...(second === undefined ? { name: first } : { namespace: first, name: second }),
    arguments: JSON.stringify(reply.input),
  };
}

export const openaiChat: WireFormat = {
  name: "openai chat completions",
  path: /\/chat\/completions$/,
  read: ({ tools, messages }) => ({
    tools: objects(tools).map(({ function: one }) => (one as { name: string }).name),
    results: objects(messages)
      .filter(({ role }) => role === "tool")
      .map(({ content }) => JSON.stringify(content)),
  }),
  write(reply, { body }) {
    const base = { id: newId("chat"), created: 0, model: body["model"] };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const message = { role: "assistant", ...said(reply) };
    const finish_reason = reply.kind === "text" ? "stop" : "tool_calls";
    if (body["stream"] !== true) {
      const choices = [{ index: 0, message, finish_reason }];
      const whole = { ...base, object: "chat.completion", choices, usage };
      return { type: JSON_TYPE, text: JSON.stringify(whole) };
    }
    const chunk = { ...base, object: "chat.completion.chunk" };
    const list = [
      { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }], usage },
    ];
    return { type: EVENTS, text: `${events(list)}data: [DONE]\n\n` };
  },
};

function said(reply: Reply): object {
  if (reply.kind === "text") return { content: reply.text };
  const { name, input } = reply;
  const call = { name, arguments: JSON.stringify(input) };
  return {
    content: null,
    tool_calls: [{ index: 0, id: newId("call"), type: "function", function: call }],
  };
}
