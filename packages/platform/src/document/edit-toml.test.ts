import { describe, expect, test } from "vitest";
import { editTomlTable } from "./edit-toml.ts";

const FILE = `# mine
model = "o4"

[mcp_servers.github] # the code
command = "npx"
args = [
  "-y", # yes
  "server",
]
tool_timeout_sec = 60

[mcp_servers.github.env]
TOKEN = "a # b"

# of another
[mcp_servers.other]
command = "x"
`;

const change = {
  table: ["mcp_servers", "github"],
  remove: ["command", "args", "env", "cwd"],
  set: { command: "soong", args: ["mcp", "serve"], env: { "A B": "c" } },
};

describe("a table of a TOML file", () => {
  test("has its keys replaced, and every comment elsewhere stays", () => {
    expect(editTomlTable(FILE, change)).toBe(`# mine
model = "o4"

[mcp_servers.github] # the code
command = "soong"
args = ["mcp", "serve"]
env = { "A B" = "c" }
tool_timeout_sec = 60


# of another
[mcp_servers.other]
command = "x"
`);
  });

  test.each([
    ['mcp_servers.github.command = "npx"\n'],
    ['[mcp_servers]\ngithub = { command = "npx" }\n'],
    ["[other]\na = 1\n"],
    ['[mcp_servers.github]\ncommand = "a"\nenv.A = "b"\n'],
  ])("in another form is not touched: %j", (text) => {
    expect(editTomlTable(text, change)).toBeUndefined();
  });

  test("keeps Windows lines and a last line without an end", () => {
    const text = '[mcp_servers.github]\r\nurl = "https://a"\r\nenabled = true';
    const table = ["mcp_servers", "github"];
    expect(editTomlTable(text, { table, remove: ["url"], set: { command: "b" } })).toBe(
      '[mcp_servers.github]\r\ncommand = "b"\r\nenabled = true',
    );
  });
});
