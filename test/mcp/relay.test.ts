// The relay over servers that hang, flood and never end a list: by a clock the test holds.

import { setImmediate } from "node:timers/promises";
import { createRegistry, type Clock, type JsonObject } from "@soong/core";
import { createPins, McpRequestFailure, openMcpServers, type McpServers } from "@soong/mcp";
import { afterEach, expect, it } from "vitest";
import { openRelay, type Relay } from "../../packages/mcp/src/relay/relay.ts";
import {
  entryOf,
  scriptedConnection,
  scriptedServer,
  type ScriptedConnection,
  type ScriptedServer,
} from "./source-stage.ts";

const anything = (): boolean => true;
const names = async (relay: Relay): Promise<string[]> =>
  (await relay.prompts(anything)).map(({ name }) => name);

let servers: McpServers | undefined;
let relay: Relay | undefined;

afterEach(async () => {
  relay?.close();
  await servers?.close();
});

it("a server that hangs costs its own prompts only, and is skipped for a while", async () => {
  let asked = 0;
  const slow: ScriptedServer["request"] = (_method, _params, { signal }) => {
    asked += 1;
    return new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new McpRequestFailure("aborted", "aborted")));
    });
  };
  const set = await stage({ slow, quick: lists({ name: "greet" }) });
  const listed = names(set.relay);
  await turn();
  set.clock.pass(10_000);
  expect(await listed).toEqual(["quick__greet"]);
  expect(set.problems).toEqual(["prompts/list: no whole list within 10000 ms"]);
  expect(await names(set.relay)).toEqual(["quick__greet"]);
  expect(asked).toBe(1);
  set.clock.pass(15_000);
  const again = names(set.relay);
  await turn();
  expect(asked).toBe(2);
  set.clock.pass(10_000);
  expect(await again).toEqual(["quick__greet"]);
});

it("a list that never ends is ended, and one that is no list has nothing", async () => {
  let page = 0;
  const endless: ScriptedServer["request"] = async () => {
    page += 1;
    return { prompts: [{ name: `p${page}` }], nextCursor: `c${page}` };
  };
  const wrong: ScriptedServer["request"] = async () => ({ prompts: "many" });
  const set = await stage({ endless, wrong });
  const listed = await names(set.relay);
  expect(listed).toHaveLength(50);
  expect(set.problems.join("\n")).toContain("more than 50 pages");
  expect(set.problems.join("\n")).toContain("has no list");
});

it("a flood of notifications is sent at once, and then once a second", async () => {
  const set = await stage({ one: lists({ name: "greet" }) });
  set.clock.pass(1_000);
  const told: string[] = [];
  set.relay.onChange(({ kind }) => told.push(kind));
  for (let n = 0; n < 100; n += 1) set.connections[0]?.tells({ kind: "prompts_changed" });
  expect(told).toEqual(["prompts"]);
  set.clock.pass(1_000);
  expect(told).toEqual(["prompts", "prompts"]);
  set.clock.pass(5_000);
  expect(told).toHaveLength(2);
});

it("of two servers whose names fit, the one that lists the prompt has it", async () => {
  const set = await stage({ a: lists({ name: "x" }), a__b: lists({ name: "c" }) });
  const call = await set.relay.promptCall("a__b__c", undefined, anything);
  expect(call).toEqual({ tool_name: "mcp.a__b.@get_prompt", arguments: { name: "c" } });
  const unlisted = await set.relay.promptCall("a__b__d", { n: "1" }, anything);
  expect(unlisted).toMatchObject({
    tool_name: "mcp.a.@get_prompt",
    arguments: { name: "b__d", arguments: { n: "1" } },
  });
  const may = (tool_name: string): boolean => tool_name !== "mcp.a__b.@get_prompt";
  expect(await set.relay.promptCall("a__b__c", undefined, may)).toMatchObject({
    tool_name: "mcp.a.@get_prompt",
  });
});

it("a tool that is switched off is not offered, and one that a server calls like ours is not ours", async () => {
  const set = await stage({ one: lists({ name: "greet" }) }, { disabled_tools: ["@get_prompt"] }, [
    { name: "@read_resource", inputSchema: { type: "object" } },
  ]);
  const tools = [...set.registry.snapshot().tools.values()];
  expect(tools.map(({ name }) => name)).toEqual(["mcp.one.@read_resource"]);
  expect(tools[0]?.definition.metadata).toEqual({
    server_id: "one",
    server_method: "resources/read",
  });
});

function lists(...prompts: JsonObject[]): ScriptedServer["request"] {
  return async (method): Promise<JsonObject> =>
    method === "prompts/list" ? { prompts } : { resources: [] };
}

async function stage(
  requests: Readonly<Record<string, ScriptedServer["request"]>>,
  entry: Parameters<typeof entryOf>[1] = {},
  tools: ScriptedServer["tools"] = [],
) {
  const registry = createRegistry();
  const connections: ScriptedConnection[] = [];
  const problems: string[] = [];
  servers = openMcpServers({
    entries: Object.keys(requests).map((id) => entryOf(id, entry)),
    registry,
    pins: await createPins({ load: async () => undefined, save: async () => {} }),
    connect({ server_id }) {
      const request = requests[server_id];
      const capabilities = { prompts: {}, resources: {} };
      const script = { tools, capabilities, ...(request === undefined ? {} : { request }) };
      const connection = scriptedConnection(server_id, scriptedServer(script));
      connections.push(connection);
      return connection;
    },
  });
  const clock = heldClock();
  const opened = openRelay({ servers, clock, onProblem: (problem) => problems.push(problem) });
  relay = opened;
  await servers.ready(new AbortController().signal, 60_000);
  return { registry, connections, problems, clock, relay: opened };
}

/** Until whatever was asked has arrived where it is answered. */
async function turn(): Promise<void> {
  await setImmediate();
}

function heldClock(): Clock & { pass(ms: number): void } {
  let now = 0;
  const timers = new Set<{ at: number; run: () => void }>();
  return {
    now: () => now,
    monotonic: () => now,
    after(ms, run) {
      const timer = { at: now + ms, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    pass(ms) {
      now += ms;
      for (const timer of [...timers].filter(({ at }) => at <= now)) {
        if (timers.delete(timer)) timer.run();
      }
    },
  };
}
