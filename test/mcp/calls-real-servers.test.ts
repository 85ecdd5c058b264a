// The reference servers, as processes, behind the kernel: no tool of theirs is lost, every kind of content
// arrives, and no call reaches them with arguments their own schemas refuse.

import { mkdtemp, readFile, realpath, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createKernel,
  createMemoryJournal,
  type ElicitationRequest,
  type JsonObject,
  type ToolResult,
} from "@soong/core";
import {
  createPins,
  openConnection,
  openMcpServers,
  openPinFile,
  type ConnectedServer,
  type McpConnection,
  type McpServerEntry,
  type McpServers,
  type ToolCallRequest,
} from "@soong/mcp";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { entryOf } from "./source-stage.ts";

const never = new AbortController().signal;
const require = createRequire(import.meta.url);

let folder: string;
let entries: McpServerEntry[];
let servers: McpServers;
let call: (name: string, input: JsonObject) => Promise<ToolResult>;
const kernel = createKernel();
const journal = createMemoryJournal();
/** What the servers themselves said of their tools, and what they were asked. */
const listed = new Map<string, JsonObject>();
const received: ToolCallRequest[] = [];
const asked: string[] = [];
const questions: ElicitationRequest[] = [];

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "soong-mcp-")));
  const program = (name: string): string =>
    require.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`);
  const server = (
    name: string,
    args: readonly string[],
    env: Record<string, string>,
    given: Partial<McpServerEntry> = {},
  ): McpServerEntry => {
    const transport = {
      kind: "stdio" as const,
      command: process.execPath,
      env,
      args: [program(name), ...args],
    };
    return entryOf(name, { transport, ...given });
  };
  entries = [
    server("everything", ["stdio"], {}),
    server("filesystem", [folder], {}, { readonly_tools: "all", disabled_tools: ["move_file"] }),
    server("memory", [], { MEMORY_FILE_PATH: join(folder, "memory.jsonl") }),
  ];
  const session = await kernel.openSession({
    journal,
    ask: ({ tool_name }) => {
      asked.push(tool_name);
      return { decision: "allow_once" };
    },
    elicit: (request) => {
      questions.push(request);
      return { action: "accept", content: { name: "Noonien" } };
    },
  });
  servers = openMcpServers({
    entries,
    registry: kernel.registry,
    connect: (entry) => watched(openConnection(entry, { canElicit: true })),
    pins: await createPins(openPinFile(join(folder, "home", "mcp-pins.json"))),
    record: ({ type, data, level }) => session.recorder.record(type, data, undefined, level),
  });
  await servers.ready(never, 60_000);
  const run = await session.startRun({
    policy: { readonly_mcp: servers.readonlyTools() },
  });
  call = (name, input) => run.call(name, input);
});

afterAll(async () => {
  await servers.close();
  await rm(folder, { recursive: true, force: true });
});

/** The real connection, with a note of what passes. */
function watched(connection: McpConnection): McpConnection {
  const watchedServers = new WeakMap<ConnectedServer, ConnectedServer>();
  const connected = connection.connected.bind(connection);
  return Object.assign(connection, {
    async connected(signal?: AbortSignal) {
      const server = await connected(signal);
      const known = watchedServers.get(server) ?? watchedServer(connection.server_id, server);
      watchedServers.set(server, known);
      return known;
    },
  });
}

function watchedServer(server_id: string, server: ConnectedServer): ConnectedServer {
  return {
    ...server,
    async listToolsPage(...given) {
      const page = await server.listToolsPage(...given);
      for (const tool of page.tools as (JsonObject & { name: string })[]) {
        listed.set(`mcp.${server_id}.${tool.name}`, tool);
      }
      return page;
    },
    callTool(...given) {
      received.push(given[0]);
      return server.callTool(...given);
    },
  };
}

describe("tools of the reference servers", () => {
  test("none is lost: each is registered, or excluded because the user said so", () => {
    verifies("MCP-1");
    expect(servers.status().map(({ server_id, state }) => `${server_id} ${state}`)).toEqual([
      "everything connected",
      "filesystem connected",
      "memory connected",
    ]);
    const { tools, excluded } = kernel.registry.snapshot();
    expect(listed.size).toBeGreaterThan(30);
    expect(excluded).toEqual([
      { tool_name: "mcp.filesystem.move_file", reason: "disabled", detail: "disabled in mcp.json" },
    ]);
    expect([...tools.keys()].filter((name) => name.startsWith("mcp."))).toEqual(
      [...listed.keys()].filter((name) => name !== "mcp.filesystem.move_file"),
    );
    const connected = journal.facts.filter((fact) => fact.type === "mcp.server.connected");
    expect(
      connected.map(({ data }) => (data as { server_id: string }).server_id).toSorted(),
    ).toEqual(["everything", "filesystem", "memory"]);
  });

  test("what we let through, the server's own schema takes", () => {
    verifies("SCHEMA-3");
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    for (const [name, { inputSchema }] of listed) {
      const tool = kernel.registry.current(name);
      if (tool === undefined) continue;
      const { $schema: _dialect, ...schema } = inputSchema as JsonObject;
      const own = ajv.compile(schema);
      const fields = Object.keys((schema["properties"] ?? {}) as object);
      const value = fc.oneof(fc.jsonValue(), fc.constantFrom("text", "debug", "asc", 1, 5, true));
      const input = fc.dictionary(fc.constantFrom("other", ...fields), value);
      fc.assert(
        fc.property(input, (given) => {
          const isTaken = !tool.input.check(given).ok || own(given);
          expect(isTaken, `${name} ${JSON.stringify(given)}`).toBe(true);
        }),
        { numRuns: 20 },
      );
    }
  });

  test("arguments that do not fit never reach the server, and the model learns which", async () => {
    verifies("SCHEMA-3");
    const before = received.length;
    const sum = await call("mcp.everything.get-sum", { a: "1", b: 2 });
    expect(sum.error).toMatchObject({ error_class: "schema_validation_failed" });
    expect(sum.error?.message).toContain("a: ");
    const edit = await call("mcp.filesystem.edit_file", { path: "x", edits: [{ oldText: "a" }] });
    expect(edit.error?.message).toContain("newText");
    expect(received).toHaveLength(before);
  });

  test("the user marked all of a server readonly: what it warns of itself requires approval, the rest does not", async () => {
    verifies("MCP-6");
    const path = join(folder, "a.txt");
    const begun = asked.length;
    const written = await call("mcp.filesystem.write_file", { path, content: "hello" });
    expect(written.status).toBe("succeeded");
    const read = await call("mcp.filesystem.read_text_file", { path });
    expect(read.data).toEqual({ content: "hello" });
    expect(asked.slice(begun)).toEqual(["mcp.filesystem.write_file"]);
  });
});

describe("calls of the reference servers", () => {
  test("text, images, links, embedded resources and structured content arrive", async () => {
    verifies("MCP-4");
    expect((await call("mcp.everything.echo", { message: "héllo" })).summary).toBe("Echo: héllo");
    const image = await call("mcp.everything.get-tiny-image", {});
    expect(image.content.map(({ type }) => type)).toEqual(["text", "image", "text"]);
    const links = await call("mcp.everything.get-resource-links", { count: 2 });
    expect(links.content.filter((fact) => fact.type === "resource_link")).toHaveLength(2);
    const blob = await call("mcp.everything.get-resource-reference", {
      resourceType: "Blob",
      resourceId: 1,
    });
    expect(blob.content.some((block) => block.type === "resource" && "blob" in block)).toBe(true);
    const weather = await call("mcp.everything.get-structured-content", { location: "Chicago" });
    expect(Object.keys(weather.data as object)).toEqual(["temperature", "conditions", "humidity"]);
    const annotated = await call("mcp.everything.get-annotated-message", { messageType: "error" });
    expect(annotated.metadata.tool).toMatchObject({
      content_meta: [{ annotations: { priority: 1 } }],
    });
  });

  test("a tool's own error is a failed call with the server's words", async () => {
    verifies("MCP-4");
    const result = await call("mcp.filesystem.read_text_file", { path: join(folder, "none.txt") });
    expect(result).toMatchObject({ status: "failed", error: { code: "tool_error" } });
    expect(result.error?.message).toContain("ENOENT");
    const outside = await call("mcp.filesystem.read_text_file", { path: "/etc/hostname" });
    expect(outside.error?.message).toContain("Access denied");
  });

  test("progress is on record", async () => {
    verifies("MCP-4");
    const operation = { duration: 0.2, steps: 4 };
    const result = await call("mcp.everything.trigger-long-running-operation", operation);
    expect(result.status).toBe("succeeded");
    const progress = journal.facts.filter((fact) => fact.type === "tool.progress");
    expect(progress.at(-1)?.data).toMatchObject({ total: 4 });
  });

  test("a question of the server reaches the user, and the answer the server", async () => {
    verifies("MCP-5");
    const result = await call("mcp.everything.trigger-elicitation-request", {});
    expect(questions.at(-1)).toMatchObject({
      mode: "form",
      tool_name: "mcp.everything.trigger-elicitation-request",
    });
    expect(JSON.stringify(result.content)).toContain("Noonien");
    const page = await call("mcp.everything.trigger-url-elicitation", {
      url: "https://example.org/in",
    });
    expect(questions.at(-1)).toMatchObject({ mode: "url", url: "https://example.org/in" });
    expect(page.status).toBe("succeeded");
  });

  test("what was called is pinned, for its owner alone", async () => {
    verifies("MCP-7");
    await call("mcp.memory.create_entities", {
      entities: [{ name: "Soong", entityType: "runtime", observations: ["careful"] }],
    });
    const graph = await call("mcp.memory.read_graph", {});
    expect(graph.data).toMatchObject({ entities: [{ name: "Soong" }] });
    const path = join(folder, "home", "mcp-pins.json");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const { servers: pinned } = JSON.parse(await readFile(path, "utf8")) as { servers: JsonObject };
    expect(Object.keys(pinned["memory"] as object)).toEqual(["create_entities", "read_graph"]);
  });
});
