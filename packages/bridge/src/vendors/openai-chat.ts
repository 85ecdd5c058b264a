// OpenAI's chat completions, and the many servers that speak them: `client.chat.completions.create({ tools, messages })`.

import { joinText, type ModelTool, type ToolCall } from "@soong/core";
import { asRecord } from "@soong/schema";
import {
  createVendorCall,
  pairOutcomes,
  readList,
  readText,
  type VendorOutcome,
} from "./vendor-call.ts";

export interface OpenAiChatTool {
  type: "function";
  function: { name: string; description: string; parameters: Record<string, unknown> };
}

export interface OpenAiChatResult {
  role: "tool";
  tool_call_id: string;
  content: string;
}

/** `tools` of a request, from `(await run.tools()).tools`. */
export function renderOpenAiChatTools(tools: readonly ModelTool[]): OpenAiChatTool[] {
  return tools.map(({ name, description, input_schema }) => ({
    type: "function",
    function: { name, description, parameters: { ...asRecord(input_schema) } },
  }));
}

/** The calls of `choices[0].message`, in its order. */
export function readOpenAiChatCalls(message: {
  readonly tool_calls?: readonly object[] | null | undefined;
}): ToolCall[] {
  return readList(asRecord(message)["tool_calls"]).map(({ id, function: called, custom }) => {
    const { name, arguments: given, input } = asRecord(called ?? custom);
    return createVendorCall(id, name, given ?? input);
  });
}

/** The next messages: one for each call, in call order. This API takes no images there, and has no flag for an error. */
export function renderOpenAiChatResults(
  calls: readonly ToolCall[],
  outcomes: readonly VendorOutcome[],
): OpenAiChatResult[] {
  return pairOutcomes(calls, outcomes).map(({ call, blocks }) => ({
    role: "tool",
    tool_call_id: call.id ?? "",
    content: joinText(blocks),
  }));
}

/** For a stream: a call is there when the next one begins, or the answer ends. */
export function createOpenAiChatCallReader(): { push(chunk: object): ToolCall[] } {
  const open = new Map<number, { id: unknown; name: string; text: string }>();
  return {
    push(chunk) {
      const [choice] = readList(asRecord(chunk)["choices"]);
      const { delta, finish_reason } = choice ?? {};
      const complete: ToolCall[] = [];
      for (const part of readList(asRecord(delta)["tool_calls"])) {
        const index = typeof part["index"] === "number" ? part["index"] : 0;
        complete.push(...take((other) => other < index));
        const one = open.get(index) ?? { id: undefined, name: "", text: "" };
        const { name, arguments: text } = asRecord(part["function"]);
        one.id ??= part["id"];
        one.name += readText(name) ?? "";
        one.text += readText(text) ?? "";
        open.set(index, one);
      }
      const hasEnded = finish_reason !== undefined && finish_reason !== null;
      return hasEnded ? [...complete, ...take(() => true)] : complete;
    },
  };

  function take(isComplete: (index: number) => boolean): ToolCall[] {
    return [...open.keys()].filter(isComplete).map((index) => {
      const { id, name, text } = open.get(index) ?? { id: undefined, name: "", text: "" };
      open.delete(index);
      return createVendorCall(id, name, text === "" ? {} : text);
    });
  }
}
