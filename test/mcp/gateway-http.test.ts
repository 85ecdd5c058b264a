// The gateway over HTTP, with the SDK's own client in both eras: what is listed, called, asked, found, shortened
// and given up (GATE-1…4).

import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { defineTool, type SessionOptions } from "@soong/core";
import { openStore } from "@soong/store";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { verifies } from "#laws";
import { parseConfig } from "../../packages/cli/src/config/index.ts";
import {
  serveGatewayHttp,
  type GatewayHttpOptions,
  type ServedHttp,
} from "../../packages/mcp/src/gateway/serve-http.ts";
import { setStage, type Stage, type StageOptions } from "./gateway-fixture.ts";
import { createHost, ERAS, rejected, textOf, type EraMode, type Host } from "./sdk-host.ts";

const TOKEN = "correct-horse-battery-staple";
const WIRE_NAME = /^[A-Za-z0-9_-]{1,45}$/u;

let cleanUp: (() => Promise<void>)[] = [];

beforeEach(() => {
  cleanUp = [];
});

afterEach(async () => {
  for (const clean of cleanUp.toReversed()) await clean();
});

async function serve(
  options: StageOptions = {},
  http: Partial<GatewayHttpOptions> = {},
): Promise<Stage & { served: ServedHttp }> {
  const stage = await setStage(options);
  const served = await serveGatewayHttp({ ...stage, token: TOKEN, ...http });
  cleanUp.push(() => served.close());
  return { ...stage, served };
}

async function createStored(): Promise<SessionOptions> {
  const directory = await mkdtemp(join(tmpdir(), "soong-mcp-"));
  cleanUp.push(() => rm(directory, { recursive: true, force: true }));
  const store = await openStore({ directory });
  cleanUp.push(() => store.close());
  return store.createSession();
}

async function connect(served: ServedHttp, host: Host): Promise<Host> {
  const transport = new StreamableHTTPClientTransport(new URL(served.url), {
    requestInit: { headers: { authorization: `Bearer ${TOKEN}` } },
  });
  await host.client.connect(transport);
  cleanUp.push(() => host.client.close());
  return host;
}

