// What the config says of MCP servers in general (MCP-2, MCP-4); each of them stands in mcp.json.

import type { Table } from "./definition.ts";
import type { SoongConfig } from "./soong-config.ts";
import { FLAG, milliseconds } from "./value-kinds.ts";

export const mcpSection: Table<SoongConfig["mcp"]> = {
  says: "MCP servers; they themselves stand in mcp.json.",
  keys: {
    wait_ms: {
      says: "How long a run waits for servers that have not answered yet. A late one comes with a later turn.",
      kind: milliseconds(),
      default: 10_000,
    },
    call_timeout_ms: {
      says: "How long a call may go without an answer or progress, unless the entry of its server says otherwise.",
      kind: milliseconds(),
      default: 100_000,
    },
    connect_timeout_ms: {
      says: "How long a server may take from its start to its first answer, unless its entry says otherwise.",
      kind: milliseconds(),
      default: 30_000,
    },
    instructions: {
      says: "Whether a model reads what servers say of their own tools, marked as their words.",
      kind: FLAG,
      default: true,
    },
  },
};
