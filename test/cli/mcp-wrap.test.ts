// `soong mcp add`, `wrap` and their ways back, in the real program: what is in the files afterwards, and a call that another
// program makes through Soong by the entry it was given.

import { existsSync } from "node:fs";
import { chmod, stat } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { verifies } from "#laws";
import {
  bundleCli,
  environment,
  recordsOf,
  type CliBundle,
  type Ended,
  type Place,
} from "./cli-bundle.ts";
import { factsOf } from "./mcp-serve-stage.ts";
import { FILESYSTEM } from "./mcp-stage.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const TOKEN = "tok-4711-of-the-user";

function expectEnd(ended: Ended, code: number, says: string): void {
  expect(ended.stdout + ended.stderr).toContain(says);
  expect(ended.code).toBe(code);
}

async function readServers(place: Place): Promise<Record<string, unknown>> {
  const text = await place.read(join(place.home, "mcp.json"));
  return (JSON.parse(text) as { mcpServers: Record<string, unknown> }).mcpServers;
}

describe("soong mcp add", () => {
  it("writes an entry that works, lists its tools, and remove takes it out", async () => {
    verifies("MCP-1", "CLI-7");
    const place = await bundle.place();
    const start = ["--", process.execPath, FILESYSTEM, place.project];
    const added = await place.run([
      "mcp",
      "add",
      "plain",
      "--env",
      "A=b",
      "--env",
      "PATH",
      ...start,
    ]);
    expect([added.code, added.stderr]).toEqual([0, ""]);
    expect(added.stdout).toContain("mcp.plain.");
    expect(await readServers(place)).toEqual({
      plain: {
        command: process.execPath,
        args: [FILESYSTEM, place.project],
        env: { A: "b", PATH: "${PATH}" },
      },
    });
    // The rule it advises is one.
    const rule = /\[\[permissions\.rules\]\][^]*?decision = "allow"/.exec(added.stdout)?.[0] ?? "";
    await place.write(join(place.home, "config.toml"), rule);
    const explained = await place.run(["explain"]);
    expect([explained.code, explained.stdout]).toEqual([0, expect.stringContaining("mcp.plain.*")]);

    const again = await place.run(["mcp", "add", "plain", ...start]);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("--replace")]);
    expect((await place.run(["mcp", "remove", "plain"])).code).toBe(0);
    expect(await readServers(place)).toEqual({});
    await place.run(["mcp", "add", "boxed", "--sandbox", "--no-connect", "--", "x"]);
    expect(await readServers(place)).toEqual({ boxed: { command: "x", sandbox: true } });
  });

  it("says what is wrong with what was typed, and leaves no entry", async () => {
    const place = await bundle.place();
    const wrong: [readonly string[], string][] = [
      [["mcp", "add", "a"], "--url"],
      [["mcp", "add", "a", "--url", "https://a.org", "--", "x"], "--url"],
      [["mcp", "add", "a", "--url", "https://a.org", "--env", "A=b"], "--header"],
      [["mcp", "add", "a", "--url", "https://a.org", "--sandbox"], "--sandbox is for a server"],
      [["mcp", "add", "a.b", "--no-connect", "--", "x"], "letters, digits"],
      [["mcp", "add", "a", "--no-connect", "--url", "nonsense"], "must be an address"],
      [["mcp", "remove", "a"], "no server a"],
    ];
    for (const [args, why] of wrong) {
      expectEnd(await place.run(args), 2, why);
    }
    expect(existsSync(join(place.home, "mcp.json"))).toBe(false);
    const failed = await place.run(["mcp", "add", "gone", "--json", "--", "no-such-program"]);
    expect(failed.code).toBe(1);
    expect(recordsOf(failed)).toMatchObject([{ server_id: "gone", status: { state: "failed" } }]);
  });
});

