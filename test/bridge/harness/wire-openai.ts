// OpenAI's responses and its older chat completions, streamed or whole.

import {
  formatEvents,
  newId,
  readContent,
  readObjects,
  type Reply,
  type ReplyCall,
  type WireFormat,
} from "./wire-format.ts";

export const openaiResponses: WireFormat = {
  name: "openai responses",
  path: /\/responses$/,
  read({ tools, input }) {
    const items = readObjects(input);
    return {
      tools: readObjects(tools).flatMap(readToolNames),
      calls: items
        .filter(({ type }) => type === "function_call")
        .map(({ call_id }) => String(call_id)),
      results: items
        .filter(({ type }) => type === "function_call_output")
        .map(({ call_id, output }) => ({ id: String(call_id), text: readContent(output) })),
    };
  },
  write(reply, { body }) {
    const output = createItems(reply);
    const response = {
      id: newId("resp"),
      object: "response",
      created_at: 0,
      status: "completed",
      model: body["model"],
      output,
      tools: [],
      parallel_tool_calls: true,
      usage: {
        input_tokens: 1,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 1,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 2,
      },
    };
    if (body["stream"] !== true) return { kind: "whole", body: response };
    const begun = { ...response, status: "in_progress", output: [] };
    const count = reply.calls?.length ?? 0;
    const streamed = output.map((item, at) => formatEvents(streamItem(item, at), true));
    const said = streamed.slice(0, streamed.length - count);
    return {
      kind: "stream",
      opening: `${formatEvents([{ type: "response.created", response: begun }], true)}${said.join("")}`,
      calls: streamed.slice(said.length),
      closing: formatEvents([{ type: "response.completed", response }], true),
    };
  },
};

/** Tools of a server may be in a namespace of their own. */
function readToolNames({ type, name, tools }: Record<string, unknown>): string[] {
  return type === "namespace"
    ? readObjects(tools).map((tool) => `${String(name)}${NAMESPACE}${String(tool["name"])}`)
    : [String(name ?? type)];
}

/** Between a namespace and a name in it: in no name. */
const NAMESPACE = "\u0000";

function createItems({ text, calls = [] }: Reply): Item[] {
  const content = [{ type: "output_text", text, annotations: [] }];
  const message = { id: newId("msg"), type: "message", role: "assistant", content };
  return [
    ...(text === undefined ? [] : [{ ...message, status: "completed" }]),
    ...calls.map(({ id, name, arguments: given }) => {
      const [first = "", second] = name.split(NAMESPACE);
      return {
        id: newId("fc"),
        type: "function_call",
        status: "completed",
        call_id: id ?? newId("call"),
        ...(second === undefined ? { name: first } : { namespace: first, name: second }),
        arguments: given,
      };
    }),
  ];
}

interface Item {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly arguments?: string;
  readonly content?: readonly TextPart[];
}

interface TextPart {
  readonly text: string | undefined;
}

function streamItem(item: Item, output_index: number): object[] {
  const { content, ...begun } = { ...item, status: "in_progress" };
  const added = content === undefined ? { ...begun, arguments: "" } : { ...begun, content: [] };
  const where = { item_id: item.id, output_index };
  return [
    { type: "response.output_item.added", output_index, item: added },
    ...(content ?? []).flatMap((part, content_index) =>
      streamText(part, { ...where, content_index }),
    ),
    ...(item.arguments === undefined ? [] : streamArguments(item.arguments, where)),
    { type: "response.output_item.done", output_index, item },
  ];
}

function streamText(part: TextPart, where: object): object[] {
  return [
    { type: "response.content_part.added", ...where, part: { ...part, text: "" } },
    { type: "response.output_text.delta", ...where, delta: part.text, logprobs: [] },
    { type: "response.output_text.done", ...where, text: part.text, logprobs: [] },
    { type: "response.content_part.done", ...where, part },
  ];
}

function streamArguments(text: string, where: object): object[] {
  return [
    { type: "response.function_call_arguments.delta", ...where, delta: text },
    { type: "response.function_call_arguments.done", ...where, arguments: text },
  ];
}

export const openaiChat: WireFormat = {
  name: "openai chat completions",
  path: /\/chat\/completions$/,
  read({ tools, messages }) {
    const all = readObjects(messages);
    return {
      tools: readObjects(tools).map(({ function: one }) => (one as { name: string }).name),
      calls: all.flatMap(({ tool_calls }) => readObjects(tool_calls)).map(({ id }) => String(id)),
      results: all
        .filter(({ role }) => role === "tool")
        .map(({ tool_call_id, content }) => ({
          id: String(tool_call_id),
          text: readContent(content),
        })),
    };
  },
  write({ text, calls = [] }, { body }) {
    const base = { id: newId("chat"), created: 0, model: body["model"] };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const tool_calls = calls.map(createChatCall);
    const finish_reason = calls.length === 0 ? "stop" : "tool_calls";
    const said = { role: "assistant", content: text ?? null };
    if (body["stream"] !== true) {
      const message = calls.length === 0 ? said : { ...said, tool_calls };
      const choices = [{ index: 0, message, finish_reason }];
      return { kind: "whole", body: { ...base, object: "chat.completion", choices, usage } };
    }
    const stream = (delta: object, finish: string | null = null, more: object = {}): string => {
      const choices = [{ index: 0, delta, finish_reason: finish }];
      return formatEvents([{ ...base, object: "chat.completion.chunk", choices, ...more }]);
    };
    return {
      kind: "stream",
      opening: stream(said),
      calls: tool_calls.map((call, index) => stream({ tool_calls: [{ index, ...call }] })),
      closing: `${stream({}, finish_reason, { usage })}data: [DONE]\n\n`,
    };
  },
};

function createChatCall({ id = newId("call"), name, arguments: given }: ReplyCall): object {
  return { id, type: "function", function: { name, arguments: given } };
}