describe.each(ERAS)("over HTTP in %s", (_name, mode) => {
  it("lists the surface under portable names and says what its tools do", async () => {
    verifies("GATE-1");
    const { served } = await serve();
    const { client } = await connect(served, createHost(mode));
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toContain("note__read");
    expect(names.filter((name) => !WIRE_NAME.test(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    expect(tools.find(({ name }) => name === "note__read")).toMatchObject({
      title: "Read notes",
      inputSchema: { type: "object", required: ["text"] },
      annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
    });
    expect(tools.find(({ name }) => name === "note__write")?.annotations).toEqual({
      readOnlyHint: false,
      destructiveHint: false,
      openWorldHint: false,
    });
    expect(tools.every(({ outputSchema }) => outputSchema === undefined)).toBe(true);
  });

  it("sends a call through the pipeline and its data back, as text and as data", async () => {
    verifies("GATE-1", "GATE-4");
    const { served, journal } = await serve();
    const { client } = await connect(served, createHost(mode));
    const result = await client.callTool({ name: "note__read", arguments: { text: "hey" } });
    expect(result.isError).toBe(false);
    expect(result.structuredContent).toEqual({ text: "hey", length: 3 });
    expect(JSON.parse(textOf(result))).toEqual({ text: "hey", length: 3 });

    const list = await client.callTool({ name: "note__count" });
    expect(list.structuredContent).toEqual({ result: [1, 2, 3] });
    expect(textOf(list)).toBe("[1,2,3]");

    const wrong = await client.callTool({ name: "note__read", arguments: { txt: "hey" } });
    expect(wrong.isError).toBe(true);
    expect(textOf(wrong)).toContain("text");
    // As the protocol has it; the call is on record all the same.
    await expect(client.callTool({ name: "note__raed", arguments: {} })).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining('no tool "note__raed"') as string,
    });

    const ends = journal.facts.filter(({ type }) =>
      ["tool.completed", "tool.failed", "tool.denied"].includes(type),
    );
    expect(ends.map(({ type, tool_name }) => `${type} ${tool_name}`)).toEqual([
      "tool.completed note.read",
      "tool.completed note.count",
      "tool.failed note.read",
      "tool.denied note__raed",
    ]);
  });

  it("keeps blocks of every kind", async () => {
    const { served } = await serve();
    const { client } = await connect(served, createHost(mode));
    const { content } = await client.callTool({ name: "note__picture" });
    expect(content).toEqual([
      { type: "image", data: "aGk=", mimeType: "image/png" },
      {
        type: "resource_link",
        uri: "file:///notes.txt",
        name: "file:///notes.txt",
        mimeType: "text/plain",
      },
    ]);
  });

  it("shortens a long result below ten kilobytes, and the rest can be read", async () => {
    verifies("GATE-4");
    const { served } = await serve();
    const { client } = await connect(served, createHost(mode));
    const long = await client.callTool({ name: "note__long" });
    const text = textOf(long);
    expect(Buffer.byteLength(text)).toBeLessThan(10_000);
    expect(text).toMatch(/^begin é+/u);
    const [, artifact_id] = /artifact_id": "([^"]+)"/u.exec(text) ?? [];
    expect(text).toContain("internal__read_artifact");
    const rest = await client.callTool({
      name: "internal__read_artifact",
      arguments: { artifact_id, query: "end$", literal: false },
    });
    expect(rest.isError).toBe(false);

    const rows = await client.callTool({ name: "note__rows" });
    expect(rows.structuredContent).toMatchObject({ rows: [1, 2], soong_text: "two rows" });
    const { soong_notice } = rows.structuredContent as { soong_notice: string };
    expect(soong_notice).toContain("text/plain, 4 bytes");
    expect(textOf(rows).split("\n")).toEqual(["two rows", '{"rows":[1,2]}', soong_notice]);
  });

  it.each(["memory", "disk"])(
    "sends the progress of a call before its result, and only what increases (%s)",
    async (where) => {
      const { served } = await serve(where === "disk" ? { stored: await createStored() } : {});
      const { client } = await connect(served, createHost(mode));
      const updates: object[] = [];
      await client.callTool(
        { name: "note__count" },
        { onprogress: (update: object) => updates.push(update) },
      );
      expect(updates).toEqual([
        { message: "one", progress: 1, total: 3 },
        { message: "two", progress: 2, total: 3 },
      ]);
    },
  );

  it("asks for permission through the client, and remembers what was allowed for the session", async () => {
    verifies("GATE-2");
    const { served, written, journal } = await serve();
    const answers = ["deny", "allow_once", "allow_for_session"];
    const { client, asked, forms } = await connect(
      served,
      createHost(mode, () => ({
        action: "accept",
        content: { decision: answers.shift() ?? "deny", reason: "because" },
      })),
    );
    const write = (text: string) => client.callTool({ name: "note__write", arguments: { text } });
    const denied = await write("a");
    expect(denied.isError).toBe(true);
    expect(textOf(denied)).toContain("The client host 1 said no to note.write: because");
    expect(textOf(await write("b"))).toBe("wrote b");
    expect(textOf(await write("c"))).toBe("wrote c");
    expect(textOf(await write("c"))).toBe("wrote c");
    expect(written).toEqual(["b", "c", "c"]);
    expect(asked).toHaveLength(3);
    expect(asked[0]).toMatch(/^Allow: note\.write\nTool: note\.write\. Writes a note\n/);
    expect(asked[0]).toContain("would write: a");
    expect(asked[0]).toContain('"Allow for this session" covers: ');
    const titles = ["Allow once", "Allow for this session", "Deny"];
    expect(forms[0]).toMatchObject({
      properties: {
        decision: {
          title: "Decision",
          ...(mode === "legacy"
            ? { enumNames: titles }
            : { oneOf: titles.map((title) => ({ title })) }),
        },
        reason: { title: "Reason" },
      },
    });
    const resolved = journal.facts.filter((fact) => fact.type === "permission.resolved");
    expect(resolved.map(({ data }) => (data as { answered_by: string }).answered_by)).toEqual(
      Array.from({ length: 3 }, () => "client host 1"),
    );
  });

  it.each([
    ["declined", { action: "decline" as const }],
    ["dismissed", { action: "cancel" as const }],
    ["answered with nothing", { action: "accept" as const, content: {} }],
    ["answered with another word", { action: "accept" as const, content: { decision: "yes" } }],
  ])("takes a question that was %s for a no", async (_how, answer) => {
    verifies("GATE-2");
    const { served, written } = await serve();
    const { client } = await connect(
      served,
      createHost(mode, () => answer),
    );
    const result = await client.callTool({ name: "note__write", arguments: { text: "x" } });
    expect(result.isError).toBe(true);
    expect(written).toEqual([]);
  });

  it("denies what no one can approve, and says how to allow it", async () => {
    verifies("GATE-2");
    const { served, session, written } = await serve();
    const { client } = await connect(served, createHost(mode));
    const result = await client.callTool({ name: "note__write", arguments: { text: "x" } });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain(`soong attach ${session.session_id}`);
    expect(pastedRules(textOf(result))).toMatchObject([{ tool: "note.write", decision: "allow" }]);
    expect(written).toEqual([]);
    const declining = await connect(
      served,
      createHost(mode, () => ({ action: "decline" })),
    );
    const declined = await declining.client.callTool({
      name: "note__write",
      arguments: { text: "x" },
    });
    expect(pastedRules(textOf(declined))).toMatchObject([{ tool: "note.write" }]);
  });

  it("asks the next responder when the client cannot ask", async () => {
    verifies("GATE-2");
    const { served, written } = await serve({
      ask: ({ tool_name }) => ({ decision: tool_name === "note.write" ? "allow_once" : "deny" }),
    });
    const { client } = await connect(served, createHost(mode));
    await client.callTool({ name: "note__write", arguments: { text: "x" } });
    expect(written).toEqual(["x"]);
  });

  it("puts each question to the client whose call it is", async () => {
    verifies("GATE-2");
    const { served, written } = await serve();
    const hosts = await Promise.all(
      ["a", "b", "c"].map((text) =>
        connect(
          served,
          createHost(mode, (message) => ({
            action: "accept",
            content: {
              decision: message.includes(`would write: ${text}`) ? "allow_once" : "deny",
            },
          })),
        ),
      ),
    );
    await Promise.all(
      hosts.map(({ client }, i) =>
        client.callTool({ name: "note__write", arguments: { text: "abc".charAt(i) } }),
      ),
    );
    expect(written.toSorted()).toEqual(["a", "b", "c"]);
    expect(hosts.map(({ asked }) => asked.length)).toEqual([1, 1, 1]);
  });

  it("passes the question of a tool on to the client, or declines it", async () => {
    const { served } = await serve();
    const { client } = await connect(
      served,
      createHost(mode, () => ({ action: "accept", content: { colour: "red" } })),
    );
    const answered = await client.callTool({ name: "note__ask" });
    expect(answered.structuredContent).toEqual({ action: "accept", colour: "red" });
    const mute = await connect(served, createHost(mode));
    const declined = await mute.client.callTool({ name: "note__ask" });
    expect(declined.structuredContent).toEqual({ action: "decline", colour: null });
  });

  it("offers search instead of deferred tools, and what it finds can be called in both ways", async () => {
    verifies("GATE-3");
    const { served, journal } = await serve();
    const { client } = await connect(served, createHost(mode));
    const before = (await client.listTools()).tools.map(({ name }) => name);
    expect(before).toContain("internal__search_tools");
    expect(before).toContain("call_tool");
    expect(before.some((name) => name.includes("treasure"))).toBe(false);

    const search = await client.callTool({
      name: "internal__search_tools",
      arguments: { query: "hidden treasure" },
    });
    const { callable } = search.structuredContent as {
      callable: { name: string; input_schema: object }[];
    };
    expect(JSON.parse(textOf(search))).toEqual(search.structuredContent);
    expect(callable).toHaveLength(1);
    const [{ name, input_schema }] = callable as [(typeof callable)[number]];
    expect(name).toMatch(WIRE_NAME);
    expect(input_schema).toMatchObject({ required: ["text"] });

    const inside = { name, arguments: { text: "gold" } };
    expect(textOf(await client.callTool(inside))).toBe("found gold");
    const through = await client.callTool({ name: "call_tool", arguments: inside });
    expect(textOf(through)).toBe("found gold");
    expect((await client.listTools()).tools.map((tool) => tool.name)).toContain(name);
    const last = journal.facts.findLast((fact) => fact.type === "tool.completed");
    expect(last?.tool_name).toBe("note.hidden_treasure_with_quite_a_long_name_of_its_own");
    const nothing = await client.callTool({ name: "call_tool", arguments: {} });
    expect(nothing.isError).toBe(true);
  });

  it("notifies a client that has listed its tools when they change", async () => {
    verifies("GATE-3");
    const { served, kernel, session } = await serve();
    const told: string[] = [];
    const { client } = await connect(
      served,
      createHost(mode, undefined, {
        listChanged: {
          tools: {
            autoRefresh: false,
            debounceMs: 0,
            onChanged: () => {
              told.push("changed");
            },
          },
        },
      }),
    );
    // The stream it is told on is opened whenever the client gets to it, so there is more than one change.
    for (let i = 0; told.length === 0; i += 1) {
      const name = `later.tool_${i}`;
      await client.listTools();
      kernel.registry.register([
        defineTool({ name, description: "d", input_schema: {}, handler: () => "late" }),
      ]);
      session.recorder.record("mcp.server.tools_changed", {
        server_id: "later",
        tools: i + 1,
        added: [name],
        removed: [],
        changed: [],
      });
      const { tools } = await client.listTools();
      expect(tools.map((tool) => tool.name)).toContain(`later__tool_${i}`);
    }
  });

  it("ends a call that its client cancels", async () => {
    const { served, waiting, journal } = await serve();
    const { client } = await connect(served, createHost(mode));
    const cancel = new AbortController();
    const call = client.callTool({ name: "note__wait" }, { signal: cancel.signal });
    const failed = rejected(call);
    await waiting.started;
    cancel.abort("enough");
    expect(await failed).toBe(true);
    await waiting.ended;
    expect(textOf(await client.callTool({ name: "note__count" }))).toBe("[1,2,3]");
    expect(journal.facts.filter((fact) => fact.type === "tool.failed")).toHaveLength(1);
  });

  it("ends the calls of a client that disconnects", async () => {
    const { served, waiting } = await serve();
    const { client } = await connect(served, createHost(mode));
    const call = client.callTool({ name: "note__wait" });
    const failed = rejected(call);
    await waiting.started;
    await client.close();
    expect(await failed).toBe(true);
    await waiting.ended;
  });

  it("answers many calls at once, each once, and all are on record", async () => {
    verifies("GATE-1");
    const { served, journal } = await serve();
    const reads = vi.spyOn(journal, "read");
    const { client } = await connect(served, createHost(mode));
    const texts = Array.from({ length: 60 }, (_, i) => `n${i}`);
    const results = await Promise.all(
      texts.map((text) => client.callTool({ name: "note__read", arguments: { text } })),
    );
    expect(results.map((result) => (JSON.parse(textOf(result)) as { text: string }).text)).toEqual(
      texts,
    );
    const count = (wanted: string) => journal.facts.filter(({ type }) => type === wanted).length;
    expect(count("tool.requested")).toBe(60);
    expect(count("tool.completed")).toBe(60);
    expect(reads, "what was recorded is not read back").not.toHaveBeenCalled();
  });
});

describe("what is spoken over HTTP", () => {
  it("lets no one in without the token, a host of ours and an origin of ours", async () => {
    verifies("GATE-1");
    const { served } = await serve();
    const ask = (headers: Record<string, string>) => raw(served, "POST", INITIALIZE, headers);
    expect((await ask({ authorization: "" })).status).toBe(401);
    expect((await ask({ authorization: `Bearer ${TOKEN}x` })).status).toBe(401);
    expect((await ask({ authorization: `Basic ${TOKEN}` })).status).toBe(401);
    expect((await ask({ host: "evil.example" })).status).toBe(403);
    expect((await ask({ origin: "https://evil.example" })).status).toBe(403);
    expect((await ask({ origin: "null" })).status).toBe(403);
    expect((await ask({ origin: "http://localhost:3000" })).status).toBe(200);
    await expect(serve({}, { token: "short" })).rejects.toThrow("16 characters");
  });

  it("refuses what is no message with an error that says so", async () => {
    const { served } = await serve({}, { maxBodyBytes: 10_000 });
    const post = async (body: string, headers: Record<string, string> = {}) => {
      const { status, text } = await raw(served, "POST", body, headers);
      const { error } = JSON.parse(text) as { error: { code: number; message: string } };
      return [status, error.code, error.message];
    };
    expect(await post("{")).toEqual([400, -32_700, "the body is not JSON"]);
    expect((await post("{}")).slice(0, 2)).toEqual([400, -32_600]);
    expect(await post(CALL)).toEqual([
      400,
      -32_600,
      "send initialize first, then Mcp-Session-Id with every request",
    ]);
    expect((await post(CALL, { "mcp-session-id": "nope" }))[0]).toBe(404);
    expect((await post(JSON.stringify("x".repeat(20_000))))[0]).toBe(413);
    expect((await post("{}", { "content-type": "text/plain" }))[0]).toBe(415);
    expect((await raw(served, "GET", undefined, {}, "/other")).status).toBe(404);
    expect((await raw(served, "GET", undefined, {})).status).toBe(400);
  });

  it("serves unknown methods and ping with what the protocol has for them", async () => {
    const { served } = await serve();
    const session = (await raw(served, "POST", INITIALIZE)).session;
    const send = async (method: string) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 2, method, params: {} });
      return (await raw(served, "POST", body, { "mcp-session-id": session })).text;
    };
    expect(await send("ping")).toContain('"result":{}');
    expect(await send("tools/nonsense")).toContain("-32601");
    expect(await send("tools/call")).toContain("-32602");
  });

  it("refuses an id that is in use, and the first request still gets its answer", async () => {
    const { served, waiting } = await serve();
    const { session } = await raw(served, "POST", INITIALIZE);
    const headers = { "mcp-session-id": session };
    const body = CALL.replace("note__read", "note__wait");
    const first = raw(served, "POST", body, headers);
    await waiting.started;
    const second = await raw(served, "POST", CALL, headers);
    expect(second.status).toBe(400);
    expect(second.text).toContain("is that of an open request");
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } };
    await raw(served, "POST", JSON.stringify(cancel), headers);
    await waiting.ended;
    const { status } = await raw(served, "DELETE", undefined, headers);
    expect(status).toBe(200);
    expect((await raw(served, "POST", CALL, headers)).status).toBe(404);
    await first;
  });

  it("keeps no more sessions than it may, and none that is idle for long", async () => {
    const { served, journal } = await serve({}, { maxSessions: 2 });
    const ids = [];
    for (let i = 0; i < 3; i += 1) ids.push((await raw(served, "POST", INITIALIZE)).session);
    const status = async (id = "") =>
      (await raw(served, "POST", CALL, { "mcp-session-id": id })).status;
    expect(await Promise.all(ids.map(status))).toEqual([404, 200, 200]);
    expect(journal.facts.filter((fact) => fact.type === "run.started")).toHaveLength(2);

    const brief = await serve({}, { sessionIdleMs: 50 });
    let expired = "";
    for (let isServed = false; !isServed;) {
      expired = (await raw(brief.served, "POST", INITIALIZE)).session;
      const called = await raw(brief.served, "POST", CALL, { "mcp-session-id": expired });
      isServed = called.status === 200;
    }
    // Looking at the record does not keep it alive.
    for await (const { type } of brief.session.facts()) if (type === "run.completed") break;
    const { status: gone } = await raw(brief.served, "POST", CALL, { "mcp-session-id": expired });
    expect(gone).toBe(404);
  });

  it("has no more sessions than it may, however many begin while the servers behind are waited for", async () => {
    verifies("GATE-1");
    let areReady = (): void => {};
    const ready = new Promise<void>((resolve) => {
      areReady = resolve;
    });
    const servers = { ready: () => ready, alsoOffer() {}, connections: () => [] };
    const { served } = await serve(
      {},
      { maxSessions: 2, servers: servers as unknown as NonNullable<GatewayHttpOptions["servers"]> },
    );
    const statuses: number[] = [];
    const beginning = Array.from({ length: 5 }, async () => {
      statuses.push((await raw(served, "POST", INITIALIZE)).status);
      if (statuses.length === 3) areReady();
    });
    await Promise.all(beginning);
    expect(statuses).toEqual([503, 503, 503, 200, 200]);
  });

  it("ends its runs when it closes", async () => {
    const { served, journal, waiting } = await serve();
    const { client } = await connect(served, createHost("legacy"));
    const call = client.callTool({ name: "note__wait" });
    await waiting.started;
    await served.close();
    expect(textOf(await call)).toContain("the gateway is closing");
    const ends = journal.facts.filter((fact) => fact.type === "run.completed");
    expect(ends).toHaveLength(1);
    expect(journal.facts.at(-1)?.type).toBe("run.completed");
  });
});

