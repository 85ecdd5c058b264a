// Prompts, resources, completion and logging of the servers behind the gateway, as its clients see them.

import { setTimeout } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/client";
import type { JsonValue } from "@soong/core";
import { McpRequestFailure } from "@soong/mcp";
import { afterEach, describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { ERAS } from "./sdk-host.ts";
import { setRelayStage, type Has, type RelayStage } from "./relay-stage.ts";
import { textAnswer } from "./source-stage.ts";

const says = (text: string, role = "user") => ({ role, content: { type: "text", text } });

const ONE: Has = {
  prompts: [{ name: "greet", description: "Greets", arguments: [{ name: "who", required: true }] }],
  messages: { greet: [says("Hello"), says("Hi there", "assistant")] },
  resources: [
    { uri: "note://1", name: "first", mimeType: "text/plain", size: 5 },
    { uri: "note://both", name: "of one" },
  ],
  templates: [{ uriTemplate: "note://{id}/page", name: "pages" }],
  contents: {
    "note://1": [{ uri: "note://1", mimeType: "text/plain", text: "first" }],
    "note://both": [{ uri: "note://both", text: "of one" }],
    "note://7/page": [{ uri: "note://7/page", blob: "aGk=", mimeType: "image/png" }],
  },
  capabilities: { completions: {} },
};
const TWO: Has = {
  prompts: [{ name: "greet" }],
  messages: { greet: [says("Two says hello")] },
  resources: [
    { uri: "note://both", name: "of two" },
    { uri: "note://2", name: "second" },
  ],
  contents: { "note://2": [{ uri: "note://2", text: "second" }] },
};

let stage: RelayStage | undefined;

afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

async function stageOf(...given: Parameters<typeof setRelayStage>): Promise<RelayStage> {
  stage = await setRelayStage(...given);
  return stage;
}

function toolCalls({ journal }: RelayStage): string[] {
  return journal.facts.flatMap(({ type, tool_name }) =>
    ["tool.completed", "tool.failed", "tool.denied"].includes(type) ? [`${type} ${tool_name}`] : [],
  );
}

describe.each(ERAS)("prompts and resources in %s", (_era, mode) => {
  it("of a server without any tools leave the list of tools empty", async () => {
    verifies("GATE-1");
    const set = await stageOf({ one: { script: { tools: [] } } }, { only: "one" });
    const client = await set.client(mode);
    expect((await client.listTools()).tools).toEqual([]);
  });

  it("come from all servers: prompts under the server's name, resources from the first that has them", async () => {
    verifies("GATE-6");
    const set = await stageOf({ one: ONE, two: TWO, plain: {} });
    const client = await set.client(mode);
    expect(client.getServerCapabilities()).toMatchObject({
      tools: {},
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      completions: {},
    });
    expect(client.getServerCapabilities()?.logging).toBeUndefined();

    expect((await client.listPrompts()).prompts).toEqual([
      {
        name: "one__greet",
        description: "Greets",
        arguments: [{ name: "who", required: true }],
      },
      { name: "two__greet" },
    ]);
    const { resources } = await client.listResources();
    expect(resources.map(({ uri, name }) => `${uri} ${name}`)).toEqual([
      "note://1 first",
      "note://both of one",
      "note://2 second",
    ]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates).toEqual([{ uriTemplate: "note://{id}/page", name: "pages" }]);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
      "internal__read_artifact",
    ]);

    const prompt = await client.getPrompt({ name: "one__greet", arguments: { who: "you" } });
    expect(prompt).toMatchObject({ description: "As asked" });
    expect(prompt.messages).toEqual([says("Hello"), says("Hi there", "assistant")]);
    const sent = set.asked.find(({ method }) => method === "prompts/get");
    expect(sent).toMatchObject({
      server_id: "one",
      params: { name: "greet", arguments: { who: "you" } },
    });
    const two = await client.getPrompt({ name: "two__greet" });
    expect(two.messages).toEqual([says("Two says hello")]);

    const read = async (uri: string) => (await client.readResource({ uri })).contents;
    expect(await read("note://both")).toEqual([{ uri: "note://both", text: "of one" }]);
    expect(await read("note://2")).toEqual([{ uri: "note://2", text: "second" }]);
    expect(await read("note://7/page")).toEqual([
      { uri: "note://7/page", mimeType: "image/png", blob: "aGk=" },
    ]);

    const argument = { name: "id", value: "x" };
    const ref = { type: "ref/resource" as const, uri: "note://{id}/page" };
    const { completion } = await client.complete({ ref, argument });
    expect(completion).toEqual({ values: ["from one"], total: 1, hasMore: false });
    // The second server has prompts and completes nothing.
    const other = { type: "ref/prompt" as const, name: "two__greet" };
    expect((await client.complete({ ref: other, argument })).completion.values).toEqual([]);

    // Each was a call like any other, by the name of its server.
    expect(toolCalls(set)).toEqual([
      "tool.completed mcp.one.@get_prompt",
      "tool.completed mcp.two.@get_prompt",
      "tool.completed mcp.one.@read_resource",
      "tool.completed mcp.two.@read_resource",
      "tool.completed mcp.one.@read_resource",
    ]);
  });

  it("say what is wrong in the protocol's own numbers", async () => {
    const gone = new McpRequestFailure("rpc_error", "Resource not found", {
      code: -32_002,
      data: { uri: "note://1" },
    });
    const contents = { "note://1": gone, "note://both": [] };
    const set = await stageOf({ one: { ...ONE, contents }, two: TWO });
    const client = await set.client(mode);
    await expect(client.getPrompt({ name: "three__greet" })).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining("three__greet") as string,
    });
    await expect(client.readResource({ uri: "other://1" })).rejects.toMatchObject({
      data: { uri: "other://1" },
    });
    await expect(client.readResource({ uri: "note://1" })).rejects.toMatchObject({
      message: expect.stringContaining("Resource not found") as string,
      data: { uri: "note://1" },
    });
    await expect(client.readResource({ uri: "note://both" })).rejects.toMatchObject({
      code: -32_603,
      message: expect.stringContaining("no contents") as string,
    });
    await expect(client.listPrompts({ cursor: "2" })).rejects.toMatchObject({ code: -32_602 });
    expect(toolCalls(set)).toEqual([
      "tool.failed mcp.one.@read_resource",
      "tool.failed mcp.one.@read_resource",
    ]);
  });

  it("are the user's to allow: a server that is denied has none, one that is not allowed requires approval", async () => {
    verifies("GATE-6");
    const policy = {
      rules: [
        { tool: "mcp.one.*", decision: "deny" },
        { tool: "internal.*", decision: "allow" },
      ],
    } as const;
    const set = await stageOf({ one: ONE, two: TWO }, { policy });
    const silent = await set.client(mode);
    const { prompts } = await silent.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(["two__greet"]);
    const { resources } = await silent.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(["note://both", "note://2"]);
    await expect(silent.getPrompt({ name: "one__greet" })).rejects.toThrow("no prompt");
    await expect(silent.readResource({ uri: "note://1" })).rejects.toThrow(/soong attach/u);
    const argument = { name: "id", value: "x" };
    const ref = { type: "ref/resource" as const, uri: "note://{id}/page" };
    expect((await silent.complete({ ref, argument })).completion.values).toEqual([]);
    expect(set.asked.some(({ server_id }) => server_id === "one")).toBe(false);

    await expect(silent.readResource({ uri: "note://2" })).rejects.toThrow(/soong attach/u);
    expect(set.asked.some(({ method }) => method === "resources/read")).toBe(false);
    const asking = await set.client(mode, () => ({
      action: "accept",
      content: { decision: "allow_once" },
    }));
    const { contents } = await asking.readResource({ uri: "note://2" });
    expect(contents).toEqual([{ uri: "note://2", text: "second" }]);
    expect(toolCalls(set)).toEqual([
      // The one server that is left is asked for whatever there is.
      "tool.denied mcp.two.@read_resource",
      "tool.denied mcp.two.@read_resource",
      "tool.completed mcp.two.@read_resource",
    ]);
  });

  it("one server alone keeps its own names, and nothing else is there", async () => {
    verifies("GATE-6");
    const tools = [
      { name: "look", inputSchema: { type: "object" } },
      { name: "call_tool", inputSchema: { type: "object" } },
      { name: "look.at", inputSchema: { type: "object" } },
      { name: "internal__read_artifact", inputSchema: { type: "object" } },
    ];
    const called: string[] = [];
    const script = {
      listToolsPage: async () => ({ tools, next_cursor: undefined }),
      callTool: async ({ name }: { name: string }) => {
        called.push(name);
        return textAnswer("seen");
      },
    };
    const set = await stageOf(
      { one: { ...ONE, script: {} }, two: { ...TWO, script } },
      { only: "two" },
    );
    const client = await set.client(mode);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    // Its own name, where every host can take it and nothing else here is called so.
    const ordinary = names.filter((name) => name.startsWith("mcp_"));
    expect(names.filter((name) => !ordinary.includes(name)).toSorted()).toEqual([
      "internal__read_artifact",
      "look",
    ]);
    expect(ordinary).toHaveLength(3);
    for (const name of ["look", ...ordinary]) await client.callTool({ name });
    expect(called.toSorted()).toEqual(tools.map(({ name }) => name).toSorted());
    await expect(client.callTool({ name: "mcp__one__anything" })).rejects.toMatchObject({
      code: -32_602,
    });

    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(["greet"]);
    const { messages } = await client.getPrompt({ name: "greet" });
    expect(messages).toEqual([says("Two says hello")]);
    const { resources } = await client.listResources();
    expect(resources.map(({ name }) => name)).toEqual(["of two", "second"]);
    expect(set.asked.every(({ server_id }) => server_id === "two")).toBe(true);
  });

  it("are bounded and made safe, for anything a server sends", async () => {
    const many = Array.from({ length: 3_000 }, (_, n) => ({ name: `p${n}` }));
    const strange: JsonValue[] = [
      { name: "odd\u001B[2J" },
      { name: "" },
      {},
      null,
      { name: "fine", description: `red\u202E ${"x".repeat(10_000)}`, arguments: "none" },
      { name: "fine", description: "again" },
    ];
    const long = `secret-of-the-user ${"line\n".repeat(40_000)}`;
    const set = await stageOf(
      {
        one: { prompts: [...strange, ...many], messages: { fine: [says(long), 7] } },
        two: {
          resources: [{ uri: "a b\n", name: 1 }, { uri: "x://long" }],
          contents: { "x://long": [{ uri: "x://long", text: long }] },
        },
      },
      { secrets: [{ name: "KEY", value: "secret-of-the-user" }] },
    );
    const client = await set.client(mode);
    const { prompts } = await client.listPrompts();
    expect(prompts.length).toBeLessThanOrEqual(2_000);
    expect(prompts[0]?.name).toBe("one__fine");
    expect(prompts[0]?.description).toMatch(/^red\uFFFD x+… \(cut/u);
    expect(prompts.filter(({ name }) => name === "one__fine")).toHaveLength(1);
    expect(set.problems.join()).toContain("not whole");
    expect((await client.listResources()).resources).toEqual([
      { uri: "x://long", name: "x://long" },
    ]);

    const { contents } = await client.readResource({ uri: "x://long" });
    const text = JSON.stringify(contents);
    expect(text.length).toBeLessThan(80_000);
    expect(text).toContain("shortened from");
    expect(text).not.toContain("secret-of-the-user");
    const got = JSON.stringify(await client.getPrompt({ name: "one__fine" }));
    expect(got.length).toBeLessThan(80_000);
    expect(got).not.toContain("secret-of-the-user");
  });
});

