import { createKernel, defineTool } from "@soong/core";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { createHostApprovals } from "../kernel/index.ts";
import { bridgeClaudeAgent, type ClaudeAgentOptions } from "./bridge-claude-agent.ts";
import { createClaudeTools } from "./built-in-tools.ts";
import type { McpServer, McpTransport } from "./mcp-server.ts";

const PICTURE = { type: "image" as const, media_type: "image/png", data: "aGVsbG8=" };

const schema = { type: "object", properties: { id: { type: "integer" } } } as const;
const tools = [
  defineTool({
    name: "notes.read",
    description: "Read a note",
    input_schema: { ...schema, required: ["id"] },
    permission: "readonly",
    concurrency_safe: true,
    handler: ({ id }, { progress }) => {
      progress({ message: `reads ${id}` });
      return `note ${id}`;
    },
  }),
  defineTool({
    name: "notes.draw",
    description: "Draw a note",
    input_schema: schema,
    permission: "readonly",
    handler: () => ({ content: [{ type: "text", text: "here" }, PICTURE] }),
  }),
  defineTool({
    name: "notes.wait",
    description: "Wait",
    input_schema: schema,
    permission: "readonly",
    handler: (_input, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
      }),
  }),
  defineTool({
    name: "notes.write",
    description: "Write a note",
    input_schema: schema,
    handler: ({ id }) => `wrote ${id}`,
  }),
  defineTool({
    name: "coffee.brew",
    description: "Brew coffee",
    input_schema: schema,
    permission: "readonly",
    defer: true,
    handler: () => "coffee",
  }),
];

test("the server offers what the kernel has loaded, and none of the host's own tools", async () => {
  verifies("MODEL-6");
  const host = await connect();
  await host.request("initialize", { protocolVersion: "2025-11-25" });
  const { tools: offered } = (await host.request("tools/list")) as { tools: Offered[] };
  expect(offered.map(({ name }) => name)).toEqual([
    "internal__search_tools",
    "notes__draw",
    "notes__read",
    "notes__wait",
    "notes__write",
  ]);
  expect(offered.find(({ name }) => name === "notes__read")).toMatchObject({
    annotations: { readOnlyHint: true },
    _meta: { "anthropic/alwaysLoad": true },
  });
  expect(offered.find(({ name }) => name === "notes__wait")).toMatchObject({
    annotations: { readOnlyHint: false },
  });
});

test("a call has a result, and its progress is reported", async () => {
  const host = await connect();
  await host.request("tools/list");
  const result = await host.call("notes__read", { id: 1 });
  expect(result).toEqual({ content: [{ type: "text", text: "note 1" }], isError: false });
  expect(host.notes).toEqual([
    {
      method: "notifications/progress",
      params: { progressToken: 7, progress: 1, message: "reads 1" },
    },
  ]);
  expect(host.progress).toEqual(["toolu_1 notes__read reads 1"]);
});

test("images are sent as images", async () => {
  const host = await connect();
  const { content } = (await host.call("notes__draw", {})) as { content: object[] };
  expect(content[1]).toEqual({ type: "image", data: "aGVsbG8=", mimeType: "image/png" });
});

test.each([
  ["notes__read", { id: "one" }, /\bid\b/],
  ["notes__read", "no object", /object/],
  ["notes__raed", {}, /There is no tool/],
  ["claude__read", { file_path: "/p/a" }, /the host executes this tool itself/],
])("%s with %j is an error that the kernel explains", async (name, given, explanation) => {
  const host = await connect();
  const { content, isError } = (await host.call(name, given)) as {
    content: { text: string }[];
    isError: boolean;
  };
  expect(isError).toBe(true);
  expect(content[0]?.text).toMatch(explanation);
});

test("what a search has loaded is reported to the host, and offered then", async () => {
  verifies("MODEL-6");
  const host = await connect();
  await host.request("tools/list");
  await host.call("internal__search_tools", { query: "coffee" });
  expect(host.notes).toContainEqual({ method: "notifications/tools/list_changed" });
  const { tools: offered } = (await host.request("tools/list")) as { tools: Offered[] };
  expect(offered.map(({ name }) => name)).toContain("coffee__brew");
});

test("a call that the host cancels is stopped, and has a result", async () => {
  const host = await connect();
  const waiting = host.call("notes__wait", {});
  await host.notify("notifications/cancelled", { requestId: host.lastId(), reason: "no longer" });
  expect(await waiting).toMatchObject({ isError: true });
});

test("a connection that closes stops its calls", async () => {
  const host = await connect();
  const waiting = host.call("notes__wait", {});
  host.close();
  expect(await waiting).toMatchObject({ isError: true });
});

