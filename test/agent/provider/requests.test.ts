// Real provider packages, and what the server on the other side received of our request.

import { expect, test } from "vitest";
import { verifies } from "#laws";
import type { ModelMessage } from "@soong/agent";
import { anthropicWire } from "./anthropic-wire.ts";
import { compatibleWire } from "./compatible-wire.ts";
import { googleWire } from "./google-wire.ts";
import { openaiWire } from "./openai-wire.ts";
import { KEY, LIST_FILES, openDesk, send } from "./provider-fixture.ts";
import { events } from "./replay-server.ts";
import { answer } from "./wire.ts";

const PNG = "iVBORw0KGgo=";

/** Two calls, one of them no JSON under no name, and results of every kind of content. */
const CONVERSATION: readonly ModelMessage[] = [
  {
    role: "user",
    content: [
      { type: "text", text: "Look around." },
      { type: "image", media_type: "image/png", data: PNG },
      { type: "text", text: "" },
    ],
  },
  {
    role: "assistant",
    text: "Looking.",
    calls: [
      { tool_call_id: "call_a", name: "core__list_files", arguments: '{"path":"a"}' },
      { tool_call_id: "call_b", name: "no such tool!", arguments: "{path: b" },
    ],
  },
  {
    role: "tool",
    results: [
      {
        tool_call_id: "call_a",
        name: "core__list_files",
        is_error: false,
        content: [
          { type: "text", text: "two files" },
          { type: "json", json: { count: 2 } },
          { type: "image", media_type: "image/png", data: PNG },
          { type: "resource_link", uri: "file:///a", name: "a", media_type: "text/plain" },
          { type: "artifact_ref", artifact_id: "art_1", media_type: "text/plain", size: 12 },
        ],
      },
      {
        tool_call_id: "call_b",
        name: "no such tool!",
        is_error: true,
        content: [{ type: "text", text: "There is no such tool." }],
      },
    ],
  },
  { role: "assistant", text: "", calls: [] },
  { role: "user", content: [{ type: "text", text: "And now?" }] },
];

const LINES = "[resource file:///a, a, text/plain]\n[artifact art_1, text/plain, 12 bytes]";

test("Anthropic receives system, tools, and results beside their calls", async () => {
  verifies("MODEL-1", "MODEL-2");
  const { path, key, body } = await send(
    await openDesk(anthropicWire),
    anthropicWire,
    CONVERSATION,
  );
  expect(path).toBe("/v1/messages");
  expect(key).toBe(KEY);
  const cached = { cache_control: { type: "ephemeral" } };
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } };
  const fits = expect.stringMatching(/^[A-Za-z0-9_-]{1,128}$/) as string;
  const { name, description, input_schema } = LIST_FILES;
  expect(body).toMatchObject({ model: "claude-sonnet-4-5", max_tokens: 512, stream: true });
  expect(body).toMatchObject({
    system: [
      { type: "text", text: "Be careful." },
      { type: "text", text: "Be brief.", ...cached },
    ],
    tools: [{ name, description, input_schema }],
    messages: [
      { role: "user", content: [{ type: "text", text: "Look around." }, image] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "Looking." },
          { type: "tool_use", id: "call_a", name, input: { path: "a" } },
          { type: "tool_use", id: "call_b", name: fits, input: { unparsed_arguments: "{path: b" } },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "call_a",
            content: [{ type: "text", text: `two files\n{"count":2}\n${LINES}` }, image],
          },
          {
            type: "tool_result",
            tool_use_id: "call_b",
            content: "There is no such tool.",
            is_error: true,
          },
          { type: "text", text: "And now?", ...cached },
        ],
      },
    ],
  });
  expect(JSON.stringify(body)).not.toContain("strict");
});

