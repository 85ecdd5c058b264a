// A request on its way to the provider: tools as the kernel offers them now, and results as the kernel gave them.

import { isDeepStrictEqual } from "node:util";
import type { ModelTools } from "@soong/core";
import { listTools, renderText, type ListedTool } from "../kernel/index.ts";
import type { AnswerParts } from "./model-answer.ts";
import type { ModelRequest, OfferedTool, PromptMessage, PromptPart } from "./peer-types.ts";
import { recordDenials } from "./record-denials.ts";

export async function prepareRequest(
  parts: AnswerParts,
  request: ModelRequest,
): Promise<{ prepared: ModelRequest; tools: ModelTools }> {
  await recordDenials(parts, request.prompt);
  const tools = await parts.run.tools();
  const offered = request.tools && (await updateTools(parts, request.tools));
  const prompt = parts.calls.hasRefused
    ? await Promise.all(request.prompt.map((message) => explainRefused(parts, message)))
    : request.prompt;
  const prepared = { ...request, prompt };
  if (offered === undefined) return { prepared, tools };
  if (offered.length > 0) return { prepared: { ...prepared, tools: offered }, tools };
  // Providers reject an empty list, and a choice without one.
  return { prepared: { ...prepared, tools: undefined, toolChoice: undefined }, tools };
}

/** Deferred tools are sent once they are loaded (SEARCH-3), changed ones with their new definition (REG-3). */
async function updateTools(
  { run, tools }: AnswerParts,
  offered: readonly OfferedTool[],
): Promise<OfferedTool[]> {
  const listed = await listTools(run);
  const current = new Map(listed.map((tool) => [tool.name, tool]));
  return offered.flatMap((tool) => {
    const own = tools.get(tool.name);
    if (own === undefined) return [tool];
    checkOwn(own, tool);
    const now = current.get(tool.name);
    if (now?.is_loaded !== true) return [];
    return [{ ...tool, description: now.description, inputSchema: now.input_schema }];
  });
}

/** A tool of the user's own with the name of one of ours: both would run. */
function checkOwn({ input_schema, description }: ListedTool, tool: OfferedTool): void {
  const { name, inputSchema } = tool;
  const isOwn =
    inputSchema === input_schema ||
    (tool.description === description && isDeepStrictEqual(inputSchema, input_schema));
  if (isOwn) return;
  throw new Error(
    `The request has a tool ${name} that is not the one of this bridge. Rename it, and take tools and model from the same bridge.`,
  );
}

/** The SDK answers calls of unknown tools itself; the kernel's answer says which tool may be meant. */
async function explainRefused(
  { calls }: AnswerParts,
  message: PromptMessage,
): Promise<PromptMessage> {
  const { role, content } = message;
  if (role !== "tool" || typeof content === "string") return message;
  const explained = content.map(async (part): Promise<PromptPart> => {
    const { type, toolCallId = "", output } = part;
    const isFailure = type === "tool-result" && output?.type.startsWith("error-") === true;
    const outcome = isFailure ? await calls.findRefused(toolCallId) : undefined;
    if (outcome === undefined) return part;
    return { ...part, output: { type: "error-text", value: renderText(outcome) } };
  });
  return { ...message, content: await Promise.all(explained) };
}
