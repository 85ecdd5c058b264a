// The memory tools as one source (MEM-1, MEM-2, MEM-4). What the user has switched off is excluded, with the reason.

import type { ToolSource } from "@soong/core";
import { checkExternalTool } from "./external-tool.ts";
import { RECALL_MEMORY, recallTool, type RecallParts } from "./recall-tool.ts";
import { WRITE_MEMORY, writeTool, type MemoryWriting, type WriteParts } from "./write-tool.ts";

export interface MemoryToolParts extends RecallParts, Omit<WriteParts, "writing"> {
  /** `memory.enabled` of the config. Default: true. */
  readonly enabled?: boolean;
  /** `memory.write_mode` of the config, with what the mode needs. */
  readonly writing: MemoryWriting | { readonly mode: "disabled" };
}

/** Throws where an external tool is none of a server's. */
export function memoryTools(parts: MemoryToolParts): ToolSource {
  const { enabled = true, writing, external } = parts;
  const source = { id: "memory", kind: "internal" as const };
  if (external !== undefined) checkExternalTool("memory.recall_tool", external.tool);
  if (writing.mode === "external") checkExternalTool("memory.external_tool", writing.tool);
  const disabled = (tool_name: string, detail: string) => ({
    tool_name,
    reason: "disabled" as const,
    detail,
  });
  if (!enabled) {
    const detail = "memory.enabled is false in the config";
    return {
      ...source,
      tools: [],
      excluded: [RECALL_MEMORY, WRITE_MEMORY].map((name) => disabled(name, detail)),
    };
  }
  if (writing.mode === "disabled") {
    const detail = 'memory.write_mode is "disabled" in the config';
    return { ...source, tools: [recallTool(parts)], excluded: [disabled(WRITE_MEMORY, detail)] };
  }
  return { ...source, tools: [recallTool(parts), writeTool({ ...parts, writing })] };
}
