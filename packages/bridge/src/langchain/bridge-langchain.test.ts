// The bridge on a stand-in for LangChain, which is not installed here; test/bridge runs it on the real one.

import {
  createKernel,
  defineTool,
  type AnyTool,
  type RunOptions,
  type SessionOptions,
} from "@soong/core";
import { describe, expect, test, vi } from "vitest";
import { verifies } from "#laws";
import { createHostApprovals } from "../kernel/index.ts";
import type { ApprovalPause } from "./approval-pause.ts";
import { bridgeLangChain, type LangChainBridge } from "./bridge-langchain.ts";

const { FakeMessage } = vi.hoisted(() => ({
  FakeMessage: class {
    constructor(fields: object) {
      Object.assign(this, fields);
    }
    static isInstance(value: unknown): boolean {
      return value instanceof this;
    }
  },
}));

vi.mock("langchain", () => ({
  AIMessage: FakeMessage,
  ToolMessage: FakeMessage,
  createMiddleware: (config: object) => config,
  tool: (execute: (input: unknown, config: unknown) => unknown, fields: object) => ({
    ...fields,
    invoke: async (toolCall: Call, config: object) =>
      execute(toolCall.args, { ...config, toolCall }),
  }),
}));

const ALLOW = { policy: { rules: [{ tool: "notes.write", decision: "allow" as const }] } };

describe("a tool that the agent was not given", () => {
  test.each(["notes__write", "notes.write", "write_note"])(
    "is not executed when the model calls %s, and the model learns that",
    async (name) => {
      verifies("MODEL-6");
      const { bridge, log } = await open(ALLOW);
      const agent = openAgent(bridge, pick(bridge, "notes__read"));
      const message = await agent.answer([call("c1", 1, name), call("c2", 2, "notes__read")]);
      expect(agent.offered).toEqual(["notes__read"]);
      const content = expect.stringContaining("not offered") as string;
      expect(await agent.execute(message)).toMatchObject([
        { tool_call_id: "c1", status: "error", content },
        { tool_call_id: "c2", status: "success", content: "read 2" },
      ]);
      expect(log).toEqual(["read 2"]);
    },
  );

  test("is not executed in another process either", async () => {
    const first = await open(ALLOW);
    const given = openAgent(first.bridge, pick(first.bridge, "notes__read"));
    const message = await given.answer([call("c1", 1, "notes.write")]);
    const second = await open(ALLOW);
    const agent = openAgent(second.bridge, pick(second.bridge, "notes__read"));
    expect(await agent.execute(structuredClone(message))).toMatchObject([{ status: "error" }]);
    // An answer of an agent that had it, continued by one that has not.
    const plain = { id: "m2", tool_calls: [call("c2", 2)] };
    expect(await agent.execute(plain)).toMatchObject([{ status: "error" }]);
    expect(second.log).toEqual([]);
  });

  test("is not executed if another middleware took it out of this request only", async () => {
    const { bridge, log } = await open(ALLOW);
    const agent = openAgent(bridge, bridge.tools);
    const message = await agent.answer([call("c1", 1)], pick(bridge, "notes__read"));
    expect(await agent.execute(message)).toMatchObject([{ status: "error" }]);
    await agent.execute(await agent.answer([call("c2", 2)]));
    expect(log).toEqual(["write 2"]);
  });

  test("is none that was added to the kernel later, unless the agent has chosen its tools", async () => {
    const { bridge, kernel, log } = await open(ALLOW);
    kernel.registry.open({ id: "more", kind: "code", tools: [note(log, "list", "readonly")] });
    const all = openAgent(bridge, bridge.tools);
    await all.execute(await all.answer([call("c1", 1, "notes__list")]));
    expect(all.offered).toContain("notes__list");
    const some = openAgent(bridge, pick(bridge, "notes__read"));
    await some.execute(await some.answer([call("c2", 2, "notes__list")]));
    expect(some.offered).toEqual(["notes__read"]);
    expect(log).toEqual(["list 1"]);
  });
});

test("a tool of the agent's own with the name of one of ours is an error, wherever it is in the list", async () => {
  const { bridge } = await open();
  const mine = { name: "notes__read", invoke: async () => "mine" };
  for (const tools of [
    [mine, ...bridge.tools],
    [...bridge.tools, mine],
  ]) {
    await expect(openAgent(bridge, tools).answer([])).rejects.toThrow(
      "The agent has a tool notes__read that is not the one of this bridge",
    );
  }
});

