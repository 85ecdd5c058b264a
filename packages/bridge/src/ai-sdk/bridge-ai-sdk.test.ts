// The bridge on a structural model and loop; test/bridge runs it on the real SDK.

import {
  createKernel,
  createMemoryJournal,
  defineHook,
  defineTool,
  type AnyTool,
  type RunOptions,
  type SessionOptions,
} from "@soong/core";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { createHostApprovals } from "../kernel/index.ts";
import { bridgeAiSdk, type AiSdkBridge, type AiSdkOptions } from "./bridge-ai-sdk.ts";
import type { BridgedOutput } from "./bridged-output.ts";
import type { AnswerPart, ModelRequest, PromptMessage } from "./peer-types.ts";

const DONE: AnswerPart = { type: "finish", finishReason: { unified: "tool-calls" } };

test("a read starts while the answer still streams, a write when it has ended", async () => {
  verifies("MODEL-6");
  const { bridge, log } = await open();
  const answer = openStream(bridge);
  await answer.send(callPart("c1", "notes__read", { id: 1 }));
  await answer.send(callPart("c2", "notes__write", { id: 2 }));
  await settle();
  expect(log).toEqual(["read 1"]);
  await answer.send(DONE);
  await settle();
  expect(log).toEqual(["read 1", "write 2"]);
  expect(await execute(bridge, "notes__write", "c2")).toMatchObject({
    status: "succeeded",
    content: [{ type: "text", text: "wrote 2" }],
  });
  expect(log).toHaveLength(2);
});

test.each([
  ["fails", async (answer: OpenStream) => answer.fail()],
  ["is cancelled", async (answer: OpenStream) => answer.cancel()],
  ["ends without its last part", async (answer: OpenStream) => answer.close()],
  [
    "was cut off",
    async (answer: OpenStream) => answer.send({ type: "finish", finishReason: "length" }),
  ],
])("an answer that %s has written nothing, and its calls end as discarded", async (_, breakOff) => {
  const { bridge, log, journal } = await open();
  const answer = openStream(bridge);
  await answer.send(callPart("c1", "notes__read", { id: 1 }));
  await answer.send(callPart("c2", "notes__write", { id: 2 }));
  await breakOff(answer);
  await settle();
  expect(log).toEqual(["read 1"]);
  expect(journal.facts.filter(({ type }) => type === "tool.discarded")).toHaveLength(2);
});

test("arguments that are no JSON reach the kernel as they are, and its explanation the model", async () => {
  const { bridge, log, journal } = await open();
  const [part] = await generate(bridge, [textPart("c1", "notes__read", '{"id": 1,')]);
  expect(() => JSON.parse(String(part?.input)) as unknown).not.toThrow();
  const output = await execute(bridge, "notes__read", "c1");
  expect(output).toMatchObject({ is_error: true });
  expect(bridge.tools["notes__read"]?.toModelOutput({ output })).toMatchObject({
    type: "error-text",
    value: expect.stringContaining("not valid JSON") as string,
  });
  expect(log).toEqual([]);
  const requested = journal.facts.find(({ type }) => type === "tool.requested");
  expect(requested?.data).toMatchObject({ model_input: '{"id": 1,' });
});

test("no arguments at all are an empty object", async () => {
  const { bridge, log } = await open();
  const [part] = await generate(bridge, [textPart("c1", "notes__list", "")]);
  expect(part?.input).toBe("{}");
  await execute(bridge, "notes__list", "c1");
  expect(log).toEqual(["list"]);
});

test("a call of an unknown tool stays as the model made it, and the kernel's answer replaces the SDK's", async () => {
  const { bridge } = await open();
  const given = callPart("c1", "notes__raed", { id: 1 });
  expect(await generate(bridge, [given])).toEqual([given]);
  const said = { type: "error-text", value: "Model tried to call unavailable tool" };
  const result = { type: "tool-result", toolCallId: "c1", toolName: "notes__raed", output: said };
  const { prompt } = await ask(bridge, [{ role: "tool", content: [result] }]);
  const value = expect.stringContaining("There is no tool") as string;
  const explained = { ...result, output: { type: "error-text", value } };
  expect(prompt).toEqual([{ role: "tool", content: [explained] }]);
});

