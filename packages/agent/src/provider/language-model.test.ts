import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import type { ModelEvent, ModelRequest } from "../model/index.ts";
import type { AnyLanguageModel, InterfaceVersion } from "./call-options.ts";
import { languageModel } from "./language-model.ts";
import { ANTHROPIC_PROFILE, OPENAI_PROFILE } from "./profile.ts";
import type { StreamPart } from "./read-parts.ts";

const image = { type: "image" as const, media_type: "image/png", data: "aW1n" };

const REQUEST: ModelRequest = {
  index: 1,
  system: [],
  messages: [
    { role: "user", content: [image] },
    {
      role: "assistant",
      text: "",
      calls: [{ tool_call_id: "c", name: "look", arguments: "" }],
    },
    {
      role: "tool",
      results: [{ tool_call_id: "c", name: "look", content: [image], is_error: true }],
    },
  ],
  tools: [{ name: "look", description: "Looks.", input_schema: { type: "object" } }],
};

/** A model of the given version that answers with these parts and keeps what it was asked. */
function modelOf(version: InterfaceVersion, parts: readonly StreamPart[]) {
  const asked: object[] = [];
  const model = {
    specificationVersion: version,
    provider: "test",
    modelId: "m",
    doStream: (options: object) => {
      asked.push(options);
      return Promise.resolve({
        stream: new ReadableStream({
          start(controller) {
            for (const part of parts) controller.enqueue(part);
            controller.close();
          },
        }),
      });
    },
  } as unknown as AnyLanguageModel;
  return { model, asked };
}

async function ask(
  version: InterfaceVersion,
  parts: readonly StreamPart[],
  profile = OPENAI_PROFILE,
  request = REQUEST,
) {
  const { model, asked } = modelOf(version, parts);
  const events: ModelEvent[] = [];
  const port = languageModel(model, { id: "test:m", profile });
  for await (const event of port.stream(request, new AbortController().signal)) events.push(event);
  return { events, asked: asked[0] };
}

const FINISHED_V2 = {
  type: "finish",
  finishReason: "stop",
  usage: { inputTokens: 5, outputTokens: 3, totalTokens: 8, cachedInputTokens: 2 },
};

const FINISHED = {
  type: "finish",
  finishReason: { unified: "stop", raw: "end" },
  usage: {
    inputTokens: { total: 5, cacheRead: 2, cacheWrite: 1 },
    outputTokens: { total: 3, reasoning: Number.NaN },
  },
};

describe("the versions of the interface", () => {
  test("v2 writes pictures, the end and its counts in its own way", async () => {
    verifies("MODEL-1");
    const { events, asked } = await ask("v2", [FINISHED_V2]);
    expect(events).toEqual([
      {
        type: "completed",
        stop: "end_turn",
        usage: { input_tokens: 5, output_tokens: 3, cache_read_tokens: 2 },
      },
    ]);
    expect(asked).toMatchObject({
      prompt: [
        { content: [{ type: "file", mediaType: "image/png", data: "aW1n" }] },
        { content: [{ type: "tool-call", toolCallId: "c", input: {} }] },
        {
          content: [
            {
              output: {
                type: "content",
                value: [
                  { type: "text", text: "The call failed." },
                  { type: "media", mediaType: "image/png", data: "aW1n" },
                ],
              },
            },
          ],
        },
      ],
    });
    expect(JSON.stringify(asked)).not.toContain("strict");
  });

  test("v2 says unknown where the stream just stopped", async () => {
    verifies("MODEL-1");
    const { events } = await ask("v2", [{ ...FINISHED_V2, finishReason: "unknown" }]);
    expect(events).toMatchObject([{ type: "failed", error: { kind: "disconnect" } }]);
  });

  test("v3 names the picture in a result, and what it does not count is omitted", async () => {
    verifies("MODEL-1");
    const { events, asked } = await ask("v3", [FINISHED]);
    expect(events).toEqual([
      {
        type: "completed",
        stop: "end_turn",
        usage: {
          input_tokens: 5,
          output_tokens: 3,
          cache_read_tokens: 2,
          cache_write_tokens: 1,
        },
      },
    ]);
    expect(JSON.stringify(asked)).toContain('{"type":"image-data"');
    expect(asked).toMatchObject({ tools: [{ name: "look", strict: false }] });
  });

  test("a result that is only a picture has a text all the same", async () => {
    verifies("MODEL-1");
    const [user, assistant] = REQUEST.messages;
    const results = [{ tool_call_id: "c", name: "look", content: [image], is_error: false }];
    const messages = [user!, assistant!, { role: "tool" as const, results }];
    const { asked } = await ask("v3", [FINISHED], OPENAI_PROFILE, { ...REQUEST, messages });
    expect(asked).toMatchObject({
      prompt: [
        {},
        {},
        { content: [{ output: { value: [{ text: "1 image(s):" }, { type: "image-data" }] } }] },
      ],
    });
  });

  test("v4 wraps the data of a picture", async () => {
    verifies("MODEL-1");
    const { events, asked } = await ask("v4", [FINISHED]);
    expect(events.at(-1)).toMatchObject({ type: "completed" });
    expect(asked).toMatchObject({
      prompt: [
        { content: [{ type: "file", data: { type: "data", data: "aW1n" } }] },
        {},
        { content: [{ output: { type: "error-text" } }] },
      ],
    });
  });
});

