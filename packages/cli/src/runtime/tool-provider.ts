// What the loop is told of MCP servers: when their tools are there, and what they say of them.

import type { ToolProvider } from "@soong/agent";
import type { SoongConfig } from "../config/index.ts";
import type { Runtime } from "./open-runtime.ts";

/** Undefined where there are no servers. */
export function createToolProvider(
  { mcp, ready }: Pick<Runtime, "mcp" | "ready">,
  { instructions: isWanted }: SoongConfig["mcp"],
): ToolProvider | undefined {
  if (mcp === undefined) return undefined;
  return {
    ready,
    connecting: () => mcp.connecting(),
    notes: () =>
      mcp
        .status()
        .flatMap(({ server_id, tools, instructions: text }) =>
          isWanted && text !== undefined && tools.length > 0
            ? [{ from: `MCP server "${server_id}"`, text }]
            : [],
        ),
  };
}