test("tools of the agent's own are executed by LangChain", async () => {
  const { bridge, log } = await open();
  const mine = { name: "mine", invoke: async () => "mine" };
  const agent = openAgent(bridge, [...bridge.tools, mine]);
  expect(await agent.execute(await agent.answer([call("c1", 1, "mine")]))).toEqual(["mine"]);
  expect(log).toEqual([]);
});

test.each(["v1", "v2"] as const)(
  "two calls that are alike, with one id, both run: %s",
  async (version) => {
    const { bridge, log } = await open(ALLOW);
    const agent = openAgent(bridge, bridge.tools, version);
    const message = await agent.answer([call("c1", 1), call("c1", 1)]);
    expect(await agent.execute(message)).toHaveLength(2);
    expect(log).toEqual(["write 1", "write 1"]);
    await agent.execute(message);
    expect(log).toHaveLength(2);
  },
);

test("what is no run is named", async () => {
  const kernel: unknown = createKernel();
  await expect(bridgeLangChain(kernel as never)).rejects.toThrow("bridgeLangChain() takes a run");
});

describe("approvals by the host", () => {
  const yes = { type: "approve" };
  const no = { type: "reject" };

  test.each(["in this process", "after a restart"])(
    "one answer does not approve several calls, %s",
    async (when) => {
      verifies("MODEL-6");
      const { agent, message, log } = await pause([call("c1", 1), call("c2", 2)], when);
      const results = await agent.execute(message, { shared: { decisions: [yes] } });
      const content = expect.stringContaining("which of several calls") as string;
      expect(results).toMatchObject([{ content }, { content }]);
      expect(log).toEqual([]);
    },
  );

  test.each(["in this process", "after a restart"])(
    "a list has one decision for each call that waits, in call order, %s",
    async (when) => {
      const calls = [call("c1", 1), call("c2", 2, "notes__read"), call("c3", 3), call("c4", 4)];
      const { agent, message, log } = await pause(calls, when);
      await agent.execute(message, { shared: { decisions: [yes, no, yes] } });
      expect(log.filter((entry) => entry.startsWith("write"))).toEqual(["write 1", "write 4"]);
    },
  );

  test.each(["in this process", "after a restart"])(
    "a single call takes an answer without an id, %s",
    async (when) => {
      const { agent, message, log } = await pause([call("c1", 1)], when);
      await agent.execute(message, { shared: { decisions: [yes] } });
      expect(log).toEqual(["write 1"]);
    },
  );

  test("an answer by the id of its interrupt is for that call, and the others wait", async () => {
    const { agent, message, log } = await pause([call("c1", 1), call("c2", 2)]);
    const [first, second] = await agent.execute(message, { byTask: { 0: { decisions: [yes] } } });
    expect(first).toMatchObject({ content: "write 1" });
    expect(second).toMatchObject({ tool_call_id: "c2" });
    // The last one waits alone.
    await agent.execute(message, { shared: { decisions: [yes] } });
    expect(log).toEqual(["write 1", "write 2"]);
  });

  test("of two calls with one id each has its own answer", async () => {
    const { agent, message, log } = await pause([call("c1", 1), call("c1", 2)]);
    const byTask = { 0: { decisions: [yes] }, 1: { decisions: [no] } };
    await agent.execute(message, { byTask });
    expect(log).toEqual(["write 1"]);
  });

  test("where all calls are one task, only a call that waits alone pauses", async () => {
    const { bridge, log } = await openWithHost();
    const agent = openAgent(bridge, bridge.tools, "v1");
    const two = await agent.answer([call("c1", 1), call("c2", 2)]);
    const results = await agent.execute(two);
    const content = expect.stringContaining("one at a time") as string;
    expect(results).toMatchObject([{ content }, { content }]);
    const one = await agent.answer([call("c3", 3)]);
    expect(await agent.execute(one)).toMatchObject([{ tool_call_id: "c3", actionRequests: [{}] }]);
    await agent.execute(one, { shared: { decisions: [yes] } });
    expect(log).toEqual(["write 3"]);
  });
});

// ── the stage ─────────────────────────────────────────────────────────────────────────────────────

interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: { readonly id: number };
}

interface Message {
  readonly id: string;
  readonly tool_calls: readonly Call[];
}

interface Middleware {
  wrapModelCall(request: object, handler: (request: ModelRequest) => Promise<unknown>): unknown;
  wrapToolCall(request: object, handler: (request: ToolRequest) => Promise<unknown>): unknown;
}

interface ModelRequest {
  readonly tools: readonly { readonly name: string }[];
}

interface ToolRequest {
  readonly tool: { invoke(call: Call, config: object): Promise<unknown> };
}