test("a canonical name or an alias becomes the name that the SDK knows", async () => {
  const { bridge, log } = await open();
  const parts = await generate(bridge, [
    callPart("c1", "notes.read", { id: 1 }),
    callPart("c2", "read_note", { id: 2 }),
  ]);
  expect(parts.map(({ toolName }) => toolName)).toEqual(["notes__read", "notes__read"]);
  await execute(bridge, "notes__read", "c2");
  expect(log).toEqual(["read 1", "read 2"]);
});

test("the user's own tools, the provider's, and tools that were not to be offered are left to the SDK", async () => {
  const { bridge, journal, log } = await open();
  const model = bridge.model(fakeModel());
  model.answer = [
    callPart("c1", "own", {}),
    { ...callPart("c2", "notes__read", { id: 2 }), providerExecuted: true },
    callPart("c3", "notes__write", { id: 3 }),
    callPart("c4", "notes.write", { id: 4 }),
  ];
  const offered = [...offer(bridge), { type: "function", name: "own" }];
  const tools = offered.filter(({ name }) => name !== "notes__write");
  const { content } = await model.doGenerate({ prompt: [], tools });
  expect(content).toEqual(model.answer);
  const refused = await model.doGenerate({
    prompt: [],
    tools: offered,
    toolChoice: { type: "none" },
  });
  expect(refused.content).toEqual(model.answer);
  await settle();
  expect(log).toEqual([]);
  expect(journal.facts.some(({ type }) => type === "tool.requested")).toBe(false);
});

test("of two calls with one id the second gets another, with the pieces of its input", async () => {
  const { bridge, log } = await open();
  const answer = openStream(bridge);
  const start = { type: "tool-input-start", id: "c1", toolName: "notes__read" };
  await answer.send(start);
  await answer.send(callPart("c1", "notes__read", { id: 1 }));
  expect(await answer.send(start)).toEqual({ ...start, id: "c1_2" });
  expect(await answer.send({ type: "tool-input-delta", id: "c1" })).toMatchObject({ id: "c1_2" });
  const second = await answer.send(callPart("c1", "notes__read", { id: 2 }));
  expect(second).toMatchObject({ toolCallId: "c1_2" });
  await answer.send(DONE);
  expect(await execute(bridge, "notes__read", "c1_2")).toMatchObject({
    content: [{ text: "note 2" }],
  });
  expect(await execute(bridge, "notes__read", "c1")).toMatchObject({
    content: [{ text: "note 1" }],
  });
  expect(log).toEqual(["read 1", "read 2"]);
});

test("two answers that stream at a time on one run do not mix up calls with one id", async () => {
  const { bridge } = await open();
  const [first, second] = [openStream(bridge), openStream(bridge)];
  await first.send(callPart("c1", "notes__read", { id: 1 }));
  const renamed = await second.send(callPart("c1", "notes__read", { id: 2 }));
  await second.send(DONE);
  await first.cancel();
  expect(await execute(bridge, "notes__read", renamed?.toolCallId ?? "")).toMatchObject({
    content: [{ text: "note 2" }],
  });
});

test("with a plain model the calls of one tick are one turn", async () => {
  const { bridge, log } = await open();
  const calls = [
    callTool(bridge, "notes__write", "c1", { id: -1 }),
    callTool(bridge, "notes__write", "c2", { id: 2 }),
  ];
  const outputs = await Promise.all(calls);
  expect(outputs.map(({ status }) => status)).toEqual(["failed", "skipped"]);
  expect(log).toEqual(["write -1"]);
});

test("after a hook ended the run no later call is executed", async () => {
  const stop = defineHook({
    id: "stop",
    event: "PreToolUse",
    tool: "notes.list",
    run: () => ({ stop: "enough" }),
  });
  const { bridge, log } = await open({ hooks: [stop] });
  await generate(bridge, [callPart("c1", "notes__list", {})]);
  await execute(bridge, "notes__list", "c1");
  const answer = openStream(bridge);
  for (const id of ["c2", "c3"]) {
    await answer.send(callPart(id, "notes__write", { id: 2 }));
    await settle();
  }
  await answer.send(DONE);
  expect(await execute(bridge, "notes__write", "c2")).toMatchObject({ is_error: true });
  expect(await execute(bridge, "notes__write", "c3")).toMatchObject({ is_error: true });
  expect(await callTool(bridge, "notes__write", "c4", { id: 4 })).toMatchObject({ is_error: true });
  expect(log).toEqual([]);
});

