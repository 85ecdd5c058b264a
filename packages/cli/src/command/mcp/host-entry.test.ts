import { parseDocument } from "@soong/platform";
import { describe, expect, test } from "vitest";
import type { HostId, HostServer } from "../../runtime/host-servers.ts";
import { differingLines, isGateway, putBack, replaceEntry } from "./host-entry.ts";

const GATEWAY = { command: "soong", args: ["mcp", "serve", "--server", "git"] };

type Case = [host: HostId, path: readonly string[], text: string, expected: object];

const CASES: Case[] = [
  [
    "claude-code",
    ["projects", "/a b", "mcpServers", "git"],
    '{\n\t"projects": {\n\t\t"/a b": { "mcpServers": { "git": { "url": "https://a.org", "headers": { "X": "y" } } } }\n\t}\n}',
    { type: "stdio", ...GATEWAY },
  ],
  [
    "cursor",
    ["mcpServers", "git"],
    '{ "mcpServers": { /* mine */ "git": { "command": "x", "alwaysAllow": ["log"], }, }, }\n',
    { ...GATEWAY, alwaysAllow: ["log"] },
  ],
  [
    "opencode",
    ["mcp", "git"],
    '{\n  "mcp": {\n    "git": { "type": "remote", "url": "https://a.org", "enabled": true }\n  }\n}\n',
    { type: "local", command: ["soong", ...GATEWAY.args], enabled: true },
  ],
  [
    "vscode",
    ["servers", "git"],
    '{\r\n  "servers": {\r\n    "git": {\r\n      "command": "x" // it\r\n    }\r\n  }\r\n}\r\n',
    { type: "stdio", ...GATEWAY },
  ],
  [
    "codex",
    ["mcp_servers", "git"],
    '# all\n[mcp_servers."git"]\nurl = "https://a.org"\nbearer_token_env_var = "T" # secret\nenabled_tools = ["log"]\n\n[mcp_servers.git.http_headers]\nX = "y"\n\n[z]\n',
    { ...GATEWAY, enabled_tools: ["log"] },
  ],
];

describe.each(CASES)("an entry of %s at %j", (host, path, text, expected) => {
  const format = host === "codex" ? "toml" : "jsonc";
  const entry = entryIn(text);
  const server: HostServer = { host, file: "f", format, path, name: "git", entry };

  test("starts Soong instead, keeps what is not about its transport, and is put back as it was", () => {
    const { after = "" } = replaceEntry(server, text, GATEWAY);
    expect(entryIn(after)).toEqual(expected);
    expect(isGateway(entryIn(after))).toBe(true);
    expect(isGateway(entry)).toBe(false);
    const lines = differingLines(text, after);
    const file = `f.${format}`;
    const wrapped = { server_id: "git", host, file, path, entry, lines };
    expect(putBack(wrapped, after)).toBe(text);
  });

  function entryIn(from: string): Record<string, unknown> {
    const parsed = parseDocument(from, "f", format);
    if (!parsed.ok) throw new Error(parsed.problems[0]?.message);
    let value = parsed.document.value as Record<string, unknown>;
    for (const step of path) value = value[step] as Record<string, unknown>;
    return value;
  }
});

test("an entry whose lines have changed since is put back by its value, in JSON", () => {
  const entry = { command: "x" };
  const lines = { before: "a", after: "not there" };
  const wrapped = {
    server_id: "git",
    host: "cursor",
    file: "f.json",
    path: ["mcpServers", "git"],
    entry,
    lines,
  } as const;
  expect(putBack(wrapped, '{ "mcpServers": { "git": { "command": "soong" } } }')).toContain('"x"');
  expect(putBack({ ...wrapped, file: "config.toml" }, "")).toBeUndefined();
});
