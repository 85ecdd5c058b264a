// The section `memory`: what becomes of what a model wants to remember, and how much of it it is reminded of (MEM-1, MEM-2).

import type { Table } from "./definition.ts";
import type { SoongConfig } from "./soong-config.ts";
import { plainText, type TextForm } from "./value-kinds.ts";

const SERVER_TOOL: TextForm = {
  words: 'name of a tool of an MCP server, such as `"mcp.notes.add"`',
  problem: (text) =>
    /^mcp\.[^.]+\../.test(text)
      ? plainText("").problem(text)
      : 'is no tool of an MCP server: those are named mcp.SERVER.TOOL, such as "mcp.notes.add"',
};

export const memorySection: Table<SoongConfig["memory"]> = {
  node: "table",
  says: "Long-term memory.",
  keys: {
    write_mode: {
      node: "setting",
      says: "What becomes of a memory the model wants to keep: nothing, a candidate that `soong memory extract` looks at, or a call of `external_tool`.",
      kind: { kind: "choice", of: ["disabled", "candidate", "external"] },
      default: "candidate",
    },
    external_tool: {
      node: "setting",
      says: 'The tool of an MCP server that keeps memories when `write_mode` is "external".',
      kind: { kind: "text", form: SERVER_TOOL },
      default: undefined,
      example: '"mcp.notes.add"',
    },
    recall_tokens: {
      node: "setting",
      says: "How many tokens the memories that one call recalls may take, by estimate.",
      kind: { kind: "whole_number", min: 100, max: 1_000_000 },
      default: 2000,
    },
  },
};