describe("a call of the newer protocol that waits for an answer", () => {
  const modern: EraMode = { pin: "2026-07-28" };

  it("does not stay open for ever when its client does not come back", async () => {
    const { served, session, written } = await serve({}, { returnWithinMs: 5 });
    const { client } = await connect(
      served,
      createHost(modern, () => ({ action: "decline" }), { inputRequired: { autoFulfill: false } }),
    );
    const params = { name: "note__write", arguments: { text: "x" } };
    await client.callTool(params, { allowInputRequired: true });
    for await (const { type, data } of session.facts()) {
      if (type !== "tool.failed") continue;
      expect(JSON.stringify(data)).toContain("did not come back");
      break;
    }
    expect(written).toEqual([]);
  });

  it("continues for one request at a time", async () => {
    let begun = (): void => {};
    let finish = (): void => {};
    const running = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const slow = defineTool({
      name: "note.slow_write",
      description: "Writes when it is told to",
      input_schema: { type: "object" },
      handler: () =>
        new Promise((resolve) => {
          finish = () => resolve("written");
          begun();
        }),
    });
    const { served } = await serve({ more: [slow] });
    const { client } = await connect(
      served,
      createHost(modern, () => ({ action: "decline" }), { inputRequired: { autoFulfill: false } }),
    );
    const params = { name: "note__slow_write", arguments: {} };
    const { inputRequests, requestState } = (await client.callTool(params, {
      allowInputRequired: true,
    })) as unknown as { inputRequests: Record<string, object>; requestState: string };
    const [key = ""] = Object.keys(inputRequests);
    const inputResponses = { [key]: { action: "accept", content: { decision: "allow_once" } } };
    const again = { ...params, inputResponses, requestState } as typeof params;
    const first = client.callTool(again);
    await running;
    await expect(client.callTool(again)).rejects.toThrow("being answered already");
    finish();
    expect(textOf(await first)).toBe("written");
  });

  it("continues only for the same call, once, and not for a guessed id", async () => {
    verifies("GATE-2");
    const { served, written } = await serve();
    const { client } = await connect(
      served,
      createHost(modern, () => ({ action: "decline" }), { inputRequired: { autoFulfill: false } }),
    );
    const params = { name: "note__write", arguments: { text: "x" } };
    const asked = (await client.callTool(params, { allowInputRequired: true })) as unknown as {
      inputRequests: Record<string, object>;
      requestState: string;
    };
    const [key = ""] = Object.keys(asked.inputRequests);
    const inputResponses = {
      [key]: { action: "accept", content: { decision: "allow_once" } },
    };
    const goOn = (more: object) =>
      client.callTool({ ...params, inputResponses, ...more } as typeof params, {
        allowInputRequired: true,
      });
    await expect(goOn({ requestState: "guess" })).rejects.toThrow("has ended");
    await expect(
      goOn({ requestState: asked.requestState, arguments: { text: "y" } }),
    ).rejects.toThrow("not those of the call");
    expect(written).toEqual([]);
    expect(textOf(await goOn({ requestState: asked.requestState }))).toBe("wrote x");
    await expect(goOn({ requestState: asked.requestState })).rejects.toThrow("has ended");
    expect(written).toEqual(["x"]);
  });
});

const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "raw", version: "1" },
  },
});
const CALL = JSON.stringify({
  jsonrpc: "2.0",
  id: 7,
  method: "tools/call",
  params: { name: "note__read", arguments: { text: "x" } },
});

/** As no one's client would: by hand. */
function raw(
  served: ServedHttp,
  method: string,
  body?: string,
  headers: Record<string, string> = {},
  path?: string,
): Promise<{ status: number; text: string; session: string }> {
  const url = new URL(path ?? served.url, served.url);
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method,
        headers: {
          authorization: `Bearer ${TOKEN}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...headers,
        },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (piece: string) => {
          text += piece;
        });
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            text,
            session: String(response.headers["mcp-session-id"]),
          }),
        );
        response.on("error", reject);
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

/** What is advised, from its first line to the end of the last, as the config reads it. */
function pastedRules(text: string): readonly object[] {
  const [, rule = ""] = /^(\[\[permissions\.rules\]\]\n(?:\w+ = .*\n?)+)/m.exec(text) ?? [];
  return parseConfig(rule, "config.toml").permissions.rules;
}
