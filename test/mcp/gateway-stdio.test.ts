// The gateway as a program of its own, over its pipes: the SDK's client in both eras, and clients that send
// whatever they like (GATE-1, GATE-2).

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough, type Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { serveGatewayStdio } from "../../packages/mcp/src/gateway/serve-stdio.ts";
import { serveStage, setStage } from "./gateway-fixture.ts";
import { createHost, ERAS, rejected, textOf } from "./sdk-host.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const started = new Set<ChildProcess>();
let folder: string;
let program: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "soong-gateway-"));
  program = join(folder, "gateway.mjs");
  await build({
    stdin: {
      contents: `import { ${serveStage.name} } from "./gateway-fixture.ts"; await ${serveStage.name}();`,
      resolveDir: here,
    },
    outfile: program,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    mainFields: ["module", "main"],
    external: ["@photostructure/sqlite", "@vscode/ripgrep"],
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: "error",
  });
});

afterAll(async () => {
  for (const child of started) child.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

describe.each(ERAS)("over a pipe in %s", (_name, mode) => {
  it("lists, calls, asks, cancels and goes when the client does", async () => {
    verifies("GATE-1", "GATE-2");
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [program],
      stderr: "pipe",
    });
    const log = textFrom(transport.stderr as Readable);
    const { client, asked } = createHost(mode, (message) => ({
      action: "accept",
      content: { decision: message.includes("yes") ? "allow_once" : "deny" },
    }));
    await client.connect(transport);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("note__write");
    const write = (text: string) => client.callTool({ name: "note__write", arguments: { text } });
    expect(textOf(await write("yes"))).toBe("wrote yes");
    expect((await write("no")).isError).toBe(true);
    expect(asked).toHaveLength(2);
    const cancel = new AbortController();
    const waits = client.callTool({ name: "note__wait" }, { signal: cancel.signal });
    const failed = rejected(waits);
    await client.callTool({ name: "note__read", arguments: { text: "beside it" } });
    cancel.abort();
    expect(await failed).toBe(true);
    const left = rejected(client.callTool({ name: "note__wait" }));
    await client.callTool({ name: "note__read", arguments: { text: "beside it" } });
    await client.close();
    expect(await left).toBe(true);
    expect(await log).toBe("served 6 calls, wrote yes\n");
  });
});

