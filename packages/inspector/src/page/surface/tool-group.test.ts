import { describe, expect, test } from "vitest";
import type { SurfaceTool } from "../../wire/session-records.ts";
import { listFlags, groupTools } from "./tool-group.tsx";

function tool(tool_name: string, more: Partial<SurfaceTool> = {}): SurfaceTool {
  return { tool_name, state: "loaded", policy: "allowed", tokens: 1, ...more };
}

describe("the groups of a surface", () => {
  const tools = [
    tool("code.read_file", { description: "Reads a file" }),
    tool("web.fetch", { state: "excluded", policy: "denied", reason: "policy_blocked" }),
    tool("mcp.git.log", { state: "deferred" }),
  ];

  test("are by state, in one order, also when they are empty", () => {
    expect(groupTools(tools, "").map(({ state, tools }) => [state, tools.length])).toEqual([
      ["loaded", 1],
      ["deferred", 1],
      ["excluded", 1],
    ]);
    expect(groupTools([], "")).toHaveLength(3);
  });

  test("hold what has all the words, wherever they are", () => {
    const found = (filter: string) =>
      groupTools(tools, filter).flatMap((group) => group.tools.map((one) => one.tool_name));
    expect(found("BLOCKED fetch")).toEqual(["web.fetch"]);
    expect(found("file reads")).toEqual(["code.read_file"]);
    expect(found("undefined")).toEqual([]);
    expect(found("file blocked")).toEqual([]);
  });

  test("say only what is so", () => {
    expect(listFlags(tool("x", { is_read_only: true, is_destructive: false }))).toEqual([
      "readonly",
    ]);
  });
});
