// MCP servers and command hooks that want a sandbox: what is open in it, and that none of them runs without.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { verifies } from "#laws";
import { createKernel, defineTool, type JsonObject } from "@soong/core";
import { openSandbox, type EntrySandbox, type RefusedHost, type Sandbox } from "@soong/platform";
import { loadHooks, openEntrySandbox } from "@soong/tools";
import {
  afterAll,
  afterEach,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  type TestContext,
} from "vitest";
import { openConnection } from "../../packages/mcp/src/connection/open-connection.ts";
import { callOptions, entryFor } from "../mcp/connection-world.ts";
import { createFolder, needsSandbox } from "./support.ts";

const sandbox = openSandbox();
afterAll(() => sandbox.close());

const MISSING: Sandbox = {
  state: () => ({ missing: "bubblewrap is not installed", fix: "Install it." }),
  enter: () => expect.unreachable(),
  close() {},
};

/** Nothing gets as far as entering it. */
const UNUSED: Sandbox = { ...MISSING, state: () => ({ backend: "bubblewrap", version: "1" }) };

let folder: string;
let home: string;
let project: string;
beforeEach(() => {
  folder = createFolder(process.getuid?.() ?? 0);
  home = join(folder, "home", ".agent");
  project = join(folder, "project");
  for (const directory of [
    home,
    project,
    join(folder, "home", "data"),
    join(folder, "home", ".ssh"),
  ]) {
    mkdirSync(directory, { recursive: true });
  }
  writeFileSync(join(home, "token"), "SECRET\n");
  writeFileSync(join(folder, "home", ".ssh", "id_rsa"), "SECRET\n");
  writeFileSync(join(project, "file"), "content\n");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function needs(context: TestContext): void {
  needsSandbox(context, sandbox.state());
}

const opener =
  (by: Sandbox = sandbox) =>
  (wanted: EntrySandbox, program: Parameters<typeof openEntrySandbox>[2]) =>
    openEntrySandbox(
      { sandbox: by, closed: [home], userHome: join(folder, "home"), sensitivePaths: [], project },
      wanted,
      program,
    );

/** What a program can do, one word for each: reads are of secrets, the last one of the project. */
const PROBE = `
  (cat ../../home/.agent/token || cat ../.ssh/id_rsa || ls ..) 2>/dev/null | grep -q SECRET && echo secret
  (echo x >../../project/file) 2>/dev/null && echo project
  (echo x >../data/file) 2>/dev/null && echo data
  (echo x >/tmp/file) 2>/dev/null && echo tmp
  cat ../../project/file`;

async function callUnder(hook: JsonObject, by?: Sandbox) {
  const file = join(home, "hooks.json");
  writeFileSync(file, JSON.stringify({ hooks: [{ id: "guard", event: "PreToolUse", ...hook }] }));
  const loaded = await loadHooks(file, { project, openSandbox: opener(by) });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const tool = defineTool({
    name: "notes.edit",
    description: "x",
    input_schema: { type: "object" },
    tags: ["write"],
    handler: () => "done",
  });
  const policy = { rules: [{ tool: "notes.edit", decision: "allow" }] } as const;
  const run = await createKernel({ tools: [tool] }).startRun({ hooks: loaded.hooks, policy });
  return run.call("notes.edit", {});
}

function denyWith(script: string): string {
  return `words=$(${script}\n); echo "{\\"decision\\":\\"deny\\",\\"reason\\":\\"$(echo $words)\\"}"`;
}

describe("a hook", () => {
  test("in a sandbox reads what is not secret, and writes what its entry names", async (context) => {
    verifies("CMD-6");
    needs(context);
    writeFileSync(join(home, "guard.sh"), denyWith(PROBE));
    const command = ["sh", "guard.sh"];
    const closed = await callUnder({ command, sandbox: true });
    expect(closed.error?.message).toMatch(/: tmp content$/);
    const open = await callUnder({ command, sandbox: { write: ["~/data"] } });
    expect(open.error?.message).toMatch(/: data tmp content$/);
    const without = await callUnder({ command });
    expect(without.error?.message).toMatch(/: secret project data tmp x$/);
  });

  test("that gets no sandbox fails, and a guard that fails stops the call", async () => {
    verifies("CMD-6");
    const hook = { command: ["/bin/sh", "-c", "true"], sandbox: true };
    const denied = await callUnder(hook, MISSING);
    expect(denied).toMatchObject({ status: "denied" });
    expect(denied.error?.message).toContain(
      "its entry wants a sandbox, and bubblewrap is not installed. Install it.",
    );
  });

  test.each([
    ["~/nothing", "which is not there"],
    ["~/.agent", "which is closed"],
  ])("cannot have %s opened", async (path, why) => {
    verifies("CMD-6");
    const hook = { command: ["/bin/sh", "-c", "true"], sandbox: { write: [path] } };
    expect((await callUnder(hook, UNUSED)).error?.message).toContain(why);
  });
});

/** Answers a call with what its shell printed. */
const SERVER = `
const { execSync } = require("node:child_process");
const answer = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "sh", inputSchema: { type: "object" } }] }),
  "tools/call": ({ arguments: { script } }) => {
    if (script === "end") process.exit(1);
    try { return { content: [{ type: "text", text: execSync(script, { encoding: "utf8" }) }] }; }
    catch (error) { return { isError: true, content: [{ type: "text", text: String(error.stdout) + error.stderr }] }; }
  },
};
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answer[method]?.(params);
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error: { code: -32601, message: "no" } }) }));
});`;

function connect(wanted: EntrySandbox, more: { by?: Sandbox; hosts?: string[] } = {}) {
  const script = join(folder, "server.cjs");
  writeFileSync(script, SERVER);
  const refused: RefusedHost[] = [];
  const logFile = join(folder, "server.log");
  const entry = entryFor(
    {
      kind: "stdio",
      command: process.execPath,
      args: [script],
      env: {},
      cwd: join(folder, "home", "data"),
      sandbox: wanted,
    },
    { hosts: more.hosts ?? [] },
  );
  const connection = openConnection(entry, {
    logFile,
    openSandbox: opener(more.by),
    onRefusedHost: (one) => refused.push(one),
  });
  onTestFinished(() => connection.close());
  const sh = async (command: string): Promise<string> => {
    const server = await connection.connected();
    const result = await server.callTool(
      { name: "sh", arguments: { script: command } },
      callOptions(),
    );
    const [{ text = "" } = {}] = (result as { content: { text?: string }[] }).content;
    return text;
  };
  return { connection, sh, refused, readLog: () => readFileSync(logFile, "utf8") };
}

describe("a server", () => {
  test("in a sandbox works as outside, with what its entry names, and again after its end", async (context) => {
    verifies("CMD-6");
    needs(context);
    const { sh, connection } = connect({ write: ["~/data"] });
    expect(await sh(PROBE)).toBe("data\ntmp\ncontent\n");
    await expect(sh("end")).rejects.toThrow("it ended with code 1");
    expect(await sh("echo again")).toBe("again\n");
    await connection.close();
    expect(connection.state).toEqual({ kind: "closed" });
  });

  test("reaches the hosts of its entry and no others, which are in its log", async (context) => {
    verifies("CMD-6");
    needs(context);
    const server = createServer((_, response) => response.end("here\n"));
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { sh, refused, readLog, connection } = connect({}, { hosts: ["127.0.0.1"] });
    expect(await sh(`curl -sS http://127.0.0.1:${port}/ http://denied.example/`)).toBe(
      "here\nClosed by the sandbox: denied.example is not among the hosts that its entry opens.\n",
    );
    const why = "is not among the hosts that its entry opens";
    expect(refused).toEqual([{ host: "denied.example", port: 80, why }]);
    await connection.close();
    expect(readLog()).toContain(`[sandbox] denied.example ${why} (port 80)\n`);
  });

  test("that gets no sandbox is not started", async () => {
    verifies("CMD-6");
    const { connection } = connect({}, { by: MISSING });
    await expect(connection.connected()).rejects.toThrow(
      "could not be started: its entry wants a sandbox, and bubblewrap is not installed. Install it.",
    );
  });
});
