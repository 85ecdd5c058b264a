// Google's generateContent: `ai.models.generateContent({ contents, config: { tools } })`. A chunk of its stream has whole calls,
// so it is read as an answer is.

import { joinText, type ModelTool, type ToolCall } from "@soong/core";
import { asRecord } from "@soong/schema";
import { createVendorCall, pairOutcomes, readList, type VendorOutcome } from "./vendor-call.ts";

export interface GoogleTool {
  functionDeclarations: {
    name: string;
    description: string;
    parametersJsonSchema: Record<string, unknown>;
  }[];
}

export interface GoogleResult {
  functionResponse: {
    id?: string;
    name: string;
    response: { output: string } | { error: string };
    parts?: { inlineData: { mimeType: string; data: string } }[];
  };
}

/** `config.tools` of a request, from `(await run.tools()).tools`. */
export function renderGoogleTools(tools: readonly ModelTool[]): GoogleTool[] {
  if (tools.length === 0) return [];
  const functionDeclarations = tools.map(({ name, description, input_schema }) => ({
    name,
    description,
    parametersJsonSchema: { ...asRecord(input_schema) },
  }));
  return [{ functionDeclarations }];
}

/** The calls of an answer, or of one chunk of a stream, in its order. */
export function readGoogleCalls(response: {
  readonly candidates?: readonly object[] | undefined;
}): ToolCall[] {
  const [candidate] = readList(asRecord(response)["candidates"]);
  const { parts } = asRecord(candidate?.["content"]);
  return readList(parts).flatMap(({ functionCall }) => {
    if (functionCall === undefined || functionCall === null) return [];
    const { id, name, args } = asRecord(functionCall);
    return [createVendorCall(id, name, args)];
  });
}

/**
 * The parts of the next user content: one for each call, in call order. With `images` an image is sent as one, which Gemini 3 and
 * later take in a function response; by default it is one line of text.
 */
export function renderGoogleResults(
  calls: readonly ToolCall[],
  outcomes: readonly VendorOutcome[],
  { images = false }: { readonly images?: boolean } = {},
): GoogleResult[] {
  return pairOutcomes(calls, outcomes).map(({ call, blocks, isError }) => {
    const text = joinText(blocks);
    const parts = blocks.flatMap((block) => {
      if (!images || block.type !== "image") return [];
      return [{ inlineData: { mimeType: block.media_type, data: block.data } }];
    });
    return {
      functionResponse: {
        ...(call.id !== undefined && { id: call.id }),
        name: call.name,
        response: isError ? { error: text } : { output: text },
        ...(parts.length > 0 && { parts }),
      },
    };
  });
}
