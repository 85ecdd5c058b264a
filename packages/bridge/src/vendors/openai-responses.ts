// OpenAI's responses: `client.responses.create({ tools, input })`.

import { joinText, type ContentBlock, type ModelTool, type ToolCall } from "@soong/core";
import { asRecord } from "@soong/schema";
import { createVendorCall, pairOutcomes, readList, type VendorOutcome } from "./vendor-call.ts";

export interface OpenAiResponsesTool {
  type: "function";
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  /** OpenAI's own validation takes fewer schemas; the kernel validates in any case. */
  strict: false;
}

export interface OpenAiResponsesResult {
  type: "function_call_output";
  call_id: string;
  output: string | (OpenAiText | OpenAiImage)[];
}

export interface OpenAiText {
  type: "input_text";
  text: string;
}

export interface OpenAiImage {
  type: "input_image";
  image_url: string;
}

/** `tools` of a request, from `(await run.tools()).tools`. */
export function renderOpenAiResponsesTools(tools: readonly ModelTool[]): OpenAiResponsesTool[] {
  return tools.map(({ name, description, input_schema }) => ({
    type: "function",
    name,
    description,
    parameters: { ...asRecord(input_schema) },
    strict: false,
  }));
}

/** The calls of a response, in its order. Tools that OpenAI executes itself are none. */
export function readOpenAiResponsesCalls(response: {
  readonly output: readonly object[];
}): ToolCall[] {
  return readList(asRecord(response)["output"]).flatMap(readItem);
}

/** The next input items: one for each call, in call order. This API has no flag for an error. */
export function renderOpenAiResponsesResults(
  calls: readonly ToolCall[],
  outcomes: readonly VendorOutcome[],
): OpenAiResponsesResult[] {
  return pairOutcomes(calls, outcomes).map(({ call, blocks }) => ({
    type: "function_call_output",
    call_id: call.id ?? "",
    output: blocks.some(({ type }) => type === "image")
      ? blocks.map(renderBlock)
      : joinText(blocks),
  }));
}

/** For a stream: a call is there as soon as its item is done. */
export function createOpenAiResponsesCallReader(): { push(event: object): ToolCall[] } {
  return {
    push(event) {
      const { type, item } = asRecord(event);
      return type === "response.output_item.done" ? readItem(asRecord(item)) : [];
    },
  };
}

function readItem(item: ReturnType<typeof asRecord>): ToolCall[] {
  const { type, call_id, name, arguments: given } = item;
  return type === "function_call" ? [createVendorCall(call_id, name, given)] : [];
}

function renderBlock(block: ContentBlock): OpenAiText | OpenAiImage {
  if (block.type !== "image") return { type: "input_text", text: joinText([block]) };
  return { type: "input_image", image_url: `data:${block.media_type};base64,${block.data}` };
}