test("progress since the start of a call is yielded before its output", async () => {
  const { bridge } = await open();
  await generate(bridge, [callPart("c1", "notes__export", {})]);
  const yielded: BridgedOutput[] = [];
  for await (const output of iterate(bridge, "notes__export", "c1")) yielded.push(output);
  expect(yielded).toMatchObject([
    { status: "running", progress: { message: "half" } },
    { status: "succeeded", content: [{ text: "exported" }] },
  ]);
});

test("the signal of the loop aborts what runs", async () => {
  const { bridge } = await open();
  const loop = new AbortController();
  await generate(bridge, [callPart("c1", "notes__wait", {})], { abortSignal: loop.signal });
  const output = execute(bridge, "notes__wait", "c1");
  loop.abort(new Error("the user pressed stop"));
  expect(await output).toMatchObject({ status: "aborted", is_error: true });
});

test("a deferred tool is sent to the provider once it is loaded", async () => {
  const { bridge, run } = await open();
  const names = async (): Promise<unknown[]> =>
    (await ask(bridge, [])).tools?.map(({ name }) => name) ?? [];
  expect(Object.keys(bridge.tools)).toContain("notes__archive");
  expect(await names()).not.toContain("notes__archive");
  expect((await bridge.prepareStep()).activeTools).not.toContain("notes__archive");
  await run.execute([
    { id: "s1", name: "internal__search_tools", arguments: { query: "select:notes.archive" } },
  ]);
  expect(await names()).toContain("notes__archive");
  expect((await bridge.prepareStep()).activeTools).toContain("notes__archive");
});

test("a tool that changes is sent as it is now, and one that is gone no longer", async () => {
  const { bridge, kernel } = await open();
  const added = (description: string): AnyTool =>
    defineTool({
      name: "more.one",
      description,
      input_schema: { type: "object" },
      handler: () => 1,
    });
  const source = kernel.registry.open({ id: "more", kind: "code", tools: [added("old")] });
  const run = await kernel.startRun();
  const later = await bridgeAiSdk(run);
  source.set([added("new")]);
  const find = async (): Promise<unknown> =>
    (await ask(later, [])).tools?.find(({ name }) => name === "more__one");
  expect(await find()).toMatchObject({ description: "new" });
  source.close();
  expect(await find()).toBeUndefined();
  expect(Object.keys(bridge.tools)).not.toContain("more__one");
});

