import { expect, test } from "vitest";
import { packArguments, type StreamedCall } from "../kernel/index.ts";
import type { AgentsModel, AgentsRequest } from "./types.ts";
import { wrapModel, type CallWatcher, type SeenCall } from "./wrap-model.ts";

test("arguments that are no object reach the SDK as one, and the model as it wrote them", async () => {
  const model = new FakeModel([createCall("c1", '{"id": 1'), createCall("c2", '{"id":2}')]);
  const { output } = await wrapModel(model, watchCalls()).getResponse(createRequest());
  expect(output).toEqual([
    createCall("c1", packArguments('{"id": 1')),
    createCall("c2", '{"id":2}'),
  ]);

  await wrapModel(model, watchCalls()).getResponse({ ...createRequest(), input: output });
  expect(model.requests.at(-1)?.input).toEqual([
    createCall("c1", '{"id": 1'),
    createCall("c2", '{"id":2}'),
  ]);
});

test("calls of tools and handoffs that are not of the bridge keep their arguments", async () => {
  const call = { ...createCall("c1", ""), name: "transfer_to_clerk" };
  const { output } = await wrapModel(new FakeModel([call]), watchCalls()).getResponse({
    ...createRequest(),
    handoffs: [{ toolName: "transfer_to_clerk" }],
  });
  expect(output).toEqual([call]);
});

test("an id that is repeated, in the answer or from before, or empty, is replaced", async () => {
  const model = new FakeModel(["c1", "c2", "c2", ""].map((id) => createCall(id, "{}")));
  const input = [createCall("c1", "{}")];
  const { output } = await wrapModel(model, watchCalls()).getResponse({
    ...createRequest(),
    input,
  });
  const ids = output.map((item) => (item as { callId: string }).callId);
  expect(ids[1]).toBe("c2");
  expect(new Set([...ids, "c1", ""]).size).toBe(6);
});

test("ids are kept where the provider keeps the conversation", async () => {
  const calls = [createCall("c1", "{}"), createCall("c1", "{}")];
  const { output } = await wrapModel(new FakeModel(calls), watchCalls()).getResponse({
    ...createRequest(),
    conversationId: "conv_1",
  });
  expect(output).toEqual(calls);
});

test("a call of a tool that the request does not contain is reported with its arguments", async () => {
  const strays: SeenCall[] = [];
  const model = new FakeModel([
    { ...createCall("c1", '{"a":1}'), name: "reed" },
    { ...createCall("c2", "{}"), name: "notes__deferred" },
    createCall("c3", "{}"),
  ]);
  await wrapModel(model, watchCalls({ onStrayCall: (call) => strays.push(call) })).getResponse(
    createRequest(),
  );
  expect(strays).toEqual([
    { id: "c1", name: "reed", arguments: '{"a":1}' },
    { id: "c2", name: "notes__deferred", arguments: "{}" },
  ]);
});

test("a tool of the bridge that is called by another of its names has its wire name for the SDK", async () => {
  const model = new FakeModel([{ ...createCall("c1", "{}"), name: "notes.read" }]);
  const { output } = await wrapModel(model, watchCalls()).getResponse(createRequest());
  expect(output).toEqual([createCall("c1", "{}")]);
});

test("only calls of tools that the request contains start as they stream", async () => {
  const early: string[] = [];
  const output = [
    { ...createCall("c1", "{}"), name: "notes__deferred" },
    { ...createCall("c2", "{}"), name: "notes.read" },
  ];
  await playStream(output, early);
  expect(early).toEqual(["c2 {}", "complete c2 {}", "dropped"]);
});

test("tools of the bridge that are not loaded are not offered", async () => {
  const model = new FakeModel([]);
  const tools = ["notes__read", "notes__deferred", "other"].map(describeTool);
  await wrapModel(model, watchCalls()).getResponse({ ...createRequest(), tools });
  expect(model.requests[0]?.tools).toEqual([describeTool("notes__read"), describeTool("other")]);
});

test("a stream passes, with the calls of its end adapted", async () => {
  const events: object[] = [];
  const model = new FakeModel([createCall("c1", "[1]")]);
  for await (const event of wrapModel(model, watchCalls()).getStreamedResponse(createRequest())) {
    events.push(event);
  }
  expect(events.filter((event) => !isRaw(event))).toEqual([
    { type: "output_text_delta", delta: "so" },
    { type: "response_done", response: { output: [createCall("c1", packArguments("[1]"))] } },
  ]);
});

