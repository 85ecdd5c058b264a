import { verifies } from "#laws";
import {
  createKernel,
  defineTool,
  type ContentBlock,
  type ToolCall,
  type ToolResult,
} from "@soong/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createGate, createHostApprovals, type CallOutcome } from "../kernel/index.ts";
import {
  createAnthropicCallReader,
  createOpenAiChatCallReader,
  createOpenAiResponsesCallReader,
  executeCalls,
  readAnthropicCalls,
  readGoogleCalls,
  readOpenAiChatCalls,
  readOpenAiResponsesCalls,
  renderAnthropicResults,
  renderAnthropicTools,
  renderGoogleResults,
  renderGoogleTools,
  renderOpenAiChatResults,
  renderOpenAiChatTools,
  renderOpenAiResponsesResults,
  renderOpenAiResponsesTools,
} from "./index.ts";

interface Vendor {
  readonly name: string;
  /** An answer of the model with these calls, as the vendor sends it. */
  answer(calls: readonly WrittenCall[]): object;
  read(answer: never): ToolCall[];
  results(calls: readonly ToolCall[], outcomes: readonly CallOutcome[]): unknown[];
  /** The id that a result is for. */
  idOf(result: never): string | undefined;
  /** The same answer as events, each arguments in these pieces. */
  stream?: (calls: readonly WrittenCall[], cut: (text: string) => string[]) => object[];
  createReader?: () => { push(event: object): ToolCall[] };
}