describe("notifications of servers", () => {
  it("reaches every client that may receive it, in the older protocol", async () => {
    const set = await stageOf({ one: ONE });
    const client = await set.client("legacy");
    await client.listPrompts();
    const heard = hearing(client);
    set.connection("one").tells({ kind: "prompts_changed" });
    await heard.next("prompts");
    await client.listPrompts();
    expect(set.asked.filter(({ method }) => method === "prompts/list")).toHaveLength(2);
    set.connection("one").tells({ kind: "resources_changed" });
    await heard.next("resources");

    await client.subscribeResource({ uri: "note://1" });
    const second = await set.client("legacy");
    const other = hearing(second);
    await second.subscribeResource({ uri: "note://1" });
    await second.subscribeResource({ uri: "note://2" });
    expect(set.watched).toEqual(["+one note://1", "+one note://2"]);
    set.connection("one").tells({ kind: "resource_updated", uri: "note://9" });
    set.connection("one").tells({ kind: "resource_updated", uri: "note://1" });
    await heard.next("updated note://1");
    await other.next("updated note://1");
    expect(heard.all.filter((news) => news.includes("note://9"))).toEqual([]);

    await client.unsubscribeResource({ uri: "note://1" });
    expect(set.watched).toHaveLength(2);
    await second.unsubscribeResource({ uri: "note://1" });
    expect(set.watched).toContain("-one note://1");
    // A server that was started anew is asked again.
    set.connection("one").lose("it was killed");
    await second.listResources();
    expect(set.watched.filter((one) => one === "+one note://2")).toHaveLength(2);
  });

  it("reaches a client that listens, in the newer protocol, and is asked for as long as it does", async () => {
    const set = await stageOf({ one: ONE });
    const client = await set.client({ pin: "2026-07-28" });
    const heard = hearing(client);
    const subscription = await client.listen({
      promptsListChanged: true,
      resourceSubscriptions: ["note://1"],
    });
    set.connection("one").tells({ kind: "prompts_changed" });
    await heard.next("prompts");
    await until(() => set.watched.includes("+one note://1"));
    set.connection("one").tells({ kind: "resource_updated", uri: "note://1" });
    await heard.next("updated note://1");
    await subscription.close();
    await until(() => set.watched.includes("-one note://1"));
    expect(heard.all).not.toContain("resources");
  });

  it.each(ERAS)(
    "is logged to the client whose call it is, at the level it wants, in %s",
    async (_era, mode) => {
      const script = {
        listToolsPage: async () => ({
          tools: [{ name: "work", inputSchema: { type: "object" } }],
          next_cursor: undefined,
        }),
        callTool: async (
          _request: unknown,
          { onLog }: { onLog?: (params: { level: string; data: string }) => void },
        ) => {
          onLog?.({ level: "debug", data: "too fine" });
          onLog?.({ level: "warning", data: "the key is secret-of-the-user" });
          return textAnswer(onLog === undefined ? "nobody listens" : "logged");
        },
      };
      const set = await stageOf(
        { one: { script, capabilities: { logging: {} } } },
        { secrets: [{ name: "KEY", value: "secret-of-the-user" }] },
      );
      const client = await set.client(mode);
      const heard: unknown[] = [];
      client.setNotificationHandler("notifications/message", ({ params }) => {
        heard.push(params);
      });
      const quiet = await client.callTool({ name: "mcp__one__work" });
      expect(quiet.content).toEqual([{ type: "text", text: "nobody listens" }]);
      const _meta = { "io.modelcontextprotocol/logLevel": "info" };
      // As deprecated as it is, hosts of the older era use it.
      // oxlint-disable-next-line typescript/no-deprecated
      if (mode === "legacy") await client.setLoggingLevel("info");
      await client.callTool({ name: "mcp__one__work", ...(mode === "legacy" ? {} : { _meta }) });
      await until(() => heard.length > 0);
      expect(heard).toHaveLength(1);
      expect(heard[0]).toMatchObject({ level: "warning" });
      expect(JSON.stringify(heard)).not.toContain("secret-of-the-user");
      // A server of the older era is told once how much is wanted.
      await until(() => set.asked.some(({ method }) => method === "logging/setLevel"));
    },
  );
});

function hearing(client: Client): { all: string[]; next(news: string): Promise<void> } {
  const all: string[] = [];
  client.setNotificationHandler("notifications/prompts/list_changed", () => {
    all.push("prompts");
  });
  client.setNotificationHandler("notifications/resources/list_changed", () => {
    all.push("resources");
  });
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    all.push(`updated ${params.uri}`);
  });
  return { all, next: (news) => until(() => all.includes(news)) };
}

/** Looks again with every turn of the loop; the test's own time limit ends it. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await setTimeout(5);
}
