// Calls that the user refused while the host was paused: the SDK does not execute them, so the next request is where the
// bridge learns of it.

import { unpackInput } from "../kernel/index.ts";
import type { AnswerParts } from "./model-answer.ts";
import type { PromptMessage, PromptPart } from "./peer-types.ts";

export async function recordDenials(
  { gate, approvals, tools, denied }: AnswerParts,
  prompt: readonly PromptMessage[],
): Promise<void> {
  if (approvals === undefined) return;
  // Older ones were recorded when they were new.
  const asked = prompt.findLastIndex(({ role }) => role === "assistant");
  const calls = listParts(prompt[asked]);
  for (const { type, toolCallId = "", toolName = "", output } of prompt
    .slice(asked + 1)
    .flatMap(listParts)) {
    const isDenied = type === "tool-result" && output?.type === "execution-denied";
    if (!isDenied || !tools.has(toolName) || denied.has(toolCallId)) continue;
    denied.add(toolCallId);
    const call = calls.find((part) => part.type === "tool-call" && part.toolCallId === toolCallId);
    await gate.refuse(
      { id: toolCallId, name: toolName, arguments: unpackInput(call?.input ?? {}) },
      output.reason,
    );
  }
}

function listParts(message: PromptMessage | undefined): readonly PromptPart[] {
  const content = message?.content ?? [];
  return typeof content === "string" ? [] : content;
}
