// The kernel's tools for the host's model, as an MCP server in this process.

import { renderBlocks, listTools, type BridgeRun } from "../kernel/index.ts";
import type { KernelCalls } from "./kernel-calls.ts";
import {
  createMcpServer,
  type McpAnswer,
  type McpCall,
  type McpServer,
  type McpTool,
} from "./mcp-server.ts";
import { renderMcpBlock } from "./render-mcp-block.ts";
import type { AnsweredCall } from "./user-answers.ts";

export interface KernelServerOptions {
  readonly name: string;
  /** Canonical names of tools that the host has itself. */
  readonly hidden: readonly string[];
  /** Whether the host's user has approved this call, with this input. */
  readonly takeApproval: (call: AnsweredCall) => boolean;
  readonly onClose: () => void;
}

export function createKernelServer(
  run: BridgeRun,
  calls: KernelCalls,
  { name, hidden, takeApproval, onClose }: KernelServerOptions,
): McpServer {
  let offered = "";
  const server = createMcpServer(name, { listTools: offerTools, callTool, onClose });
  return server;

  async function offerTools(): Promise<McpTool[]> {
    const tools = await describeTools();
    offered = joinNames(tools);
    return tools;
  }

  async function describeTools(): Promise<McpTool[]> {
    const listed = await listTools(run);
    const { names } = await run.tools();
    const { loaded } = run.surface;
    const safe = loaded.filter(({ effects }) => effects.concurrency_safe).map((tool) => tool.name);
    const parallel = new Set(safe.map((one) => names.toWire(one)));
    const omitted = new Set(hidden.map((one) => names.toWire(one)));
    return listed
      .filter((tool) => tool.is_loaded && !omitted.has(tool.name))
      .map((tool) => ({
        name: tool.name,
        description: tool.description,
        inputSchema: tool.input_schema,
        // The host runs these beside each other, and all others alone.
        annotations: { readOnlyHint: parallel.has(tool.name) },
      }));
  }

  async function callTool(given: McpCall): Promise<McpAnswer> {
    const { toolUseId: id, signal, onProgress } = given;
    const call = { name: given.name, arguments: given.arguments };
    const isApproved = id !== undefined && takeApproval({ id, ...call });
    const outcome = await calls.execute(
      { ...(id !== undefined && { id }), ...call },
      { signal, isApproved },
      onProgress,
    );
    // A search may have loaded more.
    if (joinNames(await describeTools()) !== offered) await server.reportToolsChanged();
    return {
      content: renderBlocks(outcome).map(renderMcpBlock),
      isError: outcome.result.is_error,
    };
  }
}

function joinNames(tools: readonly McpTool[]): string {
  return tools.map((tool) => tool.name).join("\n");
}
