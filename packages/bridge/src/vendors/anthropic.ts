// Anthropic's messages: `client.messages.create({ tools, messages })`.

import { joinText, type ContentBlock, type ModelTool, type ToolCall } from "@soong/core";
import { asRecord } from "@soong/schema";
import {
  createVendorCall,
  pairOutcomes,
  readList,
  readText,
  type VendorOutcome,
} from "./vendor-call.ts";

export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: { type: "object"; [keyword: string]: unknown };
}

export interface AnthropicToolResult {
  type: "tool_result";
  tool_use_id: string;
  content: (AnthropicText | AnthropicImage)[];
  is_error: boolean;
}

export interface AnthropicText {
  type: "text";
  text: string;
}

export interface AnthropicImage {
  type: "image";
  source: { type: "base64"; media_type: AnthropicImageType; data: string };
}

export type AnthropicImageType = (typeof IMAGE_TYPES)[number];

const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;

/** `tools` of a request, from `(await run.tools()).tools`. */
export function renderAnthropicTools(tools: readonly ModelTool[]): AnthropicTool[] {
  return tools.map(({ name, description, input_schema }) => ({
    name,
    description,
    input_schema: { ...asRecord(input_schema), type: "object" },
  }));
}

/** The calls of an answer, in its order. Tools that Anthropic executes itself are none. */
export function readAnthropicCalls(message: { readonly content: readonly object[] }): ToolCall[] {
  return readList(asRecord(message)["content"]).flatMap(({ type, id, name, input }) =>
    type === "tool_use" ? [createVendorCall(id, name, input)] : [],
  );
}

/** The content of the next user message: one block for each call, in call order. */
export function renderAnthropicResults(
  calls: readonly ToolCall[],
  outcomes: readonly VendorOutcome[],
): AnthropicToolResult[] {
  return pairOutcomes(calls, outcomes).map(({ call, blocks, isError }) => ({
    type: "tool_result",
    tool_use_id: call.id ?? "",
    content: blocks.map(renderBlock).filter((block) => block.type !== "text" || block.text !== ""),
    is_error: isError,
  }));
}

/** For a stream: a call is there as soon as its arguments are complete, as the model wrote them. */
export function createAnthropicCallReader(): { push(event: object): ToolCall[] } {
  const open = new Map<unknown, { readonly block: ReturnType<typeof asRecord>; text: string }>();
  return {
    push(event) {
      const { type, index, content_block, delta } = asRecord(event);
      if (type === "content_block_start" && asRecord(content_block)["type"] === "tool_use") {
        open.set(index, { block: asRecord(content_block), text: "" });
      }
      const one = open.get(index);
      if (one === undefined) return [];
      if (type === "content_block_delta")
        one.text += readText(asRecord(delta)["partial_json"]) ?? "";
      if (type !== "content_block_stop") return [];
      open.delete(index);
      const { id, name, input } = one.block;
      return [createVendorCall(id, name, one.text === "" ? input : one.text)];
    },
  };
}

function renderBlock(block: ContentBlock): AnthropicText | AnthropicImage {
  if (block.type === "image" && isImageType(block.media_type)) {
    const { media_type, data } = block;
    return { type: "image", source: { type: "base64", media_type, data } };
  }
  return { type: "text", text: joinText([block]) };
}

function isImageType(media_type: string): media_type is AnthropicImageType {
  return (IMAGE_TYPES as readonly string[]).includes(media_type);
}