test("OpenAI receives the same, says of each tool whether it is strict, and keeps nothing", async () => {
  verifies("MODEL-1", "MODEL-2");
  const { path, key, body } = await send(await openDesk(openaiWire), openaiWire, CONVERSATION);
  expect(path).toBe("/v1/responses");
  expect(key).toBe(`Bearer ${KEY}`);
  expect(body).toMatchObject({ model: "gpt-5.5", max_output_tokens: 512, store: false });
  expect(body).toMatchObject({ include: ["reasoning.encrypted_content"] });
  const { name, input_schema } = LIST_FILES;
  expect(body).toMatchObject({
    tools: [{ type: "function", name, parameters: input_schema, strict: false }],
    input: [
      { content: "Be careful." },
      { content: "Be brief." },
      { role: "user" },
      { role: "assistant", content: [{ type: "output_text", text: "Looking." }] },
      { type: "function_call", call_id: "call_a", name, arguments: '{"path":"a"}' },
      {
        type: "function_call",
        call_id: "call_b",
        arguments: '{"unparsed_arguments":"{path: b"}',
      },
      {
        type: "function_call_output",
        call_id: "call_a",
        output: [
          { type: "input_text", text: `two files\n{"count":2}\n${LINES}` },
          { type: "input_image", image_url: `data:image/png;base64,${PNG}` },
        ],
      },
      { type: "function_call_output", call_id: "call_b", output: "There is no such tool." },
      { role: "user" },
    ],
  });
});

test("a schema within the strict rules is sent as strict", async () => {
  verifies("MODEL-2");
  const { server, ask } = await openDesk(openaiWire);
  server.reply(events(...answer(openaiWire, [], "end")));
  const input_schema = { ...LIST_FILES.input_schema, required: ["path", "depth"] };
  await ask({ tools: [{ ...LIST_FILES, input_schema }] });
  expect(server.requests[0]?.body["tools"]).toMatchObject([{ strict: true }]);
});

test("a chat endpoint receives one system message and no picture in a result", async () => {
  verifies("MODEL-1", "MODEL-2");
  const { path, key, body } = await send(
    await openDesk(compatibleWire),
    compatibleWire,
    CONVERSATION,
  );
  expect(path).toBe("/v1/chat/completions");
  expect(key).toBe(`Bearer ${KEY}`);
  expect(body).toMatchObject({
    model: "qwen3:8b",
    max_tokens: 512,
    stream_options: { include_usage: true },
    messages: [
      { role: "system", content: "Be careful.\n\nBe brief." },
      {
        role: "user",
        content: [{}, { image_url: { url: `data:image/png;base64,${PNG}` } }],
      },
      {
        role: "assistant",
        content: "Looking.",
        tool_calls: [
          { id: "call_a", function: { name: LIST_FILES.name, arguments: '{"path":"a"}' } },
          { id: "call_b", function: { arguments: '{"unparsed_arguments":"{path: b"}' } },
        ],
      },
      {
        role: "tool",
        tool_call_id: "call_a",
        content: `two files\n{"count":2}\n[image image/png, not shown: this model takes no images here]\n${LINES}`,
      },
      { role: "tool", tool_call_id: "call_b", content: "There is no such tool." },
      { role: "user", content: "And now?" },
    ],
  });
});

test("Gemini receives results under the very names of their calls", async () => {
  verifies("MODEL-1", "MODEL-2");
  const { path, key, body } = await send(await openDesk(googleWire), googleWire, CONVERSATION);
  expect(path).toBe("/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
  expect(key).toBe(KEY);
  const { name } = LIST_FILES;
  expect(body).toMatchObject({
    systemInstruction: { parts: [{ text: "Be careful." }, { text: "Be brief." }] },
    tools: [{ functionDeclarations: [{ name }] }],
  });
  const { contents } = body as { contents: readonly { parts: readonly GeminiPart[] }[] };
  const called = contents[1]?.parts.flatMap(({ functionCall }) => functionCall ?? []);
  expect(called).toMatchObject([
    { name, args: { path: "a" } },
    {
      name: expect.stringContaining("no_such_tool") as string,
      args: { unparsed_arguments: "{path: b" },
    },
  ]);
  expect(called?.[1]?.name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
  const answered = contents[2]?.parts.flatMap(({ functionResponse }) => functionResponse ?? []);
  // As many responses as calls, or Gemini refuses them all.
  expect(answered?.map((part) => part.name)).toEqual(called?.map((part) => part.name));
  expect(contents[2]?.parts).toContainEqual({ inlineData: { mimeType: "image/png", data: PNG } });
});

interface GeminiPart {
  readonly functionCall?: { readonly name: string; readonly args: unknown };
  readonly functionResponse?: { readonly name: string };
}

test("nothing is sent when the profile does not take the request", async () => {
  verifies("MODEL-2");
  const { server, ask } = await openDesk(googleWire);
  const seen = await ask({ tools: [{ ...LIST_FILES, name: "core.list_files" }] });
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatchObject({ type: "failed", error: { kind: "unsupported_capability" } });
  expect(server.requests).toEqual([]);
});
