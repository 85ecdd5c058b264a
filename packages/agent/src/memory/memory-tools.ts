// The memory tools as one source (MEM-1, MEM-2). What the user has switched off is told as excluded, with the reason.

import type { ToolSource } from "@soong/core";
import { recallTool, type RecallParts } from "./recall-tool.ts";
import { WRITE_MEMORY, writeTool, type MemoryWriting, type WriteParts } from "./write-tool.ts";

export interface MemoryToolParts extends RecallParts, Omit<WriteParts, "writing"> {
  /** `memory.write_mode` of the config, with what the mode needs. */
  readonly writing: MemoryWriting | { readonly mode: "disabled" };
}

/** Throws where the external tool is none of a server's: it could be one that calls itself. */
export function memoryTools(parts: MemoryToolParts): ToolSource {
  const { writing } = parts;
  const source = { id: "memory", kind: "internal" as const };
  if (writing.mode === "disabled") {
    const detail = 'memory.write_mode is "disabled" in the config';
    const excluded = [{ tool_name: WRITE_MEMORY, reason: "disabled" as const, detail }];
    return { ...source, tools: [recallTool(parts)], excluded };
  }
  if (writing.mode === "external" && !/^mcp\.[^.]+\../.test(writing.tool)) {
    throw new TypeError(
      `memory.external_tool is ${JSON.stringify(writing.tool)}; it is the name of an MCP server's tool, such as "mcp.notes.add"`,
    );
  }
  return { ...source, tools: [recallTool(parts), writeTool({ ...parts, writing })] };
}