test("calls of the kernel start as they stream, in front of the end that has them all", async () => {
  const early: string[] = [];
  const output = [
    createCall("c1", '{"id": 1'),
    { ...createCall("c2", "{}"), name: "other" },
    createCall("c3", "{}"),
  ];
  await playStream(output, early);
  expect(early).toEqual(['c1 {"id": 1', "c3 {}", 'complete c1 {"id": 1, c3 {}', "dropped"]);
});

test("from the first call on whose id is replaced, calls wait for the end", async () => {
  const early: string[] = [];
  await playStream(
    ["c1", "c2", "c2", "c3"].map((id) => createCall(id, "{}")),
    early,
    ["c0"],
  );
  const complete = early[2]?.split(", ") ?? [];
  expect(early.slice(0, 2)).toEqual(["c1 {}", "c2 {}"]);
  expect(complete).toHaveLength(4);
  expect(complete[3]).toBe("c3 {}");
  early.length = 0;
  await playStream([createCall("c0", "{}")], early, ["c0"]);
  expect(early[0]).toMatch(/^complete call_/);
});

test.each(["fails", "is left by the loop"])("an answer that %s is dropped", async (how) => {
  const early: string[] = [];
  const model = new FakeModel([createCall("c1", "{}")]);
  if (how === "fails") model.failure = new Error("the connection broke");
  const read = async (): Promise<void> => {
    const stream = wrapModel(model, watchCalls({}, early)).getStreamedResponse(createRequest());
    for await (const event of stream) if (how !== "fails" && isRaw(event)) break;
  };
  const error = await read().catch((thrown: unknown) => thrown);
  expect(error).toBe(model.failure);
  expect(early).toEqual(["c1 {}", "dropped"]);
});

test("the wrapped model is of the class of the model, with its other members", () => {
  const wrapped = wrapModel(new FakeModel([]), watchCalls());
  expect(wrapped).toBeInstanceOf(FakeModel);
  expect(wrapped.describe()).toBe("fake");
});

const SCHEMAS = new Map(
  ["notes__read", "notes__deferred"].map((name) => [name, { type: "object" }]),
);

class FakeModel implements AgentsModel {
  readonly #output: object[];
  readonly requests: AgentsRequest[] = [];
  failure: Error | undefined;

  constructor(output: object[]) {
    this.#output = output;
  }

  async getResponse(request: AgentsRequest) {
    this.requests.push(request);
    return { output: this.#output };
  }

  async *getStreamedResponse(request: AgentsRequest) {
    this.requests.push(request);
    yield { type: "output_text_delta", delta: "so" };
    for (const item of this.#output) {
      const { callId: call_id, ...rest } = item as { callId: string };
      const event = { type: "response.output_item.done", item: { ...rest, call_id } };
      yield { type: "model", event };
    }
    if (this.failure !== undefined) throw this.failure;
    yield { type: "response_done", response: { output: this.#output } };
  }

  describe(): string {
    return this.#output.length === 0 ? "fake" : "full";
  }
}

async function playStream(output: object[], early: string[], before: string[] = []) {
  const model = wrapModel(new FakeModel(output), watchCalls({}, early));
  const input = before.map((id) => createCall(id, "{}"));
  const request = {
    ...createRequest(),
    input,
    tools: [describeTool("notes__read"), describeTool("other")],
  };
  for await (const _event of model.getStreamedResponse(request));
}

function isRaw(event: object): boolean {
  return "type" in event && event.type === "model";
}

function watchCalls(given: Partial<CallWatcher> = {}, early: string[] = []): CallWatcher {
  const describe = ({ id, arguments: text }: StreamedCall): string => `${id} ${text}`;
  return {
    schemas: SCHEMAS,
    readNames: async () => ({
      loaded: ["notes__read"],
      findWireName: (name) => (name === "notes.read" ? "notes__read" : undefined),
    }),
    onStrayCall: () => {},
    onRequest: async () => {},
    openAnswer: () => ({
      push: (call) => early.push(describe(call)),
      completeWith: (calls) => early.push(`complete ${calls.map(describe).join(", ")}`),
      // Without effect on an answer that is complete.
      drop: () => early.push("dropped"),
    }),
    ...given,
  };
}

function createCall(callId: string, text: string): object {
  return { type: "function_call", callId, name: "notes__read", arguments: text };
}

function createRequest(): AgentsRequest {
  return { input: "go", tools: [describeTool("notes__read")], handoffs: [] };
}

function describeTool(name: string): AgentsRequest["tools"][number] {
  return { name, parameters: SCHEMAS.get(name) };
}
