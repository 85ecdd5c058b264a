import type { McpServers, McpServerStatus } from "@soong/mcp";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { parseConfig } from "../config/index.ts";
import { createToolProvider } from "./servers.ts";

const STATUS: readonly McpServerStatus[] = [
  { server_id: "a", state: "connected", tools: ["mcp.a.x"], excluded: [], instructions: "Use x." },
  { server_id: "b", state: "connected", tools: [], excluded: [], instructions: "Nothing here." },
  { server_id: "c", state: "failed", tools: [], excluded: [] },
];

function notesUnder(config: string): unknown {
  const mcp = { status: () => STATUS, connecting: () => ["c"] } as unknown as McpServers;
  const ready = (): Promise<void> => Promise.resolve();
  const supply = createToolProvider({ mcp, ready }, parseConfig(config, "config.toml").mcp);
  expect(supply?.connecting()).toEqual(["c"]);
  return supply?.notes();
}

test("the words of servers that have tools go to the model, under the server's name", () => {
  verifies("MCP-6");
  expect(notesUnder("")).toEqual([{ from: 'MCP server "a"', text: "Use x." }]);
});

test("the words of servers are omitted where the config wants none", () => {
  verifies("CONF-3");
  expect(notesUnder("[mcp]\ninstructions = false\n")).toEqual([]);
});

test("there is no supply where there are no servers", () => {
  const ready = (): Promise<void> => Promise.resolve();
  const { mcp } = parseConfig("", "config.toml");
  expect(createToolProvider({ mcp: undefined, ready }, mcp)).toBeUndefined();
});
