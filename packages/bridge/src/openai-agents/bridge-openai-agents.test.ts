// The bridge on a stand-in for the SDK, which is not installed here; test/bridge runs it on the real one.

import { createKernel, createMemoryJournal, defineTool } from "@soong/core";
import { expect, test, vi } from "vitest";
import { createHostApprovals } from "../kernel/index.ts";
import {
  bridgeOpenAiAgents,
  type OpenAiAgentsBridge,
  type OpenAiAgentsOptions,
} from "./bridge-openai-agents.ts";
import type { AgentsModel, AgentsRequest, AgentsTool } from "./types.ts";

vi.mock("@openai/agents", () => ({ tool: () => ({ needsApproval: async () => false }) }));

const CONTEXT = { isToolApproved: () => true };

test.each([
  ["notes__write", "whole"],
  ["notes.write", "whole"],
  ["notes__write", "streamed"],
  ["notes.write", "streamed"],
] as const)(
  "a call of %s, which the agent was not given, is not executed: %s",
  async (name, way) => {
    const { bridge, log, listEnds } = await open();
    const tools = bridge.tools.filter((tool) => tool.name === "notes__read");
    const { call } = await playAnswer(bridge, tools, { name, way });
    const error = { kind: "tool_not_found", toolName: call.name, callId: call.callId };
    const text = await bridge.runOptions.toolErrorFormatter(error);
    expect(text).toMatch(/was not offered to the model/);
    expect(log).toEqual([]);
    expect(listEnds()).toEqual(['tool.denied c1 {"id":1}']);
  },
);

test("a call of an unknown tool gets the kernel's answer", async () => {
  const { bridge, listEnds } = await open();
  const { call } = await playAnswer(bridge, bridge.tools, { name: "notes__wrote" });
  const error = { kind: "tool_not_found", toolName: call.name, callId: call.callId };
  const text = await bridge.runOptions.toolErrorFormatter(error);
  expect(text).toMatch(/There is no tool "notes__wrote"/);
  expect(listEnds()).toEqual(['tool.denied c1 {"id":1}']);
});

test("after a restart it is on record with the arguments that the next request has", async () => {
  const { bridge, log, listEnds } = await open();
  const tools = bridge.tools.filter((tool) => tool.name === "notes__read");
  const error = { kind: "tool_not_found", toolName: "notes__write", callId: "c0" };
  expect(await bridge.runOptions.toolErrorFormatter(error)).toBeUndefined();
  const input = [createCall("c0", "notes__write", '{"id":7}')];
  await playAnswer(bridge, tools, { name: "notes__read", input });
  expect(listEnds()).toEqual(['tool.denied c0 {"id":7}']);
  expect(log).toEqual([]);
});

test("a call of a tool that the SDK knows and the request did not contain is not executed, approved or not", async () => {
  const { bridge, log } = await open({ approvals: createHostApprovals() });
  const tools = bridge.tools.filter((tool) => tool.name === "notes__read");
  await playAnswer(bridge, tools, { name: "notes__write" });
  const write = findTool(bridge, "notes__write");
  expect(await write.needsApproval(CONTEXT, { id: 1 }, "c1")).toBe(false);
  const output = await write.invoke(CONTEXT, '{"id":1}', { toolCall: { callId: "c1" } });
  expect(output).toMatch(/was not offered to the model/);
  expect(log).toEqual([]);
});

test("a call of a tool that was in the request, by its canonical name, is executed", async () => {
  const { bridge, log } = await open();
  const { call } = await playAnswer(bridge, bridge.tools, { name: "notes.write" });
  expect(call.name).toBe("notes__write");
  const details = { toolCall: { callId: call.callId } };
  const output = await findTool(bridge, call.name).invoke(CONTEXT, call.arguments, details);
  expect(output).toBe("wrote 1");
  expect(log).toEqual(["write 1"]);
});

