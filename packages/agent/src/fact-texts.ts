// What the facts of models, context, child agents, skills and memory say.

import { countOf, inBrackets, phrase, type FactTexts } from "@soong/core";
import type { AgentFactPayloads, ChildEndData, ModelRequestData } from "./facts.ts";
import type { ModelUsage } from "./model/index.ts";

export const AGENT_FACT_TEXTS: FactTexts<keyof AgentFactPayloads> = {
  "context.resolved": ({ request, tools, tokens }) =>
    `request ${request} resolved: ${countOf(tools.loaded, "tool")}, about ${tokens.estimated} tokens`,
  "context.compaction.started": ({ tokens_before }) =>
    `compacting the conversation from ${tokens_before} tokens`,
  "context.compaction.completed": ({ tokens_before, tokens_after }) =>
    `conversation compacted from ${tokens_before} to ${tokens_after} tokens`,
  "context.compaction.failed": ({ message }) => phrase("compaction failed:", message),
  "routing.decided": ({ request, selected, reason }) =>
    phrase(`request ${request} is for`, selected, inBrackets(reason)),
  "routing.fallback": ({ from, to, message }) =>
    phrase("from", from, "to", to, inBrackets(message)),
  "model.started": (data) => phrase(data.model, "requested:", requestText(data)),
  "model.delta": ({ text }) => text,
  "model.completed": ({ model, calls = 0, usage }) =>
    phrase(
      model,
      "answered",
      calls === 0 ? undefined : `with ${countOf(calls, "call")}`,
      inBrackets(usageText(usage)),
    ),
  "model.failed": ({ model, error }) => phrase(model, "failed:", error.message ?? error.kind),
  "agent.child.created": ({ role, task }) => phrase(role ?? "child", "started:", task),
  "agent.child.completed": ({ summary }) => phrase("child completed:", summary),
  "agent.child.failed": (data) => phrase("child failed:", childError(data)),
  "agent.child.cancelled": (data) => phrase("child cancelled:", childError(data)),
  "worker.dispatched": ({ worker, task_id, step_id }) =>
    phrase(worker, "dispatched to", step_id ?? task_id),
  "skill.loaded": ({ skill }) => phrase("skill", skill, "loaded"),
  "memory.candidate": ({ scope, chars }) =>
    phrase("memory proposed", inBrackets(`${scope}, ${countOf(chars, "character")}`)),
  "memory.recalled": ({ memories, tool_name }) =>
    memories === undefined
      ? phrase("memory recalled with", tool_name)
      : `${countOf(memories.length, "memory", "memories")} recalled`,
  "memory.recall.started": ({ tool_name }) => phrase("recalling memory with", tool_name),
  "memory.recall.skipped": ({ tool_name, reason }) =>
    phrase("memory not recalled with", `${tool_name}:`, reason),
  "memory.written": ({ memory_id }) => phrase("memory written as", memory_id),
};

function requestText({ request, attempt }: ModelRequestData): string {
  return attempt > 1 ? `request ${request}, attempt ${attempt}` : `request ${request}`;
}

function usageText({ input_tokens, output_tokens }: ModelUsage = {}): string | undefined {
  if (input_tokens === undefined && output_tokens === undefined) return undefined;
  return `${input_tokens ?? "?"} tokens in, ${output_tokens ?? "?"} out`;
}

function childError({ error, reason, status }: ChildEndData): string {
  return error?.message ?? reason ?? status;
}
