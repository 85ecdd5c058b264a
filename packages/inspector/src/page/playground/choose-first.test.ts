import { expect, test } from "vitest";
import type { PlaygroundTool } from "../../wire/home-records.ts";
import { chooseFirst } from "./playground-view.tsx";

const tools = ["z.last", "code.run_command", "code.read_file", "mcp.a.b"].map(
  (tool_name): PlaygroundTool => ({
    tool_name,
    description: "",
    permission: "readonly",
    input_schema: {},
    tags: [],
  }),
);
const names = (history: readonly string[]) =>
  chooseFirst(
    tools,
    history.map((tool_name) => ({ tool_name })),
  ).map(({ tool_name }) => tool_name);

test("tools called lately come first, then the usual ones, without those that are not there", () => {
  expect(names([])).toEqual(["code.read_file", "code.run_command"]);
  expect(names(["mcp.a.b", "gone.tool", "mcp.a.b", "code.run_command"])).toEqual([
    "mcp.a.b",
    "code.run_command",
    "code.read_file",
  ]);
});