interface Resume {
  /** `new Command({ resume })` without an id. */
  readonly shared?: object;
  /** By the id of the interrupt, which is the task's. */
  readonly byTask?: Readonly<Record<number, object>>;
}

interface Agent {
  readonly offered: string[];
  answer(calls: readonly Call[], tools?: readonly { name: string }[]): Promise<Message>;
  /** The result of each call, or the value of its interrupt. */
  execute(message: Message, resume?: Resume): Promise<unknown[]>;
}

class Paused extends Error {
  readonly value: ApprovalPause;

  constructor(value: ApprovalPause) {
    super("paused");
    this.value = value;
  }
}

/** As `createAgent` calls a middleware and its tools: in `v2` each call is a task, in `v1` all of them are one. */
function openAgent(
  bridge: LangChainBridge,
  tools: readonly { name: string }[],
  version: "v1" | "v2" = "v2",
): Agent {
  const middleware = bridge.middleware as LangChainBridge["middleware"] & Middleware;
  const offered: string[] = [];
  let answers = 0;
  return {
    offered,
    async answer(tool_calls, given = tools) {
      answers += 1;
      const id = `m${answers}`;
      return (await middleware.wrapModelCall({ tools: given }, async (request) => {
        offered.splice(0, offered.length, ...request.tools.map(({ name }) => name));
        return new FakeMessage({ id, tool_calls, response_metadata: {} });
      })) as Message;
    },
    execute: (message, { shared, byTask } = {}) =>
      Promise.all(
        message.tool_calls.map(async (toolCall, at) => {
          const state = {
            messages: [message],
            ...(version === "v2" && { lg_tool_call: toolCall }),
          };
          const resume = byTask?.[at] === undefined ? [] : [byTask[at]];
          const scratchpad = { resume, interruptCounter: -1, nullResume: shared };
          const configurable = {
            thread_id: "1",
            checkpoint_ns: version === "v2" ? `tools:${message.id}:${at}` : "tools",
            __pregel_scratchpad: scratchpad,
          };
          const interrupt = (value: ApprovalPause): unknown => {
            scratchpad.interruptCounter += 1;
            const answer = resume[scratchpad.interruptCounter] ?? shared;
            if (answer === undefined) throw new Paused(value);
            return answer;
          };
          const tool = tools.find(({ name }) => name === toolCall.name);
          try {
            return await middleware.wrapToolCall({ toolCall, tool, state }, async (request) =>
              request.tool.invoke(toolCall, { state, configurable, interrupt }),
            );
          } catch (error) {
            if (error instanceof Paused) return error.value;
            throw error;
          }
        }),
      ),
  };
}

interface Opened {
  readonly bridge: LangChainBridge;
  readonly kernel: ReturnType<typeof createKernel>;
  readonly log: string[];
}

async function open(options: SessionOptions & RunOptions = {}): Promise<Opened> {
  const log: string[] = [];
  const kernel = createKernel({ tools: defineNotes(log) });
  return { bridge: await bridgeLangChain(await kernel.startRun(options)), kernel, log };
}

async function openWithHost(log: string[] = []): Promise<Opened> {
  const approvals = createHostApprovals();
  const kernel = createKernel({ tools: defineNotes(log) });
  const run = await kernel.startRun({ ask: approvals.ask });
  return { bridge: await bridgeLangChain(run, { approvals }), kernel, log };
}

/** An agent that waits for the answers of a user. */
async function pause(
  calls: readonly Call[],
  when = "in this process",
): Promise<{ agent: Agent; message: Message; log: string[] }> {
  const { bridge, log } = await openWithHost();
  const agent = openAgent(bridge, bridge.tools);
  const message = await agent.answer(calls);
  await agent.execute(message);
  if (when === "in this process") return { agent, message, log };
  const later = (await openWithHost(log)).bridge;
  return { agent: openAgent(later, later.tools), message: structuredClone(message), log };
}

function defineNotes(log: string[]): AnyTool[] {
  return [note(log, "read", "readonly"), note(log, "write")];
}

function note(log: string[], verb: string, permission?: "readonly"): AnyTool {
  return defineTool({
    name: `notes.${verb}`,
    description: verb,
    aliases: [`${verb}_note`],
    input_schema: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
    ...(permission && { permission, concurrency_safe: true }),
    handler: ({ id }) => {
      log.push(`${verb} ${id}`);
      return `${verb} ${id}`;
    },
  });
}

function pick({ tools }: LangChainBridge, ...names: string[]): LangChainBridge["tools"] {
  return tools.filter(({ name }) => names.includes(name));
}

function call(id: string, note_id: number, name = "notes__write"): Call {
  return { id, name, args: { id: note_id } };
}