describe("what a package may do", () => {
  test("it may show no raw events: then its ids are believed", async () => {
    verifies("MODEL-3");
    const call = { type: "tool-call", toolCallId: "c1", toolName: "look", input: '{"a":1}' };
    const { events } = await ask("v3", [call, FINISHED]);
    expect(events[0]).toEqual({
      type: "call_complete",
      key: "0",
      id: "c1",
      name: "look",
      arguments: '{"a":1}',
    });
  });

  test("an id it made up is omitted, also beside one of the provider", async () => {
    verifies("MODEL-3");
    const raw = { type: "raw", rawValue: { choices: [{ delta: { tool_calls: [{ id: "c1" }] } }] } };
    const calls = ["c1", "made-up"].map((toolCallId) => ({
      type: "tool-call",
      toolCallId,
      toolName: "look",
      input: "{}",
    }));
    const { events } = await ask("v3", [raw, ...calls, FINISHED]);
    expect(events.map((event) => ("id" in event ? event.id : undefined))).toEqual([
      "c1",
      undefined,
      undefined,
    ]);
  });

  test("calls its provider runs itself are none of ours, and unknown parts are passed over", async () => {
    verifies("MODEL-1");
    const own = { toolCallId: "s", toolName: "search", input: "{}", providerExecuted: true };
    const { events } = await ask("v3", [
      { type: "tool-input-start", id: "s", toolName: "search", providerExecuted: true },
      { type: "tool-input-delta", id: "s", delta: "{}" },
      { type: "tool-call", ...own },
      { type: "source", id: "x" },
      { type: "something-new" },
      FINISHED,
    ]);
    expect(events.map(({ type }) => type)).toEqual(["completed"]);
  });

  test("it may end without a finish, which is a cut stream", async () => {
    verifies("MODEL-1");
    const { events } = await ask("v3", [{ type: "text-delta", id: "0", delta: "Hm" }]);
    expect(events).toMatchObject([{ type: "text_delta" }, { error: { kind: "disconnect" } }]);
  });

  test("its stream may break with an error of any kind, which is a cut stream too", async () => {
    verifies("MODEL-1");
    const { model } = modelOf("v3", []);
    let served = false;
    const breaking = new ReadableStream({
      pull(controller) {
        if (served) controller.error(new TypeError("terminated"));
        else controller.enqueue({ type: "text-delta", id: "0", delta: "Hm" });
        served = true;
      },
    });
    const port = languageModel(
      { ...model, doStream: () => Promise.resolve({ stream: breaking }) },
      { id: "test:m", profile: OPENAI_PROFILE },
    );
    const events: ModelEvent[] = [];
    for await (const event of port.stream(REQUEST, new AbortController().signal))
      events.push(event);
    expect(events).toMatchObject([{ type: "text_delta" }, { error: { kind: "disconnect" } }]);
  });

  test("its request is cancelled when the reader stops", async () => {
    verifies("MODEL-1");
    const { model, asked } = modelOf("v3", [{ type: "text-delta", id: "0", delta: "Hm" }]);
    const port = languageModel(model, { id: "test:m", profile: OPENAI_PROFILE });
    for await (const event of port.stream(REQUEST, new AbortController().signal)) {
      expect(event.type).toBe("text_delta");
      break;
    }
    expect(asked).toMatchObject([{ abortSignal: { aborted: true } }]);
  });

  test("it may finish in an error of its provider", async () => {
    verifies("MODEL-1");
    const finishReason = { unified: "error", raw: "broken" };
    const { events } = await ask("v3", [{ ...FINISHED, finishReason }]);
    expect(events).toMatchObject([
      { type: "failed", error: { kind: "server_error" }, usage: { input_tokens: 5 } },
    ]);
  });

  test("the profile's own limit counts where the request names none", async () => {
    verifies("MODEL-2");
    const { asked } = await ask("v3", [FINISHED], ANTHROPIC_PROFILE);
    expect(asked).toMatchObject({ maxOutputTokens: ANTHROPIC_PROFILE.max_output_tokens });
    const { asked: unlimited } = await ask("v3", [FINISHED]);
    expect(unlimited).not.toHaveProperty("maxOutputTokens");
  });

  test("what is added to each request can be put on record", () => {
    verifies("MODEL-7");
    const { model } = modelOf("v3", []);
    const opened = languageModel(model, { id: "x:y", profile: ANTHROPIC_PROFILE });
    const { max_output_tokens, cache_mark } = ANTHROPIC_PROFILE;
    expect(opened.settings).toEqual({ max_output_tokens, cache_mark });
  });
});
