// Real provider packages: what a provider gives us to keep comes back to it with the message, and to no one else.

import { expect, test } from "vitest";
import { verifies } from "#laws";
import type { AssistantMessage, ModelEvent, ModelMessage } from "@soong/agent";
import { anthropicWire } from "./anthropic-wire.ts";
import { chunk, compatibleWire } from "./compatible-wire.ts";
import { content, googleWire } from "./google-wire.ts";
import { frames, openaiWire } from "./openai-wire.ts";
import { lastOf, openDesk, send } from "./provider-fixture.ts";
import { events } from "./replay-server.ts";
import { eventFrame } from "./wire.ts";

const ASKED: ModelMessage = { role: "user", content: [{ type: "text", text: "Look around." }] };

test("Anthropic sees its reasoning again with the signature, where it was", async () => {
  verifies("MODEL-1");
  const desk = await openDesk(anthropicWire);
  const delta = (index: number, inner: object) =>
    eventFrame({ type: "content_block_delta", index, delta: inner });
  const thinking = [
    eventFrame({
      type: "content_block_start",
      index: 0,
      content_block: { type: "thinking", thinking: "" },
    }),
    delta(0, { type: "thinking_delta", thinking: "Where to " }),
    delta(0, { type: "thinking_delta", thinking: "look?" }),
    delta(0, { type: "signature_delta", signature: "c2lnbmVk" }),
    eventFrame({ type: "content_block_stop", index: 0 }),
  ];
  const [, text = "", call = ""] = anthropicWire.steps([
    { text: "" },
    { text: "Looking." },
    { call: "core__list_files", id: "call_a", fragments: ['{"path":"a"}'] },
  ]);
  desk.server.reply(
    events(
      anthropicWire.begin,
      ...thinking,
      text,
      call,
      anthropicWire.end("calls", { input: 1, output: 1 }),
    ),
  );
  const said = messageFrom(await desk.ask());
  const { body } = await send(desk, anthropicWire, [ASKED, said, oneResult()]);
  expect(answerIn(body)).toMatchObject([
    { type: "thinking", thinking: "Where to look?", signature: "c2lnbmVk" },
    { type: "text", text: "Looking." },
    { type: "tool_use", id: "ours_0", input: { path: "a" } },
  ]);
  // Changed since: the pieces no longer fit, so the message goes back plain.
  const shortened = { ...said, text: "Look" };
  const plain = await send(desk, anthropicWire, [ASKED, shortened, oneResult()]);
  expect(answerIn(plain.body).map(({ type }) => type)).toEqual(["text", "tool_use"]);
});

test("Gemini sees the signature of a call again, OpenAI its reasoning", async () => {
  verifies("MODEL-1");
  const google = await openDesk(googleWire);
  const signed = {
    functionCall: { name: "core__list_files", args: { path: "a" } },
    thoughtSignature: "c2ln",
  };
  google.server.reply(events(content([signed]), googleWire.end("calls", { input: 1, output: 1 })));
  const ofGoogle = messageFrom(await google.ask());
  const toGoogle = await send(google, googleWire, [ASKED, ofGoogle, oneResult()]);
  expect(toGoogle.body).toMatchObject({
    contents: [
      {},
      { parts: [{ functionCall: { args: { path: "a" } }, thoughtSignature: "c2ln" }] },
      {},
    ],
  });

  const openai = await openDesk(openaiWire);
  const item = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: null };
  const [call = ""] = openaiWire.steps([
    { call: "core__list_files", id: "call_a", fragments: ['{"path":"a"}'] },
  ]);
  openai.server.reply(
    events(
      openaiWire.begin,
      frames([
        { type: "response.output_item.added", output_index: 0, item },
        {
          type: "response.output_item.done",
          output_index: 0,
          item: { ...item, encrypted_content: "c2VjcmV0" },
        },
      ]),
      call,
      openaiWire.end("calls", { input: 1, output: 1 }),
    ),
  );
  const ofOpenai = messageFrom(await openai.ask());
  const toOpenai = await send(openai, openaiWire, [ASKED, ofOpenai, oneResult()]);
  expect((toOpenai.body as { input: unknown }).input).toContainEqual(
    expect.objectContaining({ type: "reasoning", id: "rs_1", encrypted_content: "c2VjcmV0" }),
  );

  // To another model the same message goes without what only the first one understands.
  const other = await send(await openDesk(anthropicWire), anthropicWire, [
    ASKED,
    ofOpenai,
    oneResult(),
  ]);
  expect(answerIn(other.body).map(({ type }) => type)).toEqual(["tool_use"]);
});

test("a chat endpoint that reasons sees its reasoning again", async () => {
  verifies("MODEL-1");
  const desk = await openDesk(compatibleWire);
  const [call = ""] = compatibleWire.steps([
    { call: "core__list_files", fragments: ['{"path":"a"}'] },
  ]);
  desk.server.reply(
    events(
      chunk({ reasoning_content: "Hm." }),
      call,
      compatibleWire.end("calls", { input: 1, output: 1 }),
    ),
  );
  const said = messageFrom(await desk.ask());
  const { body } = await send(desk, compatibleWire, [ASKED, said, oneResult()]);
  expect(body).toMatchObject({
    messages: [{}, {}, { role: "assistant", reasoning_content: "Hm." }, {}],
  });
});

/** As the loop would keep it: our own ids, the provider's data untouched. */
function messageFrom(seen: readonly ModelEvent[]): AssistantMessage {
  const last = lastOf(seen);
  if (last.type !== "completed" || last.provider_data === undefined) {
    throw new Error(`No provider data: ${JSON.stringify(last)}`);
  }
  return {
    role: "assistant",
    text: seen.map((event) => (event.type === "text_delta" ? event.text : "")).join(""),
    calls: seen
      .filter((event) => event.type === "call_complete")
      .map(({ name, arguments: given }, index) => ({
        tool_call_id: `ours_${index}`,
        name,
        arguments: given,
      })),
    // Once through a journal.
    provider_data: structuredClone(last.provider_data),
  };
}

function answerIn(body: unknown): readonly { readonly type: string }[] {
  const { messages } = body as {
    messages: readonly { readonly content: readonly { readonly type: string }[] }[];
  };
  return messages[1]?.content ?? [];
}

function oneResult(): ModelMessage {
  const content = [{ type: "text" as const, text: "two files" }];
  return {
    role: "tool",
    results: [{ tool_call_id: "ours_0", name: "core__list_files", is_error: false, content }],
  };
}
