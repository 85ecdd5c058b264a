// OpenAI's chat completions, and the many servers that speak them: `client.chat.completions.create({ tools, messages })`.

import { joinText, type ModelTool, type ToolCall } from "@soong/core";
import { asRecord, isRecord } from "@soong/schema";
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

/**
 * For a stream: a call is there when the next one has begun and its own arguments are complete, or when the answer ends. Servers
 * differ: some give all calls the same index or none, some send pieces of several calls in turn.
 */
export function createOpenAiChatCallReader(): { push(chunk: object): ToolCall[] } {
  const calls: StreamedCall[] = [];
  let taken = 0;
  return {
    push(chunk) {
      const [choice] = readList(asRecord(chunk)["choices"]);
      const { delta, finish_reason } = choice ?? {};
      for (const part of readList(asRecord(delta)["tool_calls"])) addPart(calls, part);
      const hasEnded = finish_reason !== undefined && finish_reason !== null;
      return take(hasEnded ? calls.length : countComplete());
    },
  };

  /** In call order: none before the first one. */
  function countComplete(): number {
    let count = taken;
    while (count < calls.length - 1 && isObjectText(calls[count]?.text ?? "")) count += 1;
    return count;
  }

  function take(end: number): ToolCall[] {
    const complete = calls.slice(taken, end);
    taken = end;
    return complete.map(({ id, name, text }) => createVendorCall(id, name, text));
  }
}

interface StreamedCall {
  readonly id: string | undefined;
  readonly index: unknown;
  name: string;
  text: string;
}

function addPart(calls: StreamedCall[], part: ReturnType<typeof asRecord>): void {
  const { index } = part;
  const id = readText(part["id"]) || undefined;
  const { name: givenName, arguments: givenText } = asRecord(part["function"]);
  const name = readText(givenName) ?? "";
  const text = readText(givenText) ?? "";
  const known = calls.findLast((one) => index === undefined || one.index === index);
  if (known !== undefined && continues(known, id, name)) {
    if (name !== known.name) known.name += name;
    known.text += text;
  } else calls.push({ id, index, name, text });
}

/** A new id begins a new call, and so does a name after arguments. Some servers repeat both with each piece. */
function continues(known: StreamedCall, id: string | undefined, name: string): boolean {
  if (id !== undefined) return id === known.id;
  return name === "" || known.text === "";
}

/** Complete: nothing can follow. */
function isObjectText(text: string): boolean {
  try {
    return isRecord(JSON.parse(text));
  } catch {
    return false;
  }
}