describe("soong mcp wrap", () => {
  it("lets another program start its server through Soong, governed and on record, and unwrap puts its entry back", async () => {
    verifies("GATE-1");
    const place = await bundle.place();
    const file = join(place.home, "..", ".gemini", "settings.json");
    const before = `{
  // what I like
  "theme": "dark",
  "mcpServers": {
    "plain": { "command": "${process.execPath}", "args": ["${FILESYSTEM}", "${place.project}"], "env": { "PLAIN_TOKEN": "${TOKEN}" }, "trust": true } // mine
  }
}
`;
    await place.write(file, before);
    await chmod(file, 0o644);
    const shown = await place.run(["mcp", "wrap", "plain"]);
    expectEnd(shown, 0, "Nothing was written");
    expect(shown.stdout).toContain('+        "--server",');
    expect([await place.read(file), existsSync(join(place.home, "mcp.json"))]).toEqual([
      before,
      false,
    ]);

    const wrapped = await place.run(["mcp", "wrap", "plain", "--from", "gemini", "--yes"]);
    expect([wrapped.code, wrapped.stdout]).toEqual([0, expect.stringContaining("through Soong")]);
    expect(shown.stdout + shown.stderr + wrapped.stdout + wrapped.stderr).not.toContain(TOKEN);
    expect((await readServers(place))["plain"]).toMatchObject({ env: { PLAIN_TOKEN: TOKEN } });
    const after = await place.read(file);
    expect((await stat(file)).mode & 0o777).toBe(0o644);
    expect(after).toContain("// what I like");
    expect(after).toContain("// mine");
    expect(after).not.toContain(TOKEN);
    const entry = /"plain": (\{[^]*?\n {4}\})/.exec(after)?.[1] ?? "";
    const { command, args, env, trust } = JSON.parse(entry) as {
      command: string;
      args: string[];
      env: Record<string, string>;
      trust: boolean;
    };
    expect([trust, args.slice(-4)]).toEqual([true, ["mcp", "serve", "--server", "plain"]]);

    const client = new Client({ name: "host", version: "1" });
    onTestFinished(() => client.close());
    const surroundings = { ...environment(place.home), ...env };
    await client.connect(
      new StdioClientTransport({
        command,
        args,
        cwd: place.project,
        env: surroundings,
        stderr: "ignore",
      }),
    );
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("list_directory");
    const call = { name: "list_directory", arguments: { path: place.project } };
    const refused = await client.callTool(call);
    expect(refused.isError).toBe(true);
    await client.close();
    const facts = await factsOf(place);
    expect(facts.map(({ type }) => type)).toContain("permission.evaluated");

    const twice = await place.run(["mcp", "wrap", "plain"]);
    expectEnd(twice, 2, "already");
    const removed = await place.run(["mcp", "remove", "plain"]);
    expectEnd(removed, 2, "unwrap plain");
    const unwrapped = await place.run(["mcp", "unwrap", "plain", "--yes"]);
    expect([unwrapped.code, unwrapped.stderr]).toEqual([0, ""]);
    expect(unwrapped.stdout).not.toContain(TOKEN);
    expect(await place.read(file)).toBe(before);
  });

  it("changes nothing where the server does not answer, or is not known", async () => {
    const place = await bundle.place();
    const file = join(place.home, "..", ".codex", "config.toml");
    const before = '[mcp_servers.gone]\ncommand = "no-such-program"\n';
    await place.write(file, before);
    const failed = await place.run(["mcp", "wrap", "gone", "--yes"]);
    expectEnd(failed, 1, "nothing was changed");
    expect(await place.read(file)).toBe(before);
    expect(await place.read(join(place.home, "mcp.json"))).toBe("{}\n");
    const unknown = await place.run(["mcp", "wrap", "gon"]);
    expectEnd(unknown, 2, "Did you mean gone?");
  });

  it("leaves both files to others: what is written while it tries the server stays, and Ctrl-C takes only its own entry out", async () => {
    const place = await bundle.place();
    const file = join(place.home, "..", ".codex", "config.toml");
    const servers = join(place.home, "mcp.json");
    const before = '[mcp_servers.slow]\ncommand = "sleep"\nargs = ["1000"]\n';
    await place.write(file, before);
    const wrapping = place.start(["mcp", "wrap", "slow", "--yes"]);
    await expect.poll(() => existsSync(servers), { timeout: 20_000 }).toBe(true);
    const added = await place.run(["mcp", "add", "other", "--no-connect", "--", "some-server"]);
    expect(added.code).toBe(0);
    wrapping.child.kill("SIGINT");
    expect((await wrapping.ended).code).toBe(130);
    expect(await place.read(file)).toBe(before);
    expect(await readServers(place)).toEqual({ other: { command: "some-server" } });
    const taken = await place.run(["mcp", "wrap", "other", "--", "another-server"]);
    expectEnd(taken, 2, "has another server other already");
    expect(await readServers(place)).toEqual({ other: { command: "some-server" } });
  });

  it("takes a server that no agent has yet, and doctor says what is not known of it", async () => {
    const place = await bundle.place();
    const wrapped = await place.run(["mcp", "wrap", "new", "--", "some-server", "--flag"]);
    expectEnd(wrapped, 0, '"--server"');
    expect(await readServers(place)).toEqual({ new: { command: "some-server", args: ["--flag"] } });
    await place.write(join(place.home, "config.toml"), '[permissions.network]\nmode = "off"\n');
    const doctor = await place.run(["doctor"]);
    expect(doctor.stdout).toContain('write "network": true or false into its entry');
  });
});
