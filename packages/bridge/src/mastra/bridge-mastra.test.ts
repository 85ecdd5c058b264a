// The bridge on a stand-in for Mastra, which is not installed here; test/bridge runs it on the real one.

import { createKernel, createMemoryJournal, defineTool } from "@soong/core";
import { expect, test, vi } from "vitest";
import { createHostApprovals } from "../kernel/index.ts";
import { bridgeMastra, type MastraBridge, type MastraOptions } from "./bridge-mastra.ts";
import { STRAY_TOOL } from "./stray-calls.ts";
import type { MastraModel, MastraRequest, MastraStreamPart, MastraTool } from "./types.ts";

vi.mock("@mastra/core/tools", () => ({ createTool: (options: object) => options }));

test.each(["notes__write", "notes.write"])(
  "a call of %s, which was not in the request, is not executed",
  async (name) => {
    const { bridge, log, listEnds } = await open();
    const { notes__read } = bridge.tools;
    const stray = await playCall(bridge, { notes__read: notes__read! }, name);
    expect(stray.toolName).toBe(STRAY_TOOL);
    expect(stray.outcome).toMatch(/was not offered to the model/);
    expect(log).toEqual([]);
    expect(listEnds()).toEqual(["tool.denied c1"]);
  },
);

test("a call of a tool that was in the request, by its canonical name, is executed", async () => {
  const { bridge, log } = await open();
  const call = await playCall(bridge, bridge.tools, "notes.write");
  expect(call.toolName).toBe("notes__write");
  expect(call.outcome).toEqual({ text: "wrote 1" });
  expect(log).toEqual(["write 1"]);
});

test("while a call waits for its user, an execution from elsewhere is not approved", async () => {
  const { bridge, log } = await open({ approvals: createHostApprovals() });
  const write = bridge.tools["notes__write"]!;
  write.onInputAvailable!({ toolCallId: "c1", input: { id: 1 } });
  expect(await write.requireApproval!({ id: 1 })).toBe(true);
  for (const context of [{}, { agent: { toolCallId: "c2" } }]) {
    await expect(write.execute({ id: 1 }, context)).rejects.toThrow("needs approval");
  }
  await expect(write.execute({ id: 2 }, { agent: { toolCallId: "c1" } })).rejects.toThrow(
    "has changed since it was approved",
  );
  expect(log).toEqual([]);
});

test("the approved call itself is executed, once", async () => {
  const { bridge, log } = await open({ approvals: createHostApprovals() });
  const write = bridge.tools["notes__write"]!;
  write.onInputAvailable!({ toolCallId: "c1", input: { id: 1 } });
  await write.requireApproval!({ id: 1 });
  const context = { agent: { toolCallId: "c1" } };
  expect(await write.execute({ id: 1 }, context)).toEqual({ text: "wrote 1" });
  await expect(write.execute({ id: 1 }, context)).rejects.toThrow("needs approval");
  expect(log).toEqual(["write 1"]);
});

test("at the next request, a call that was paused for and not executed is on record, and others are forgotten", async () => {
  const { bridge, log, listEnds } = await open({ approvals: createHostApprovals() });
  const write = bridge.tools["notes__write"]!;
  for (const [at, toolCallId] of ["c1", "c2"].entries()) {
    write.onInputAvailable!({ toolCallId, input: { id: at + 1 } });
  }
  await write.requireApproval!({ id: 1 });
  const call = { toolCallId: "c1", toolName: "notes__write" };
  const output = { type: "text", value: "not approved" };
  const { model } = await bridge.options.prepareStep({ model: new ScriptedModel("notes__read") });
  await model.doStream({
    prompt: [
      { role: "assistant", content: [{ ...call, type: "tool-call", input: { id: 1 } }] },
      { role: "tool", content: [{ ...call, type: "tool-result", output }] },
    ],
  });
  expect(listEnds()).toEqual(["tool.denied c1"]);
  expect(await write.requireApproval!({ id: 2 })).toBe(false);
  expect(log).toEqual([]);
});

test("a tool of the user with the name of one of ours is an error", async () => {
  const { bridge } = await open();
  const tools = { ...bridge.tools, notes__read: { ...bridge.tools["notes__read"], id: "mine" } };
  const model = new ScriptedModel("notes__read");
  await expect(bridge.options.prepareStep({ model, tools })).resolves.toBeDefined();
  const mine = { id: "notes__read", description: "Mine", execute: () => "mine" };
  await expect(
    bridge.options.prepareStep({ model, tools: { ...bridge.tools, notes__read: mine } }),
  ).rejects.toThrow("a tool notes__read that is not the one of this bridge");
});

test("a kernel in place of a run is an error that says what to pass", async () => {
  const kernel: unknown = createKernel();
  await expect(bridgeMastra(kernel as Parameters<typeof bridgeMastra>[0])).rejects.toThrow(
    "bridgeMastra() takes a run",
  );
});

async function open({ approvals }: MastraOptions = {}) {
  const log: string[] = [];
  const input_schema = { type: "object", properties: { id: { type: "integer" } } } as const;
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
  const bridge = await bridgeMastra(run, approvals ? { approvals } : {});
  const listEnds = (): string[] =>
    journal.facts
      .filter(({ type }) => type === "tool.completed" || type === "tool.denied")
      .map(({ type, tool_call_id }) => `${type} ${tool_call_id}`);
  return { bridge, log, listEnds };
}

/** As Mastra does: a step with these tools, whose answer has one call; that is executed. */
async function playCall(bridge: MastraBridge, tools: Record<string, MastraTool>, name: string) {
  const step = await bridge.options.prepareStep({ model: new ScriptedModel(name), tools });
  const offered = step.activeTools.map((one) => ({ name: one }));
  const { stream } = await step.model.doStream({ prompt: [], tools: offered });
  const calls: ScriptedCall[] = [];
  for await (const part of stream) if (part.type === "tool-call") calls.push(part as ScriptedCall);
  const { toolCallId, toolName, input } = calls[0]!;
  const tool = step.tools[toolName] as MastraTool;
  const outcome = await tool
    .execute(JSON.parse(input), { agent: { toolCallId } })
    .catch((error: unknown) => (error as Error).message);
  return { toolName, outcome };
}

interface ScriptedCall extends MastraStreamPart {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: string;
}

class ScriptedModel implements MastraModel {
  readonly provider = "scripted.chat";
  readonly #toolName: string;

  constructor(toolName: string) {
    this.#toolName = toolName;
  }

  async doGenerate(request: MastraRequest) {
    return this.doStream(request);
  }

  async doStream(_request: MastraRequest) {
    const toolName = this.#toolName;
    const call = { type: "tool-call", toolCallId: "c1", toolName, input: '{"id":1}' };
    const finish = { type: "finish", finishReason: "tool-calls" };
    return { stream: ReadableStream.from<MastraStreamPart>([call, finish]) };
  }
}