test("what the user changes while approving is what runs", async () => {
  verifies("MODEL-6");
  const updatedInput = { id: 99 };
  const host = await connect({ canUseTool: async () => ({ behavior: "allow", updatedInput }) });
  expect(await host.before("notes__write", { id: 1 })).toBe("ask");
  const said = await host.askPermission("notes__write", { id: 1 });
  expect(said).toEqual({ behavior: "allow", updatedInput });
  expect(await host.call("notes__write", updatedInput)).toMatchObject({ isError: false });
});

test("an approval is for one call: its input, once", async () => {
  verifies("MODEL-6");
  const host = await connect({ canUseTool: async () => ({ behavior: "allow" }) });
  await host.before("notes__write", { id: 1 });
  await host.askPermission("notes__write", { id: 1 });
  const other = await host.call("notes__write", { id: 666 });
  expect(other).toMatchObject({ isError: true });
  expect(await host.call("notes__write", { id: 1 })).toMatchObject({ isError: false });
  expect(await host.call("notes__write", { id: 1 })).toMatchObject({ isError: true });
  expect(await host.before("notes__write", { id: 1 })).toBe("ask");
});

test.each([null, "text", {}, { id: 1 }, { method: 1 }, { method: "notifications/other" }])(
  "%j is ignored",
  async (message) => {
    const host = await connect();
    host.receive(message);
    expect(await host.request("ping")).toEqual({});
  },
);

test("a method that there is none of is an error", async () => {
  const host = await connect();
  await expect(host.request("prompts/list")).rejects.toThrow("there is no method prompts/list");
});

interface Offered {
  name: string;
}

/** The side of the SDK: it connects the server to its transport, and calls what the server sets there. */
async function connect(options: Pick<ClaudeAgentOptions, "canUseTool"> = {}) {
  const builtIn = createClaudeTools();
  const approvals = createHostApprovals();
  const { ask } = approvals;
  const run = await createKernel({ tools: [...tools, ...builtIn.tools] }).startRun({ ask });
  const progress: string[] = [];
  const { server, hooks, canUseTool } = bridgeClaudeAgent(run, {
    builtIn,
    ...(options.canUseTool && { approvals, ...options }),
    onProgress: ({ tool_call_id, tool_name, message = "" }) =>
      void progress.push(`${tool_call_id} ${tool_name} ${message}`),
  });
  const waiting = new Map<unknown, (answer: Answer) => void>();
  const notes: object[] = [];
  const set: { onmessage?: (message: unknown) => void; onclose?: () => void } = {};
  const transport: McpTransport = Object.assign(set, {
    async start() {},
    async close() {},
    async send(message: object) {
      const { jsonrpc: _, ...rest } = message as Answer & { jsonrpc: string };
      if (rest.id === undefined) notes.push(JSON.parse(JSON.stringify(rest)) as object);
      else waiting.get(rest.id)?.(rest);
    },
  });
  await (server.instance as McpServer).connect(transport);
  let count = 0;

  function request(method: string, params: object = {}): Promise<unknown> {
    count += 1;
    const id = `request:${count}`;
    return new Promise((resolve, reject) => {
      waiting.set(id, ({ result, error }) =>
        error === undefined ? resolve(result) : reject(new Error(error.message)),
      );
      set.onmessage?.({ jsonrpc: "2.0", id, method, params });
    });
  }

  const { signal } = new AbortController();
  const mcp_server = { name: "soong", source: "sdk" };
  const about = (name: string) => ({ tool_name: `mcp__soong__${name}`, tool_use_id: "toolu_1" });

  return {
    async before(name: string, tool_input: object) {
      const use = { hook_event_name: "PreToolUse", ...about(name), tool_input, mcp_server };
      const output = await hooks.PreToolUse[0]?.hooks[0]?.(use, "toolu_1", { signal });
      const decided = output?.hookSpecificOutput;
      return decided?.hookEventName === "PreToolUse" ? decided.permissionDecision : undefined;
    },
    askPermission: (name: string, input: Record<string, unknown>) =>
      canUseTool(about(name).tool_name, input, {
        signal,
        toolUseID: "toolu_1",
        mcpServer: mcp_server,
      }),
    notes,
    progress,
    request,
    lastId: () => `request:${count}`,
    receive: (message: unknown) => set.onmessage?.(message),
    async notify(method: string, params: object) {
      set.onmessage?.({ jsonrpc: "2.0", method, params });
    },
    close: () => set.onclose?.(),
    call: (name: string, given: unknown) =>
      request("tools/call", {
        name,
        arguments: given,
        _meta: { "claudecode/toolUseId": "toolu_1", progressToken: 7 },
      }),
  };
}

interface Answer {
  id?: unknown;
  result?: unknown;
  error?: { message: string };
}