test("a model may use private fields, and is not wrapped twice", async () => {
  class PrivateModel {
    readonly specificationVersion = "v4";
    #id = "private";
    get modelId(): string {
      return this.#id;
    }
    describe(): string {
      return this.#id;
    }
    async doGenerate() {
      return { content: [], finishReason: { unified: "stop" }, id: this.#id };
    }
    async doStream() {
      return { stream: new ReadableStream(), id: this.#id };
    }
  }
  const { bridge } = await open();
  const model = bridge.model(new PrivateModel());
  expect([model.modelId, model.describe(), model.specificationVersion]).toEqual([
    "private",
    "private",
    "v4",
  ]);
  expect(model).toBeInstanceOf(PrivateModel);
  expect(bridge.model(model)).toBe(model);
});

test("the name of a model is none, and the error says so", async () => {
  const { bridge } = await open();
  const name: unknown = "openai/gpt-5";
  for (const given of [name, {}, undefined]) {
    expect(() => bridge.model(given as FakeModel)).toThrow(
      /^model\(\) of the bridge takes a model/,
    );
  }
});

test("what is no run is named", async () => {
  const kernel: unknown = createKernel();
  await expect(bridgeAiSdk(kernel as never)).rejects.toThrow("bridgeAiSdk() takes a run");
});

test("a tool of the user's own with the name of one of ours is an error, and nothing is executed", async () => {
  const { bridge, log } = await open();
  const answer = [callPart("c1", "notes__read", { id: 1 })];
  const mine = { type: "function", name: "notes__read", description: "mine", inputSchema: {} };
  const tools = offer(bridge).map((tool) => (tool.name === mine.name ? mine : tool));
  const message = "a tool notes__read that is not the one of this bridge";
  await expect(generate(bridge, answer, { tools })).rejects.toThrow(message);
  const model = bridge.model({ ...fakeModel(), answer });
  await expect(model.doStream({ prompt: [], tools })).rejects.toThrow(message);
  expect(log).toEqual([]);
  // A copy of ours is ours.
  await generate(bridge, answer, { tools: structuredClone(offer(bridge)) });
  await settle();
  expect(log).toEqual(["read 1"]);
});

test("an answer without the tool that was required is thrown away, as the SDK does", async () => {
  const { bridge, log, journal } = await open();
  const calls = [
    callPart("c1", "notes__read", { id: 1 }),
    callPart("c2", "notes__write", { id: 2 }),
  ];
  const toolChoice = { type: "tool", toolName: "notes__list" };
  await generate(bridge, calls, { toolChoice });
  await settle();
  expect(journal.facts.filter(({ type }) => type === "tool.discarded")).toHaveLength(2);
  expect(log).not.toContain("write 2");
  await generate(bridge, [...calls, callPart("c3", "notes__list", {})], { toolChoice });
  await settle();
  expect(log).toContain("write 2");
});

// ── approvals by the host ─────────────────────────────────────────────────────────────────────────

test("a call that needs approval waits for the host, the others of its answer do not", async () => {
  const { bridge, log } = await openWithHost();
  await generate(bridge, [
    callPart("c1", "notes__read", { id: 1 }),
    callPart("c2", "notes__delete", { id: 2 }),
    callPart("c3", "notes__delete", { id: "two" }),
  ]);
  expect(await needsApproval(bridge, "notes__read", "c1", { id: 1 })).toEqual([false, undefined]);
  expect(await needsApproval(bridge, "notes__delete", "c2", { id: 2 })).toEqual([
    true,
    "user-approval",
  ]);
  // The kernel refuses it: it is called, and its result explains why.
  expect(await needsApproval(bridge, "notes__delete", "c3", {})).toEqual([false, undefined]);
  await execute(bridge, "notes__read", "c1");
  expect(await execute(bridge, "notes__delete", "c3")).toMatchObject({ is_error: true });
  expect(log).toEqual(["read 1"]);

  const messages = resume("c2", { id: 2 }, true);
  expect(await needsApproval(bridge, "notes__delete", "c2", { id: 2 }, messages)).toEqual([
    true,
    "user-approval",
  ]);
  expect(await callTool(bridge, "notes__delete", "c2", { id: 2 }, messages)).toMatchObject({
    status: "succeeded",
  });
  expect(log).toEqual(["read 1", "delete 2"]);
});

test("an approval holds in a new process, by the SDK's own messages", async () => {
  const { bridge, log } = await openWithHost();
  const messages = structuredClone(resume("c2", { id: 2 }, true));
  await callTool(bridge, "notes__delete", "c2", { id: 2 }, messages);
  expect(log).toEqual(["delete 2"]);
});

test("an approval is for one execution: the same messages sent again execute nothing", async () => {
  const { bridge, log } = await openWithHost();
  await generate(bridge, [callPart("c2", "notes__delete", { id: 2 })]);
  const messages = resume("c2", { id: 2 }, true);
  await callTool(bridge, "notes__delete", "c2", { id: 2 }, messages);
  await needsApproval(bridge, "notes__delete", "c2", { id: 2 }, messages);
  const again = await callTool(bridge, "notes__delete", "c2", { id: 2 }, messages);
  expect(again).toMatchObject({ status: "denied", is_error: true });
  expect(log).toEqual(["delete 2"]);
});

test("an approval is bound to what the user was shown", async () => {
  const { bridge, log } = await openWithHost();
  await generate(bridge, [callPart("c2", "notes__delete", { id: 2 })]);
  await needsApproval(bridge, "notes__delete", "c2", { id: 2 });
  const messages = resume("c2", { id: 3 }, true);
  await needsApproval(bridge, "notes__delete", "c2", { id: 3 }, messages);
  const output = await callTool(bridge, "notes__delete", "c2", { id: 3 }, messages);
  expect(output).toMatchObject({ status: "denied", is_error: true });
  expect(log).toEqual([]);
});

test("without the user's answer a call that needs approval is not executed", async () => {
  const { bridge, log } = await openWithHost();
  const used = [...resume("c2", { id: 2 }, true), { role: "user", content: "again" }];
  for (const messages of [[], resume("c2", { id: 2 }, false), used]) {
    const output = await callTool(bridge, "notes__delete", "c2", { id: 2 }, messages);
    expect(output).toMatchObject({ is_error: true });
  }
  expect(log).toEqual([]);
});

test("a call that the user refused is on record as such, once", async () => {
  const { bridge, journal, log } = await openWithHost();
  await generate(bridge, [callPart("c2", "notes__delete", { id: 2 })]);
  const result = { type: "tool-result", toolCallId: "c2", toolName: "notes__delete" };
  const prompt: PromptMessage[] = [
    { role: "assistant", content: [{ ...callPart("c2", "notes__delete", {}), input: { id: 2 } }] },
    { role: "tool", content: [{ ...result, output: { type: "execution-denied", reason: "no" } }] },
  ];
  await ask(bridge, prompt);
  await ask(bridge, prompt);
  const ends = journal.facts.filter(({ type }) => type === "tool.denied");
  expect(ends).toHaveLength(1);
  expect(log).toEqual([]);
});

// ── the stage ─────────────────────────────────────────────────────────────────────────────────────

interface Opened {
  readonly bridge: AiSdkBridge;
  readonly log: string[];
  readonly journal: ReturnType<typeof createMemoryJournal>;
  readonly run: Parameters<typeof bridgeAiSdk>[0];
  readonly kernel: ReturnType<typeof createKernel>;
}

async function open(
  options: SessionOptions & RunOptions = {},
  bridged: AiSdkOptions = {},
): Promise<Opened> {
  const log: string[] = [];
  const journal = createMemoryJournal();
  const kernel = createKernel({ tools: defineNotes(log) });
  const policy = { rules: [{ tool: "notes.write", decision: "allow" as const }] };
  const run = await kernel.startRun({ journal, policy, ...options });
  return { bridge: await bridgeAiSdk(run, bridged), log, journal, run, kernel };
}

async function openWithHost(): Promise<Opened> {
  const approvals = createHostApprovals();
  return open({ ask: approvals.ask }, { approvals });
}

function defineNotes(log: string[]): AnyTool[] {
  const input_schema = {
    type: "object",
    properties: { id: { type: "integer" } },
    required: ["id"],
  } as const;
  const nothing = { type: "object" } as const;
  const readonly = { permission: "readonly", concurrency_safe: true } as const;
  const note = (verb: string, said: string) => ({
    name: `notes.${verb}`,
    description: `${verb} a note`,
    input_schema,
    handler: ({ id }: { id: number }) => {
      log.push(`${verb} ${id}`);
      if (id < 0) throw new Error("there is no such note");
      return `${said} ${id}`;
    },
  });
  return [
    defineTool({ ...note("read", "note"), ...readonly, aliases: ["read_note"] }),
    defineTool(note("write", "wrote")),
    defineTool(note("delete", "deleted")),
    defineTool({ ...note("archive", "archived"), ...readonly, defer: true }),
    defineTool({
      name: "notes.list",
      description: "List the notes",
      input_schema: nothing,
      ...readonly,
      handler: () => void log.push("list"),
    }),
    defineTool({
      name: "notes.export",
      description: "Export the notes",
      input_schema: nothing,
      ...readonly,
      handler: (_input, { progress }) => {
        progress({ message: "half" });
        return "exported";
      },
    }),
    defineTool({
      name: "notes.wait",
      description: "Wait for ever",
      input_schema: nothing,
      ...readonly,
      handler: (_input, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
        }),
    }),
  ];
}

interface FakeModel {
  readonly specificationVersion: string;
  answer: AnswerPart[];
  request: ModelRequest;
  stream: ReadableStream<AnswerPart>;
  doGenerate(request: ModelRequest): Promise<{ content: AnswerPart[]; finishReason: unknown }>;
  doStream(request: ModelRequest): Promise<{ stream: ReadableStream<AnswerPart> }>;
}

function fakeModel(): FakeModel {
  return {
    specificationVersion: "v3",
    answer: [],
    request: { prompt: [] },
    stream: new ReadableStream(),
    async doGenerate(request) {
      this.request = request;
      return { content: this.answer, finishReason: DONE.finishReason };
    },
    async doStream(request) {
      this.request = request;
      return { stream: this.stream };
    },
  };
}

/** As the SDK offers the tools. */
function offer({ tools }: AiSdkBridge): NonNullable<ModelRequest["tools"]> {
  return Object.entries(tools).map(([name, { description, inputSchema }]) => ({
    type: "function",
    name,
    description,
    inputSchema: inputSchema["~standard"].jsonSchema.input({ target: "draft-07" }),
  }));
}

async function generate(
  bridge: AiSdkBridge,
  answer: AnswerPart[],
  more: Partial<ModelRequest> = {},
): Promise<AnswerPart[]> {
  const model = bridge.model({ ...fakeModel(), answer });
  const { content } = await model.doGenerate({ prompt: [], tools: offer(bridge), ...more });
  return content;
}

/** What the provider gets. */
async function ask(bridge: AiSdkBridge, prompt: PromptMessage[]): Promise<ModelRequest> {
  const fake = fakeModel();
  await bridge.model(fake).doGenerate({ prompt, tools: offer(bridge) });
  return fake.request;
}

interface OpenStream {
  /** What the SDK gets of it. */
  send(part: AnswerPart): Promise<AnswerPart | undefined>;
  close(): Promise<void>;
  cancel(): Promise<void>;
  fail(): Promise<void>;
}

function openStream(bridge: AiSdkBridge): OpenStream {
  const fake = fakeModel();
  let writer: ReadableStreamDefaultController<AnswerPart> | undefined;
  fake.stream = new ReadableStream({
    start(controller) {
      writer = controller;
    },
  });
  const reading = bridge
    .model(fake)
    .doStream({ prompt: [], tools: offer(bridge) })
    .then(({ stream }) => stream.getReader());
  return {
    async send(part) {
      writer?.enqueue(part);
      return (await (await reading).read()).value;
    },
    async close() {
      writer?.close();
      await (await reading).read();
    },
    async cancel() {
      await (await reading).cancel("not needed");
    },
    async fail() {
      writer?.error(new Error("the connection broke"));
      await expect((await reading).read()).rejects.toThrow("the connection broke");
    },
  };
}

function callPart(toolCallId: string, toolName: string, input: object): AnswerPart {
  return textPart(toolCallId, toolName, JSON.stringify(input));
}

function textPart(toolCallId: string, toolName: string, input: string): AnswerPart {
  return { type: "tool-call", toolCallId, toolName, input };
}

/** As the SDK executes a call that came through the model in front. */
async function execute(bridge: AiSdkBridge, name: string, id: string): Promise<BridgedOutput> {
  return callTool(bridge, name, id, {});
}

async function callTool(
  bridge: AiSdkBridge,
  name: string,
  toolCallId: string,
  input: object,
  messages: readonly unknown[] = [],
): Promise<BridgedOutput> {
  const returned = bridge.tools[name]!.execute(input, { toolCallId, messages });
  if (!(Symbol.asyncIterator in returned)) return returned;
  let last: BridgedOutput | undefined;
  for await (const output of returned) last = output;
  return last!;
}

function iterate(bridge: AiSdkBridge, name: string, id: string): AsyncIterable<BridgedOutput> {
  const returned = bridge.tools[name]!.execute({}, { toolCallId: id, messages: [] });
  if (!(Symbol.asyncIterator in returned)) throw new Error("it is not followed");
  return returned;
}

/** What version 6 asks of the tool, and version 7 of the configuration. */
async function needsApproval(
  { tools, toolApproval }: AiSdkBridge,
  name: string,
  toolCallId: string,
  input: object,
  messages: readonly unknown[] = [],
): Promise<[boolean | undefined, string | undefined]> {
  const isNeeded = await tools[name]?.needsApproval?.(input, { toolCallId, messages });
  if (isNeeded !== true) return [isNeeded, undefined];
  return [isNeeded, await toolApproval[name]?.(input, { toolCallId, messages })];
}

/** The messages that continue a paused conversation. */
function resume(toolCallId: string, input: object, approved: boolean): unknown[] {
  const approvalId = `approval-${toolCallId}`;
  return [
    { role: "user", content: "go" },
    {
      role: "assistant",
      content: [
        { type: "tool-call", toolCallId, toolName: "notes__delete", input },
        { type: "tool-approval-request", approvalId, toolCallId },
      ],
    },
    { role: "tool", content: [{ type: "tool-approval-response", approvalId, approved }] },
  ];
}

/** What was ready to run has run. */
async function settle(): Promise<void> {
  for (let i = 0; i < 3; i += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}