interface WrittenCall {
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

const VENDORS: readonly Vendor[] = [
  {
    name: "Anthropic messages",
    answer: (calls) => ({
      content: [
        { type: "text", text: "I look." },
        ...calls.map((call) => ({ type: "tool_use", ...call })),
        { type: "server_tool_use", id: "theirs", name: "web_search", input: {} },
      ],
    }),
    read: readAnthropicCalls,
    results: renderAnthropicResults,
    idOf: ({ tool_use_id }: { tool_use_id: string }) => tool_use_id,
    stream: (calls, cut) =>
      calls.flatMap(({ id, name, input }, index) => [
        {
          type: "content_block_start",
          index,
          content_block: { type: "tool_use", id, name, input: {} },
        },
        ...cut(JSON.stringify(input)).map((partial_json) => ({
          type: "content_block_delta",
          index,
          delta: { type: "input_json_delta", partial_json },
        })),
        { type: "content_block_stop", index },
      ]),
    createReader: createAnthropicCallReader,
  },
  {
    name: "OpenAI chat completions",
    answer: (calls) => ({
      role: "assistant",
      tool_calls: calls.map(({ id, name, input }) => ({
        id,
        type: "function",
        function: { name, arguments: JSON.stringify(input) },
      })),
    }),
    read: readOpenAiChatCalls,
    results: renderOpenAiChatResults,
    idOf: ({ tool_call_id }: { tool_call_id: string }) => tool_call_id,
    stream: (calls, cut) => [
      ...calls.flatMap(({ id, name, input }, index) => [
        chatChunk([{ index, id, type: "function", function: { name, arguments: "" } }]),
        ...cut(JSON.stringify(input)).map((text) =>
          chatChunk([{ index, function: { arguments: text } }]),
        ),
      ]),
      { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
    ],
    createReader: createOpenAiChatCallReader,
  },
  {
    name: "OpenAI responses",
    answer: (calls) => ({
      output: [{ type: "reasoning", id: "r1" }, ...calls.map(createResponseItem)],
    }),
    read: readOpenAiResponsesCalls,
    results: renderOpenAiResponsesResults,
    idOf: ({ call_id }: { call_id: string }) => call_id,
    stream: (calls) =>
      calls.flatMap((call, output_index) => {
        const item = createResponseItem(call);
        return [
          { type: "response.output_item.added", output_index, item: { ...item, arguments: "" } },
          { type: "response.output_item.done", output_index, item },
        ];
      }),
    createReader: createOpenAiResponsesCallReader,
  },
  {
    name: "Google generateContent",
    answer: (calls) => ({
      candidates: [
        {
          content: {
            parts: [
              { text: "I look." },
              ...calls.map(({ id, name, input }) => ({ functionCall: { id, name, args: input } })),
            ],
          },
        },
      ],
    }),
    read: readGoogleCalls,
    results: renderGoogleResults,
    idOf: ({ functionResponse }: { functionResponse: { id?: string } }) => functionResponse.id,
  },
];

function chatChunk(tool_calls: readonly object[]): object {
  return { choices: [{ index: 0, delta: { tool_calls }, finish_reason: null }] };
}

function createResponseItem({ id, name, input }: WrittenCall) {
  return { type: "function_call", call_id: id, name, arguments: JSON.stringify(input) };
}

const writtenCalls = fc.array(
  fc.record({
    id: fc.string({ minLength: 1 }),
    name: fc.string({ minLength: 1 }),
    input: fc.dictionary(fc.string(), fc.jsonValue()).map((input) => ({ ...input })),
  }),
  { maxLength: 6 },
);

describe.each(VENDORS.map((vendor) => [vendor.name, vendor] as const))("%s", (_, vendor) => {
  test("calls come in as the model made them, in its order", () => {
    verifies("MODEL-5");
    fc.assert(
      fc.property(writtenCalls, (calls) => {
        expect(vendor.read(vendor.answer(calls) as never).map(parseCall)).toEqual(
          calls.map(normalise),
        );
      }),
    );
  });

  test("each call has one result, by its id and in call order, also without an outcome", () => {
    verifies("MODEL-5");
    fc.assert(
      fc.property(writtenCalls, fc.nat(8), (calls, count) => {
        const read = vendor.read(vendor.answer(calls) as never);
        const outcomes = Array.from({ length: count }, () => createOutcome("done"));
        const results = vendor.results(read, outcomes);
        expect(results.map((result) => vendor.idOf(result as never))).toEqual(
          calls.map(({ id }) => id),
        );
      }),
    );
  });

  test("calls of a stream are those of the whole answer, in any pieces", () => {
    verifies("MODEL-5");
    const { stream, createReader } = vendor;
    if (stream === undefined || createReader === undefined) return;
    fc.assert(
      fc.property(writtenCalls, fc.integer({ min: 1, max: 7 }), (calls, size) => {
        const reader = createReader();
        const read = stream(calls, (text) => cutText(text, size)).flatMap((event) =>
          reader.push(event),
        );
        expect(read.map(parseCall)).toEqual(calls.map(normalise));
      }),
    );
  });

  test("an answer that is none has no calls, and nothing throws", () => {
    fc.assert(
      fc.property(fc.anything(), (anything) => {
        const answers = [anything, { content: anything }, { output: anything }];
        const wrapped = [{ tool_calls: anything }, { candidates: [{ content: anything }] }];
        for (const answer of [...answers, ...wrapped]) {
          expect(Array.isArray(vendor.read(answer as never))).toBe(true);
          expect(Array.isArray(vendor.createReader?.().push(answer as never) ?? [])).toBe(true);
        }
      }),
    );
  });
});

test("arguments of a stream that break off stay text, for the kernel to name what is wrong", () => {
  const reader = createAnthropicCallReader();
  const block = { type: "tool_use", id: "t1", name: "notes__read", input: {} };
  reader.push({ type: "content_block_start", index: 0, content_block: block });
  const delta = { type: "input_json_delta", partial_json: '{"id": 1,' };
  reader.push({ type: "content_block_delta", index: 0, delta });
  expect(reader.push({ type: "content_block_stop", index: 0 })).toEqual([
    { id: "t1", name: "notes__read", arguments: '{"id": 1,' },
  ]);
});

test("a stream of chat completions that breaks off completes no call that was under way", () => {
  const reader = createOpenAiChatCallReader();
  const begun = { index: 0, id: "c1", function: { name: "notes__read", arguments: '{"id":' } };
  expect(reader.push(chatChunk([begun]))).toEqual([]);
});

describe("servers of chat completions that stream in their own way", () => {
  const begin = (index: number | undefined, id: string, text: string) => ({
    ...(index !== undefined && { index }),
    id,
    function: { name: "notes__read", arguments: text },
  });
  const piece = (index: number | undefined, text: string) => ({
    ...(index !== undefined && { index }),
    function: { arguments: text },
  });
  const both = [
    { id: "a", name: "notes__read", arguments: '{"id":1}' },
    { id: "b", name: "notes__read", arguments: '{"id":2}' },
  ];

  test.each([
    ["give all calls one index", [[begin(0, "a", '{"id":1}')], [begin(0, "b", '{"id":2}')]]],
    ["give no index", [[begin(undefined, "a", '{"id":1}'), begin(undefined, "b", '{"id":2}')]]],
    [
      "give no index, in pieces",
      [
        [begin(undefined, "a", "")],
        [piece(undefined, '{"id"')],
        [piece(undefined, ":1}")],
        [begin(undefined, "b", '{"id"')],
        [piece(undefined, ":2}")],
      ],
    ],
    [
      "send pieces of several calls in turn",
      [[begin(0, "a", '{"id"')], [begin(1, "b", '{"id":2')], [piece(0, ":1}"), piece(1, "}")]],
    ],
    [
      "repeat id and name with each piece",
      [
        [begin(0, "a", "")],
        [{ ...piece(0, '{"id":1}'), id: "a" }],
        [begin(1, "b", '{"id"'), begin(1, "b", ":2}")],
      ],
    ],
  ])("those that %s: each call is one", (_, chunks) => {
    const reader = createOpenAiChatCallReader();
    const end = { choices: [{ delta: {}, finish_reason: "tool_calls" }] };
    const read = [...chunks.map(chatChunk), end].flatMap((chunk) => reader.push(chunk));
    expect(read).toEqual(both);
  });

  test("calls without ids are distinguished by their names", () => {
    const reader = createOpenAiChatCallReader();
    const whole = (id: number) => ({
      function: { name: "notes__read", arguments: `{"id":${id}}` },
    });
    reader.push(chatChunk([whole(1)]));
    expect(reader.push(chatChunk([whole(2)]))).toEqual([
      { name: "notes__read", arguments: '{"id":1}' },
    ]);
  });

  test("a call is there as soon as the next one begins, if it is complete", () => {
    const reader = createOpenAiChatCallReader();
    expect(reader.push(chatChunk([begin(0, "a", '{"id":1}')]))).toEqual([]);
    expect(reader.push(chatChunk([begin(1, "b", "")]))).toEqual(both.slice(0, 1));
    // What comes after its end is no part of it.
    expect(reader.push(chatChunk([piece(0, " ")]))).toEqual([]);
  });
});

test("an empty text is no arguments, whole and streamed", () => {
  const called = { id: "a", type: "function", function: { name: "notes__list", arguments: "" } };
  const none = [{ id: "a", name: "notes__list", arguments: {} }];
  expect(readOpenAiChatCalls({ tool_calls: [called] })).toEqual(none);
  const chunk = { choices: [{ delta: { tool_calls: [called] }, finish_reason: "tool_calls" }] };
  expect(createOpenAiChatCallReader().push(chunk)).toEqual(none);
  const item = { type: "function_call", call_id: "a", name: "notes__list", arguments: " " };
  expect(readOpenAiResponsesCalls({ output: [item] })).toEqual(none);
});

test("calls without ids can be approved, by their place", async () => {
  const log: number[] = [];
  const write = defineTool({
    name: "notes.write",
    description: "Write a note",
    input_schema: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
    handler: ({ id }) => log.push(id),
  });
  const approvals = createHostApprovals();
  const run = await createKernel({ tools: [write] }).startRun({ ask: approvals.ask });
  const calls = [1, 2, 2].map((id) => ({ name: "notes__write", arguments: { id } }));
  for (const call of calls) expect(await approvals.needsApproval(run, call)).toBe(true);
  await executeCalls(createGate(run, approvals), calls, { isApproved: (_, at) => at !== 1 });
  expect(log).toEqual([1]);
  await executeCalls(createGate(run, approvals), calls.slice(1), { isApproved: () => true });
  expect(log).toEqual([1, 2, 2]);
});

test("an image is an image where the API takes one, and a line of text elsewhere", () => {
  verifies("MODEL-5");
  const calls = [{ id: "c1", name: "notes__picture", arguments: {} }];
  const outcomes = [
    createOutcome("here", [{ type: "image", media_type: "image/png", data: "aGk=" }]),
  ];
  expect(renderAnthropicResults(calls, outcomes)[0]?.content).toEqual([
    { type: "text", text: "here" },
    { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
  ]);
  expect(renderOpenAiResponsesResults(calls, outcomes)[0]?.output).toEqual([
    { type: "input_text", text: "here" },
    { type: "input_image", image_url: "data:image/png;base64,aGk=" },
  ]);
  const asText = "here\n[image image/png]";
  expect(renderOpenAiChatResults(calls, outcomes)[0]?.content).toBe(asText);
  expect(renderGoogleResults(calls, outcomes)[0]).toEqual({
    functionResponse: { id: "c1", name: "notes__picture", response: { output: asText } },
  });
  expect(renderGoogleResults(calls, outcomes, { images: true })[0]?.functionResponse.parts).toEqual(
    [{ inlineData: { mimeType: "image/png", data: "aGk=" } }],
  );
});

test("an image of a type that Anthropic refuses is a line of text, and empty text is omitted", () => {
  const calls = [{ id: "c1", name: "notes__picture", arguments: {} }];
  const image = { type: "image" as const, media_type: "image/tiff", data: "aGk=" };
  const [result] = renderAnthropicResults(calls, [createOutcome("", [image])]);
  expect(result?.content).toEqual([{ type: "text", text: "[image image/tiff]" }]);
});

test("tools go out with their wire names and schemas", async () => {
  verifies("MODEL-5");
  const { tools } = await (await startRun()).tools();
  const schema = expect.objectContaining({ type: "object", required: ["id"] }) as unknown;
  const about = { name: "notes__read", description: "Read a note" };
  expect(renderAnthropicTools(tools)).toEqual([{ ...about, input_schema: schema }]);
  expect(renderOpenAiChatTools(tools)).toEqual([
    { type: "function", function: { ...about, parameters: schema } },
  ]);
  expect(renderOpenAiResponsesTools(tools)).toEqual([
    { type: "function", ...about, parameters: schema, strict: false },
  ]);
  expect(renderGoogleTools(tools)).toEqual([
    { functionDeclarations: [{ ...about, parametersJsonSchema: schema }] },
  ]);
  expect(renderGoogleTools([])).toEqual([]);
});

test("an answer goes through the kernel and back, errors flagged where there is a flag", async () => {
  verifies("MODEL-5");
  const gate = createGate(await startRun());
  const calls = [
    { id: "c1", name: "notes__read", arguments: '{"id":1}' },
    { id: "c2", name: "notes__raed", arguments: "{}" },
  ];
  const outcomes = await executeCalls(gate, calls);
  expect(renderAnthropicResults(calls, outcomes).map(({ is_error }) => is_error)).toEqual([
    false,
    true,
  ]);
  expect(
    renderGoogleResults(calls, outcomes).map(({ functionResponse }) => functionResponse),
  ).toEqual([
    { id: "c1", name: "notes__read", response: { output: "note 1" } },
    {
      id: "c2",
      name: "notes__raed",
      response: { error: expect.stringContaining("raed") as string },
    },
  ]);
});

test("results of `run.execute` are rendered as outcomes are", async () => {
  const run = await startRun();
  const calls = [{ id: "c1", name: "notes__read", arguments: '{"id":1}' }];
  expect(renderOpenAiChatResults(calls, await run.execute(calls))).toEqual([
    { role: "tool", tool_call_id: "c1", content: "note 1" },
  ]);
});

function startRun() {
  const read = defineTool({
    name: "notes.read",
    description: "Read a note",
    input_schema: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
    permission: "readonly",
    handler: ({ id }) => `note ${id}`,
  });
  return createKernel({ tools: [read] }).startRun();
}

function parseCall({ id, name, arguments: given }: ToolCall): unknown {
  return { id, name, input: typeof given === "string" ? (JSON.parse(given) as unknown) : given };
}

/** As JSON has it: `-0` is `0` there. */
function normalise(call: WrittenCall): unknown {
  return JSON.parse(JSON.stringify(call));
}

function cutText(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
    text.slice(at * size, (at + 1) * size),
  );
}

function createOutcome(text: string, more: readonly ContentBlock[] = []): CallOutcome {
  const result: ToolResult = {
    tool_call_id: "any",
    tool_name: "notes.read",
    status: "succeeded",
    is_error: false,
    content: [{ type: "text", text }, ...more],
    summary: text,
    artifacts: [],
    metadata: { duration_ms: 0, provenance: { source_kind: "code", source_id: "test" } },
  };
  return { result, added: [] };
}
