import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseMcpSettings } from "@soong/mcp/settings";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findHostServers, translateServer, type HostId, type HostServer } from "./host-servers.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "hosts-"));
});
afterEach(() => rm(home, { recursive: true }));

async function write(path: string, content: unknown): Promise<void> {
  const file = join(home, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, typeof content === "string" ? content : JSON.stringify(content));
}

const find = (given: { host?: HostId; file?: string } = {}): Promise<HostServer[]> =>
  findHostServers({ HOME: home }, { cwd: "/project", ...given });

test("servers are found where each program keeps them", async () => {
  const server = { command: "x" };
  await write(".claude.json", {
    mcpServers: { a: server },
    projects: {
      "/project": { mcpServers: { b: server } },
      "/other": { mcpServers: { c: server } },
    },
  });
  await write(".codex/config.toml", '[mcp_servers.d]\ncommand = "x"\n');
  await write(".gemini/settings.json", '{ // mine\n "mcpServers": { "e": { "command": "x" } } }');
  await write(".config/opencode/opencode.jsonc", { mcp: { f: { type: "local", command: ["x"] } } });
  await write(".cursor/mcp.json", { mcpServers: { g: server } });
  if (process.platform === "linux")
    await write(".config/Code/User/mcp.json", { servers: { h: server } });
  const names = (await find()).map(({ host, name }) => `${host} ${name}`);
  expect(names).toEqual([
    "claude-code a",
    "claude-code b",
    "codex d",
    "gemini e",
    "opencode f",
    "cursor g",
    ...(process.platform === "linux" ? ["vscode h"] : []),
  ]);
  expect(await find({ host: "gemini" })).toHaveLength(1);
  await write("here.json", { mcpServers: { z: server } });
  expect((await find({ file: join(home, "here.json") })).map(({ name }) => name)).toEqual(["z"]);
});

test("a file that cannot be read is named", async () => {
  await write(".cursor/mcp.json", "{ nonsense");
  await expect(find()).rejects.toThrow(".cursor/mcp.json:1:3");
  await expect(find({ file: join(home, "none.json") })).rejects.toThrow("none.json");
});

describe("an entry in the form of mcp.json", () => {
  const translate = (host: HostId, entry: Record<string, unknown>) => {
    const server = { host, entry, file: "f", format: "jsonc", path: ["a"], name: "a" } as const;
    return translateServer(server, { HOME: "/home/me" });
  };

  test.each<[HostId, Record<string, unknown>, Record<string, unknown>]>([
    [
      "claude-code",
      { type: "stdio", command: "npx", args: ["-y", "s"], env: { T: "${T:-x}" } },
      { command: "npx", args: ["-y", "s"], env: { T: "${T:-x}" } },
    ],
    [
      "claude-code",
      { type: "http", url: "https://a.org/mcp", headers: { "X-A": "b" }, oauth: { clientId: "c" } },
      { url: "https://a.org/mcp", headers: { "X-A": "b" }, oauth: { client_id: "c" } },
    ],
    [
      "codex",
      { command: "x", env_vars: ["TOKEN"], env: { A: "b" }, tool_timeout_sec: 2.5, enabled: false },
      { command: "x", env: { A: "b", TOKEN: "${TOKEN}" }, timeout_ms: 2500, disabled: true },
    ],
    [
      "codex",
      { url: "https://a.org", bearer_token_env_var: "T", env_http_headers: { "X-B": "B" } },
      { url: "https://a.org", headers: { "X-B": "${B}", Authorization: "Bearer ${T}" } },
    ],
    [
      "gemini",
      { httpUrl: "https://a.org", headers: { Authorization: "Bearer $T" }, excludeTools: ["rm"] },
      { url: "https://a.org", headers: { Authorization: "Bearer ${T}" }, disabled_tools: ["rm"] },
    ],
    [
      "opencode",
      { type: "local", command: ["x", "-y"], environment: { A: "{env:B}" } },
      { command: "x", args: ["-y"], env: { A: "${B}" } },
    ],
    ["opencode", { type: "remote", url: "https://a.org", oauth: false }, { url: "https://a.org" }],
    [
      "cursor",
      { command: "${userHome}/x", env: { A: "${env:B}" } },
      { command: "/home/me/x", env: { A: "${env:B}" } },
    ],
  ])("of %s: %j", (host, entry, expected) => {
    const translated = translate(host, entry);
    expect(translated).toMatchObject({ entry: expected, dropped: [] });
    expect(translated.entry).toEqual(expected);
    expect(translated.problem).toBeUndefined();
    const text = JSON.stringify({ mcpServers: { a: translated.entry } });
    expect(parseMcpSettings(text, "mcp.json", { B: "1", T: "1", TOKEN: "1" }).ok).toBe(true);
  });

  test("takes over no rights, and says what it does not take over", () => {
    const { entry, dropped } = translate("gemini", {
      command: "x",
      trust: true,
      includeTools: ["a"],
    });
    expect(entry).toEqual({ command: "x" });
    expect(dropped).toEqual(["trust", "includeTools"]);
  });

  test.each<[HostId, Record<string, unknown>, string]>([
    ["claude-code", { type: "sse", url: "https://a.org" }, "sse"],
    ["vscode", { command: "x", env: { T: "${input:token}" } }, "${input:token}"],
    ["opencode", { type: "local", command: ["x"], environment: { T: "{file:~/t}" } }, "{file:~/t}"],
    ["cursor", {}, "neither"],
  ])("is refused where it would not work: %s %j", (host, entry, why) => {
    expect(translate(host, entry).problem).toContain(why);
  });
});
