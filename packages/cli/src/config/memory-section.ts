// The section `memory`: where memories are, what becomes of what a model wants to remember, and how much of it is
// recalled (MEM-1, MEM-2, MEM-4).

import { argumentTemplate, RECALL_FIELDS, WRITE_FIELDS } from "./argument-template.ts";
import type { Table } from "./definition.ts";
import type { SoongConfig } from "./soong-config.ts";
import { choice, FLAG, plainText, text, type TextForm, wholeNumber } from "./value-kinds.ts";

const SERVER_TOOL: TextForm = {
  words: 'name of a tool of an MCP server, such as `"mcp.notes.add"`',
  problem: (text) =>
    /^mcp\.[^.]+\../.test(text)
      ? plainText("").problem(text)
      : 'is no tool of an MCP server: those are named mcp.SERVER.TOOL, such as "mcp.notes.add"',
};

export const memorySection: Table<SoongConfig["memory"]> = {
  says: "Long-term memory.",
  keys: {
    enabled: {
      says: "Whether there is a memory at all: its tools, and what a run begins with.",
      kind: FLAG,
      default: true,
    },
    provider: {
      says: "Where memories are recalled from: `memory/` of the home, or a call of `recall_tool`.",
      kind: choice(["local", "external"]),
      default: "local",
    },
    write_mode: {
      says: "What becomes of a memory the model wants to keep: nothing, a candidate that `soong memory extract` looks at, or a call of `external_tool`.",
      kind: choice(["disabled", "candidate", "external"]),
      default: "candidate",
    },
    external_tool: {
      says: 'The tool of an MCP server that keeps memories when `write_mode` is "external".',
      kind: text(SERVER_TOOL),
      default: undefined,
      example: '"mcp.notes.add"',
    },
    write_arguments: {
      says: "What `external_tool` is given, as JSON with fields in it; without it the fields content, scope, project and tags.",
      kind: text(argumentTemplate(WRITE_FIELDS)),
      default: undefined,
      example: `'{"entities": [{"name": "{{id}}", "entityType": "{{scope}}", "observations": ["{{content}}"]}]}'`,
    },
    recall_tool: {
      says: 'The tool of an MCP server that recalls memories when `provider` is "external".',
      kind: text(SERVER_TOOL),
      default: undefined,
      example: '"mcp.notes.search"',
    },
    recall_arguments: {
      says: "What `recall_tool` is given, as JSON with fields in it; without it the fields query, scope, limit and project.",
      kind: text(argumentTemplate(RECALL_FIELDS)),
      default: undefined,
      example: `'{"query": "{{query}}"}'`,
    },
    recall_tokens: {
      says: "How many tokens the memories that one call recalls may take, by estimate.",
      kind: wholeNumber(100, 1_000_000),
      default: 2000,
    },
    start_tokens: {
      says: "How many tokens the memories a run begins with may take, by estimate; 0: none, and an external memory is not asked then.",
      kind: wholeNumber(0, 1_000_000),
      default: 1000,
    },
    start_arguments: {
      says: "What `recall_tool` is given when a run begins, with the prompt as the query; without it as in `recall_arguments`.",
      kind: text(argumentTemplate(RECALL_FIELDS)),
      default: undefined,
      example: `'{"query": "project: {{project}}"}'`,
    },
  },
};
