// The effects of a tool under a policy: of a server's tool the user's word counts, and only that (MCP-6).

import { isMarkedReadonly, type Policy, type StaticFacts } from "../permission/index.ts";
import type { RegisteredTool } from "../registry/registered-tool.ts";
import { isRepeatable, type Effects } from "../tool/index.ts";

export function effectsUnder(policy: Policy, tool: RegisteredTool): Effects {
  const { name: tool_name, trust, source, definition } = tool;
  const { worst } = tool.effects;
  if (source.kind !== "mcp") return worst;
  const isMarked = isMarkedReadonly(policy, { tool_name, source_kind: "mcp", trust });
  if (isMarked === worst.read_only) return worst;
  if (!isMarked) return { ...worst, read_only: false, concurrency_safe: false, repeatable: false };
  const concurrency_safe = definition.concurrency_safe ?? true;
  const repeatable = isRepeatable(definition, { read_only: true, concurrency_safe });
  return { ...worst, read_only: true, destructive: false, concurrency_safe, repeatable };
}

/** What is known of a tool before any input, as the evaluator takes it. */
export function toolFacts(policy: Policy, tool: RegisteredTool): StaticFacts {
  const effects = effectsUnder(policy, tool);
  return {
    tool_name: tool.name,
    permission: effects.read_only ? "readonly" : "write",
    tags: tool.tags,
    source_kind: tool.source.kind,
    source_id: tool.source.id,
    trust: tool.trust,
    effects,
  };
}
