import { expect, test } from "vitest";
import { packArguments, type StreamedCall } from "../kernel/index.ts";
import { packStray, STRAY_TOOL } from "./stray-calls.ts";
import type { MastraModel, MastraRequest, MastraStreamPart } from "./types.ts";
import { wrapModel, type AnsweredCall, type CallWatcher } from "./wrap-model.ts";

test("a call with an object for arguments passes as it is", async () => {
  const parts = streamCall("c1", "notes__read", '{"id":1}');
  expect(await playParts(parts)).toEqual(parts);
});

test("arguments that are no object are packed, and Mastra gets no end to make a call of", async () => {
  const [start, delta, , call] = streamCall("c1", "notes__read", '{"id": 1');
  expect(await playParts(streamCall("c1", "notes__read", '{"id": 1'))).toEqual([
    start,
    delta,
    { ...call, input: packArguments('{"id": 1') },
  ]);
});

test("a call of what was not offered goes through as a stray call", async () => {
  const calls: StreamedCall[] = [];
  const played = await playParts(streamCall("c1", "notes__reed", '{"id": 1'), { calls });
  expect(played).toEqual([
    {
      type: "tool-call",
      toolCallId: "c1",
      toolName: STRAY_TOOL,
      input: packStray("notes__reed", '{"id": 1'),
    },
  ]);
  expect(calls).toEqual([]);
});

test("only calls of the bridge's own tools are reported", async () => {
  const calls: StreamedCall[] = [];
  const names = ["other", "notes__read", "notes__reed"];
  await playParts(
    names.flatMap((name, at) => streamCall(`c${at}`, name, "{}")),
    { calls },
  );
  expect(calls).toEqual([{ id: "c1", name: "notes__read", arguments: "{}" }]);
});

test("a tool of the bridge that is called by another of its names has its wire name for Mastra", async () => {
  const calls: StreamedCall[] = [];
  const played = await playParts(streamCall("c1", "notes.read", '{"id":1}'), { calls });
  expect(played).toEqual(streamCall("c1", "notes__read", '{"id":1}'));
  expect(calls).toEqual([{ id: "c1", name: "notes__read", arguments: '{"id":1}' }]);
});

test("a repeated id is replaced, in all parts of the call", async () => {
  const played = await playParts([
    ...streamCall("c1", "notes__read", '{"id":1}'),
    ...streamCall("c1", "notes__read", '{"id":2}'),
  ]);
  const ids = played.map((part) => {
    const { id, toolCallId } = part as { id?: string; toolCallId?: string };
    return id ?? toolCallId;
  });
  expect(ids.slice(0, 4)).toEqual(["c1", "c1", "c1", "c1"]);
  expect(new Set(ids.slice(4)).size).toBe(1);
  expect(ids[4]).not.toBe("c1");
});

test("what the provider executes itself, and all other parts, pass as they are", async () => {
  const parts = [
    { type: "text-delta", id: "1", delta: "so" },
    ...streamCall("c1", "web_search", "{").map((part) => ({ ...part, providerExecuted: true })),
  ];
  expect(await playParts(parts)).toEqual(parts);
});

test.each([
  ["tool-calls", finishPart("tool-calls"), "complete"],
  ["stop, in a newer specification", finishPart({ unified: "stop" }), "complete"],
  ["length", finishPart({ unified: "length" }), "the answer ended: length"],
  ["error", finishPart("error"), "the answer ended: error"],
  ["no last part at all", { type: "text-end" }, "the answer ended too early"],
])(
  "the calls of the kernel start as they stream, and the answer ends: %s",
  async (_, last, end) => {
    const early: string[] = [];
    const parts = [
      ...streamCall("c1", "notes__read", '{"id": 1'),
      ...streamCall("c2", "other", "{}"),
      ...streamCall("c3", "notes__reed", "{}"),
      last,
    ];
    await playParts(parts, { early });
    // What was not offered is not executed, so there is nothing to start.
    expect(early.slice(0, 2)).toEqual(['c1 notes__read {"id": 1', end]);
  },
);

test("a call starts before the loop gets it, and a stream that the loop cancels is dropped", async () => {
  const early: string[] = [];
  const model = new FakeModel(streamCall("c1", "notes__read", "{}").slice(3));
  const { stream } = await wrapModel(model, watchCalls([], early)).doStream(REQUEST);
  const reader = stream.getReader();
  expect(early).toEqual([]);
  await reader.read();
  await reader.cancel("not needed");
  expect(early).toEqual(["c1 notes__read {}", "the answer was cancelled"]);
});

test("an answer that comes as a whole has nothing to start early", async () => {
  const early: string[] = [];
  const model = new FakeModel(streamCall("c1", "notes__read", "{}"));
  const { stream } = await wrapModel(model, watchCalls([], early)).doGenerate(REQUEST);
  for await (const _part of stream);
  expect(early).toEqual([]);
});

