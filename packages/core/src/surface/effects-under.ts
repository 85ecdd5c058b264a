// The effects of a tool under a policy: of a server's tool the user's word counts, and only that (MCP-6).

import { isMarkedReadonly, type Policy } from "../permission/index.ts";
import type { RegisteredTool } from "../registry/index.ts";
import type { Effects } from "../tool/index.ts";

export function effectsUnder(policy: Policy, tool: RegisteredTool): Effects {
  const { worst } = tool.effects;
  if (tool.source.kind !== "mcp") return worst;
  const marked = isMarkedReadonly(policy, { tool_name: tool.name, source_kind: "mcp" });
  if (marked === worst.read_only) return worst;
  return marked
    ? { ...worst, read_only: true, destructive: false }
    : { ...worst, read_only: false, concurrency_safe: false };
}
