import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { parseConfig } from "../config/index.ts";
import { loadUserServers } from "./servers.ts";

describe("mcp.json of a home", () => {
  let home: string;
  let file: string;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), "soong-servers-"));
    file = join(home, "mcp.json");
  });

  afterEach(() => rm(home, { recursive: true, force: true }));

  const read = (config = "", env = {}) =>
    loadUserServers(home, env, parseConfig(config, "config.toml").mcp);

  async function problemOf(text: string): Promise<string> {
    await writeFile(file, text);
    const error: unknown = await read().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "SetupError" });
    return (error as Error).message;
  }

  test("need not be there, nor name anyone", async () => {
    verifies("MCP-1");
    const none = { entries: [], secrets: [], warnings: [] };
    expect(await read()).toEqual(none);
    for (const text of ["{}", '{"mcpServers": {}}', '// none\n{ "mcpServers": {} }']) {
      await writeFile(file, text);
      expect(await read()).toEqual(none);
    }
  });

  test("is filled from the environment and has the times of the config where it says none", async () => {
    verifies("MCP-1", "CONF-3");
    await writeFile(
      file,
      '{ "mcpServers": { "a": { "command": "x", "env": { "A_TOKEN": "${A_TOKEN}" } }, "b": { "command": "y", "timeout_ms": 7, "connect_timeout_ms": 8 } } }',
    );
    const config = "[mcp]\ncall_timeout_ms = 5_000\nconnect_timeout_ms = 6_000\n";
    const { entries, secrets } = await read(config, { A_TOKEN: "a-token-value" });
    expect(entries).toMatchObject([
      { server_id: "a", timeout_ms: 5000, connect_timeout_ms: 6000, missing_variables: [] },
      { server_id: "b", timeout_ms: 7, connect_timeout_ms: 8 },
    ]);
    expect(secrets).toContainEqual({ name: "A_TOKEN", value: "a-token-value" });
    expect((await read()).entries).toMatchObject([
      { timeout_ms: 100_000, connect_timeout_ms: 30_000, missing_variables: ["A_TOKEN"] },
      {},
    ]);
  });

  test.each([
    ['{ "mcpServers": { "a": { "command": "x", "arg": [] } } }', ["mcpServers.a.arg", '"args"']],
    ['{\n "mcpServers": {\n "a": { "command": ', [":3:"]],
    ['{ "mcpServer": {} }', ['"mcpServers"']],
    ['{ "mcpServers": { "a": { "url": "ftp://x" } } }', ["mcpServers.a.url"]],
    ["[]", ["object"]],
    ["null", ["object"]],
    ['{ "mcpServers": [] }', ["mcpServers"]],
    ["\uFEFF{ nonsense", [":1:"]],
  ])("that is wrong is refused with its place: %s", async (text, words) => {
    verifies("MCP-1", "CONF-2");
    const message = await problemOf(text);
    for (const word of [`${file}:`, ...words, "Fix mcp.json"]) expect(message).toContain(word);
  });

  test("that is no file of text is refused", async () => {
    verifies("CONF-2");
    await mkdir(file);
    await expect(read()).rejects.toMatchObject({
      name: "SetupError",
      message: expect.stringContaining("is a directory") as string,
    });
  });

  test("that others can write, or that asks for rights, gives a warning", async () => {
    verifies("MCP-6");
    await writeFile(file, '{ "mcpServers": { "a": { "command": "x", "autoApprove": ["*"] } } }');
    await chmod(file, 0o666);
    const { warnings } = await read();
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toContain("chmod go-w");
    expect(warnings[1]).toContain("mcpServers.a.autoApprove");
  });
});