describe("a client that sends what it likes", () => {
  it("receives an error for each bad line, and is served as soon as it behaves", async () => {
    verifies("GATE-1");
    const { send, answer, exit } = start();
    send("{");
    expect(await answer()).toMatchObject({ id: null, error: { code: -32_700 } });
    send("[1, 2]");
    expect(await answer()).toMatchObject({ id: null, error: { code: -32_600 } });
    send('{"jsonrpc":"1.0","id":4,"method":"ping"}');
    expect(await answer()).toMatchObject({ id: 4, error: { code: -32_600 } });
    send(`"${"x".repeat(5 * 1024 * 1024)}"`);
    expect(await answer()).toMatchObject({ id: null, error: { code: -32_600 } });
    send(call(1, "note__read", { text: "early" }));
    expect(await answer()).toEqual({
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32_600, message: "send initialize before tools/call" },
    });
    send(INITIALIZE);
    expect(await answer()).toMatchObject({ id: 0, result: { serverInfo: { name: "soong" } } });
    send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    send('{"jsonrpc":"2.0","id":2,"method":"ping"}');
    expect(await answer()).toEqual({ jsonrpc: "2.0", id: 2, result: {} });
    send('{"jsonrpc":"2.0","id":3,"method":"tools/everything"}');
    expect(await answer()).toMatchObject({ id: 3, error: { code: -32_601 } });
    send('{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":5}}');
    expect(await answer()).toMatchObject({ id: 4, error: { code: -32_602 } });
    send('{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"cursor":"x"}}');
    expect(await answer()).toMatchObject({ id: 5, error: { code: -32_602 } });

    const told = { name: "note__count", _meta: { progressToken: "p" } };
    send(JSON.stringify({ jsonrpc: "2.0", id: 5, method: "tools/call", params: told }));
    const progress = { progressToken: "p", total: 3 };
    expect([await answer(), await answer(), await answer()]).toMatchObject([
      { method: "notifications/progress", params: { ...progress, progress: 1 } },
      { method: "notifications/progress", params: { ...progress, progress: 2 } },
      { id: 5, result: { isError: false } },
    ]);

    send(call(6, "note__wait", {}));
    send(call(6, "note__read", { text: "same id" }));
    expect(await answer()).toMatchObject({ id: null, error: { code: -32_600 } });
    send(call(7, "note__read", { text: "x".repeat(2 * 1024 * 1024) }));
    expect(await answer()).toMatchObject({ id: 7, result: { isError: true } });
    expect(await exit()).toBe("served 3 calls, wrote \n");
  });

  it("has calls on record that were given up before their turn came", async () => {
    verifies("GATE-1");
    const stage = await setStage();
    const input = new PassThrough();
    const output = new PassThrough();
    const served = serveGatewayStdio({ ...stage, input, output });
    const answers = createInterface({ input: output })[Symbol.asyncIterator]();
    const send = (line: string) => input.write(`${line}\n`);
    const cancel = (requestId: number) =>
      send(
        JSON.stringify({
          jsonrpc: "2.0",
          method: "notifications/cancelled",
          params: { requestId },
        }),
      );
    send(INITIALIZE);
    await answers.next();
    const running = Array.from({ length: 32 }, (_, i) => i + 1);
    for (const id of running) send(call(id, "note__wait", {}));
    send(call(33, "note__read", { text: "cancelled" }));
    send(call(34, "note__read", { text: "in its turn" }));
    send('{"jsonrpc":"2.0","id":35,"method":"tools/list"}');
    // Listing waits for no one: the others are waiting for their turn now.
    expect(JSON.parse((await answers.next()).value as string)).toMatchObject({ id: 35 });
    cancel(33);
    cancel(1);
    expect(JSON.parse((await answers.next()).value as string)).toMatchObject({ id: 34 });
    input.end();
    await served.ended;
    const reads = stage.journal.facts.filter(({ tool_name }) => tool_name === "note.read");
    const ids = [...new Set(reads.map(({ tool_call_id }) => tool_call_id))];
    const types = ids.map((id) =>
      reads.filter(({ tool_call_id }) => tool_call_id === id).map(({ type }) => type),
    );
    expect(types).toHaveLength(2);
    expect(types.find((one) => !one.includes("tool.started"))).toEqual([
      "tool.requested",
      "tool.failed",
      "tool.yielded",
    ]);
    expect(stage.journal.facts.at(-1)?.type).toBe("run.completed");
  });

  it("gets one answer for each of a thousand calls at once", async () => {
    verifies("GATE-1");
    const { send, answer, exit } = start();
    send(INITIALIZE);
    await answer();
    const ids = Array.from({ length: 1_000 }, (_, i) => i + 1);
    send(ids.map((id) => call(id, "note__read", { text: `n${id}` })).join("\n"));
    const seen = new Map<number, unknown>();
    for (const _ of ids) {
      const { id, result } = (await answer()) as {
        id: number;
        result: { structuredContent: { text: string } };
      };
      expect(seen.has(id)).toBe(false);
      seen.set(id, result.structuredContent.text);
    }
    expect(ids.every((id) => seen.get(id) === `n${id}`)).toBe(true);
    expect(await exit()).toBe("served 1000 calls, wrote \n");
  });
});

const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "raw", version: "1" },
  },
});

function call(id: number, name: string, given: object): string {
  const params = { name, arguments: given };
  return JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
}

/** The program, spoken to by hand. */
function start(): {
  send: (line: string) => void;
  answer: () => Promise<unknown>;
  exit: () => Promise<string>;
} {
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "pipe"] });
  started.add(child);
  const log = textFrom(child.stderr);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    send: (line) => child.stdin.write(`${line}\n`),
    async answer() {
      const { value } = (await lines.next()) as { value: string };
      return JSON.parse(value) as unknown;
    },
    async exit() {
      const closed = once(child, "close");
      child.stdin.end();
      await closed;
      return log;
    },
  };
}

async function textFrom(stream: Readable): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}