test("a tool of the user with the name of one of ours is an error", async () => {
  const { bridge } = await open();
  const parameters = structuredClone(bridge.tools[0]!.parameters);
  const tools = bridge.tools.map((tool, at) => (at === 0 ? { ...tool, parameters } : tool));
  await expect(playAnswer(bridge, tools, { name: "notes__read" })).rejects.toThrow(
    `a tool ${tools[0]!.name} that is not the one of this bridge`,
  );
  const described = bridge.tools.map((tool) => ({ ...tool, description: "Described anew" }));
  await expect(playAnswer(bridge, described, { name: "notes__read" })).resolves.toBeDefined();
});

test("a kernel in place of a run is an error that says what to pass", async () => {
  const kernel: unknown = createKernel();
  await expect(
    bridgeOpenAiAgents(kernel as Parameters<typeof bridgeOpenAiAgents>[0]),
  ).rejects.toThrow("bridgeOpenAiAgents() takes a run");
});

async function open({ approvals }: OpenAiAgentsOptions = {}) {
  const log: string[] = [];
  const input_schema = {
    type: "object",
    properties: { id: { type: "integer" } },
    required: ["id"],
  } as const;
  const read = defineTool({
    name: "notes.read",
    description: "Read a note",
    input_schema,
    permission: "readonly",
    handler: () => "a note",
  });
  const write = defineTool({
    name: "notes.write",
    description: "Write a note",
    input_schema,
    handler: ({ id }) => {
      log.push(`write ${id}`);
      return `wrote ${id}`;
    },
  });
  const journal = createMemoryJournal();
  const run = await createKernel({ tools: [read, write] }).startRun({
    journal,
    ...(approvals
      ? { ask: approvals.ask }
      : { policy: { rules: [{ tool: "notes.write", decision: "allow" }] } }),
  });
  const bridge = await bridgeOpenAiAgents(run, approvals ? { approvals } : {});
  const listEnds = (): string[] => {
    const inputs = new Map<unknown, unknown>();
    return journal.facts.flatMap((fact) => {
      if (fact.type === "tool.requested") inputs.set(fact.tool_call_id, fact.data.model_input);
      if (fact.type !== "tool.completed" && fact.type !== "tool.denied") return [];
      return [`${fact.type} ${fact.tool_call_id} ${String(inputs.get(fact.tool_call_id))}`];
    });
  };
  return { bridge, log, listEnds };
}

/** As the SDK does: a request with these tools, whose answer has one call. */
async function playAnswer(
  bridge: OpenAiAgentsBridge,
  tools: readonly AgentsTool[],
  {
    name,
    way = "whole",
    input = [],
  }: { name: string; way?: "whole" | "streamed"; input?: object[] },
) {
  const model = bridge.model(new ScriptedModel(createCall("c1", name, '{"id":1}')));
  const request = { input, tools, handoffs: [] };
  let output: readonly object[] = [];
  if (way === "whole") ({ output } = await model.getResponse(request));
  else {
    for await (const event of model.getStreamedResponse(request)) {
      if ("response" in event) ({ output } = event.response as { output: object[] });
    }
  }
  return { call: output[0] as ReturnType<typeof createCall> };
}

function findTool({ tools }: OpenAiAgentsBridge, name: string): AgentsTool {
  return tools.find((tool) => tool.name === name)!;
}

function createCall(callId: string, name: string, text: string) {
  return { type: "function_call", callId, name, arguments: text };
}

class ScriptedModel implements AgentsModel {
  readonly #call: ReturnType<typeof createCall>;

  constructor(call: ReturnType<typeof createCall>) {
    this.#call = call;
  }

  async getResponse(_request: AgentsRequest) {
    return { output: [this.#call] };
  }

  async *getStreamedResponse(_request: AgentsRequest) {
    const { callId: call_id, ...item } = this.#call;
    const event = { type: "response.output_item.done", item: { ...item, call_id } };
    yield { type: "model", event };
    yield { type: "response_done", response: { output: [this.#call] } };
  }
}