test("the model sees its own names, our schemas, and not the tool for stray calls", async () => {
  const model = new FakeModel([]);
  const stray = { name: "notes__reed", arguments: '{"id":1}' };
  const result = { type: "tool-result", toolCallId: "c1", output: { type: "text", value: "no" } };
  await wrapModel(model, watchCalls()).doGenerate({
    tools: [{ name: "notes__read" }, { name: "other" }, { name: STRAY_TOOL }],
    prompt: [
      { role: "user", content: "go" },
      {
        role: "assistant",
        content: [{ type: "tool-call", toolCallId: "c1", toolName: STRAY_TOOL, input: stray }],
      },
      { role: "tool", content: [{ ...result, toolName: STRAY_TOOL }] },
    ],
  });
  expect(model.requests[0]).toEqual({
    tools: [{ name: "notes__read", inputSchema: SCHEMA }, { name: "other" }],
    prompt: [
      { role: "user", content: "go" },
      {
        role: "assistant",
        content: [
          { type: "tool-call", toolCallId: "c1", toolName: "notes__reed", input: { id: 1 } },
        ],
      },
      { role: "tool", content: [{ ...result, toolName: "notes__reed" }] },
    ],
  });
});

test.each([
  ["scripted.chat", { type: "text", value: "see" }],
  ["anthropic.messages", undefined],
])("images reach a model of %s only if it takes them", async (provider, expected) => {
  const output = {
    type: "content",
    value: [
      { type: "text", text: "see" },
      { type: "media", data: "iVBORw0KGgo=", mediaType: "image/png" },
    ],
  };
  const model = new FakeModel([], provider);
  const part = { type: "tool-result", toolCallId: "c1", toolName: "notes__look", output };
  await wrapModel(model, watchCalls()).doStream({ prompt: [{ role: "tool", content: [part] }] });
  expect(model.requests[0]?.prompt[0]?.content).toEqual([{ ...part, output: expected ?? output }]);
});

test("before a request, the calls of the last answer are reported with their results", async () => {
  const answered: AnsweredCall[][] = [];
  const onAnswered = async (calls: readonly AnsweredCall[]): Promise<void> => {
    answered.push([...calls]);
  };
  const call = { type: "tool-call", toolName: "notes__write", input: { id: 1 } };
  const result = { type: "tool-result", toolName: "notes__write" };
  const answer = (id: string, value: string) => [
    { role: "assistant", content: [{ ...call, toolCallId: id }] },
    { role: "tool", content: [{ ...result, toolCallId: id, output: { type: "text", value } }] },
  ];
  await wrapModel(new FakeModel([]), { ...watchCalls(), onAnswered }).doGenerate({
    prompt: [...answer("c1", "wrote 1"), ...answer("c2", "not approved")],
  });
  expect(answered).toEqual([
    [{ id: "c2", name: "notes__write", input: { id: 1 }, text: "not approved" }],
  ]);
});

const REQUEST: MastraRequest = {
  prompt: [],
  tools: [{ name: "notes__read" }, { name: "other" }],
};

const SCHEMA = { type: "object", properties: { id: { type: "integer" } } };

class FakeModel implements MastraModel {
  readonly provider: string;
  readonly requests: MastraRequest[] = [];
  readonly #parts: MastraStreamPart[];

  constructor(parts: MastraStreamPart[], provider = "scripted.chat") {
    this.#parts = parts;
    this.provider = provider;
  }

  async doGenerate(request: MastraRequest) {
    return this.doStream(request);
  }

  async doStream(request: MastraRequest) {
    this.requests.push(request);
    return { stream: ReadableStream.from(this.#parts) };
  }
}

async function playParts(
  parts: MastraStreamPart[],
  { calls = [], early = [] }: { calls?: StreamedCall[]; early?: string[] } = {},
): Promise<MastraStreamPart[]> {
  const model = wrapModel(new FakeModel(parts), watchCalls(calls, early));
  const { stream } = await model.doStream(REQUEST);
  const played: MastraStreamPart[] = [];
  for await (const part of stream) played.push(part);
  return played;
}

function watchCalls(calls: StreamedCall[] = [], early: string[] = []): CallWatcher {
  return {
    schemas: new Map([["notes__read", SCHEMA]]),
    onCall: (call) => calls.push(call),
    readNames: async () => ({
      loaded: ["notes__read"],
      findWireName: (name) => (name === "notes.read" ? "notes__read" : undefined),
    }),
    onAnswered: async () => {},
    openAnswer: () => ({
      push: ({ id, name, arguments: text }) => early.push(`${id} ${name} ${text}`),
      complete: () => early.push("complete"),
      drop: (reason) => early.push(reason),
    }),
  };
}

function finishPart(finishReason: unknown): MastraStreamPart {
  const part = { type: "finish", finishReason };
  return part;
}

function streamCall(id: string, toolName: string, input: string): MastraStreamPart[] {
  const parts = [
    { type: "tool-input-start", id, toolName },
    { type: "tool-input-delta", id, delta: input },
    { type: "tool-input-end", id },
    { type: "tool-call", toolCallId: id, toolName, input },
  ];
  return parts;
}
