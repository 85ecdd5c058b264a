// Real provider packages, replayed streams: what an answer looks like on our side of the port.

import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import type { ModelEvent } from "@soong/agent";
import { anthropicWire } from "./anthropic-wire.ts";
import { chunk, compatibleWire } from "./compatible-wire.ts";
import { content, googleWire } from "./google-wire.ts";
import { frames, openaiWire } from "./openai-wire.ts";
import { callsOf, lastOf, never, openDesk, requestOf, WIRES } from "./provider-fixture.ts";
import { events, inTwo } from "./replay-server.ts";
import { answer } from "./wire.ts";

describe.each(WIRES)("an answer of $name", (wire) => {
  test("is text, then a call from its fragments, then the end with its usage", async () => {
    verifies("MODEL-1", "MODEL-3");
    const { server, ask } = await openDesk(wire);
    const fragments = ['{"pa', 'th":', '"src"}'];
    server.reply(
      events(
        ...answer(
          wire,
          [{ text: "Looking." }, { call: "core__list_files", id: "call_7", fragments }],
          "calls",
        ),
      ),
    );
    const seen = await ask();
    expect(textOf(seen)).toBe("Looking.");
    expect(callsOf(seen)).toEqual([
      { id: "call_7", name: "core__list_files", arguments: '{"path":"src"}' },
    ]);
    expect(deltasOf(seen)).toBe('{"path":"src"}');
    expect(lastOf(seen)).toMatchObject({
      type: "completed",
      stop: "tool_use",
      usage: { input_tokens: 120, output_tokens: 34 },
    });
  });

  test("holds several calls, each under its own key, in the order of the model", async () => {
    verifies("MODEL-1");
    const { server, ask } = await openDesk(wire);
    const steps = ["a", "b", "c"].map((path) => ({
      call: "core__list_files",
      id: `call_${path}`,
      fragments: ['{"path":', `"${path}"}`],
    }));
    server.reply(events(...answer(wire, steps, "calls")));
    const seen = await ask();
    expect(callsOf(seen).map(({ id, arguments: given }) => [id, given])).toEqual([
      ["call_a", '{"path":"a"}'],
      ["call_b", '{"path":"b"}'],
      ["call_c", '{"path":"c"}'],
    ]);
    const keys = seen.filter(({ type }) => type === "call_complete").map((event) => keyOf(event));
    expect(new Set(keys).size).toBe(3);
    for (const key of keys) {
      const own = seen.filter((event) => event.type === "call_delta" && event.key === key);
      expect(own[0]).toMatchObject({ name: "core__list_files" });
    }
  });

  test("gives a complete call on while the next one is still being written", async () => {
    verifies("MODEL-1");
    const { server, model } = await openDesk(wire);
    const [first = "", second = ""] = wire.steps([
      { call: "core__list_files", id: "call_1", fragments: ['{"path":"a"}'] },
      { call: "core__list_files", id: "call_2", fragments: ['{"path":"b"}'] },
    ]);
    const end = wire.end("calls", { input: 1, output: 1 });
    // Chat completions do not say where a call ends: it shows when the next one begins.
    const begins = wire === compatibleWire ? [second] : [];
    const rest = wire === compatibleWire ? [end] : [second, end];
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    server.reply(inTwo([wire.begin, first, ...begins], gate, rest));
    const order: string[] = [];
    for await (const event of model.stream(requestOf(), never())) {
      if (event.type === "call_complete") order.push(event.id ?? "none");
      // Only now does the server continue: had the call waited for the end, this would never finish.
      if (event.type === "call_complete") open();
      if (event.type === "completed") order.push("completed");
    }
    expect(order).toEqual(["call_1", "call_2", "completed"]);
  });

  test("omits the id of a call that has none", async () => {
    verifies("MODEL-3");
    const { server, ask } = await openDesk(wire);
    const nameless = { call: "core__list_files", fragments: ['{"path":"a"}'] };
    server.reply(events(...answer(wire, [nameless, { ...nameless, id: "call_2" }], "calls")));
    expect(callsOf(await ask()).map(({ id }) => id)).toEqual([undefined, "call_2"]);
  });

  test("keeps two calls apart that have the same id", async () => {
    verifies("MODEL-3");
    const { server, ask } = await openDesk(wire);
    const steps = ["a", "b"].map((path) => ({
      call: "core__list_files",
      id: "call_same",
      fragments: [`{"path":"${path}"}`],
    }));
    server.reply(events(...answer(wire, steps, "calls")));
    const seen = await ask();
    const calls = callsOf(seen);
    expect(calls.map(({ arguments: given }) => given)).toEqual(['{"path":"a"}', '{"path":"b"}']);
    // Repeated as it came, or omitted: either way nothing that a provider did not send.
    expect(calls[0]?.id).toBe("call_same");
    expect(["call_same", undefined]).toContain(calls[1]?.id);
    const keys = seen.filter(({ type }) => type === "call_complete").map((event) => keyOf(event));
    expect(new Set(keys).size).toBe(2);
  });

  test("may continue with text after its calls", async () => {
    verifies("MODEL-1");
    const { server, ask } = await openDesk(wire);
    const call = { call: "core__list_files", id: "call_1", fragments: ['{"path":"a"}'] };
    server.reply(events(...answer(wire, [{ text: "First. " }, call, { text: "Then." }], "calls")));
    const seen = await ask();
    expect(textOf(seen)).toBe("First. Then.");
    expect(callsOf(seen)).toHaveLength(1);
    expect(lastOf(seen)).toMatchObject({ type: "completed", stop: "tool_use" });
  });

  test("may be empty", async () => {
    verifies("MODEL-1");
    const { server, ask } = await openDesk(wire);
    server.reply(events(...answer(wire, [], "end")));
    const seen = await ask();
    expect(seen).toHaveLength(1);
    expect(lastOf(seen)).toMatchObject({ type: "completed", stop: "end_turn" });
  });

  test("says when it ran into its limit of tokens", async () => {
    verifies("MODEL-1");
    const { server, ask } = await openDesk(wire);
    server.reply(events(...answer(wire, [{ text: "And th" }], "length")));
    expect(lastOf(await ask())).toMatchObject({ type: "completed", stop: "max_tokens" });
  });
});

describe.each([anthropicWire, openaiWire, compatibleWire])("arguments of $name", (wire) => {
  test("that are not JSON pass unchanged, and keep their place among the others", async () => {
    verifies("MODEL-1");
    const { server, ask } = await openDesk(wire);
    const steps = ['{"path": src}', '{"path":"b"}'].map((text, index) => ({
      call: "core__list_files",
      id: `call_${index}`,
      fragments: [text.slice(0, 3), text.slice(3)],
    }));
    server.reply(events(...answer(wire, steps, "calls")));
    expect(callsOf(await ask()).map(({ arguments: given }) => given)).toEqual([
      '{"path": src}',
      '{"path":"b"}',
    ]);
  });

  test("that were cut off by the limit of tokens pass unchanged", async () => {
    verifies("MODEL-1");
    const { server, ask } = await openDesk(wire);
    const cutOff = { call: "core__list_files", id: "call_1", fragments: ['{"path":"s'] };
    server.reply(events(...answer(wire, [cutOff], "length")));
    const seen = await ask();
    expect(callsOf(seen)).toEqual([
      { id: "call_1", name: "core__list_files", arguments: '{"path":"s' },
    ]);
    expect(lastOf(seen)).toMatchObject({ type: "completed", stop: "max_tokens" });
  });
});

test("a server that calls it an ordinary stop has still asked for its calls", async () => {
  verifies("MODEL-1");
  const { server, ask } = await openDesk(compatibleWire);
  const call = { call: "core__list_files", fragments: ['{"path":"a"}'] };
  server.reply(events(...answer(compatibleWire, [call], "end")));
  expect(lastOf(await ask())).toMatchObject({ type: "completed", stop: "tool_use" });
});

test("an empty object at the start of a call does not make it complete", async () => {
  verifies("MODEL-1");
  const { server, ask } = await openDesk(compatibleWire);
  const start = (index: number, given: string) =>
    chunk({
      tool_calls: [{ index, id: `call_${index}`, function: { name: "t", arguments: given } }],
    });
  server.reply(
    events(
      start(0, " "),
      start(1, '{"b":1}'),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] }),
      chunk({}, "tool_calls"),
    ),
    events(start(0, "{}"), start(1, "{}"), chunk({}, "tool_calls")),
    events(
      start(0, "{}"),
      start(1, '{"b":1}'),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] }),
      chunk({}, "tool_calls"),
    ),
  );
  expect(callsOf(await ask()).map((call) => call.arguments.trim())).toEqual(['{"a":1}', '{"b":1}']);
  expect(callsOf(await ask()).map((call) => call.arguments)).toEqual(["{}", "{}"]);
  // No arguments to run with, and no others made of them: the call is refused further on.
  expect(callsOf(await ask()).map((call) => call.arguments)).toEqual(['{}{"a":1}', '{"b":1}']);
});

test("a call that continues after it was whole is malformed, not two calls", async () => {
  verifies("MODEL-1");
  const { server, ask } = await openDesk(compatibleWire);
  const call = (index: number, given: string) =>
    chunk({
      tool_calls: [{ index, id: `call_${index}`, function: { name: "t", arguments: given } }],
    });
  server.reply(
    events(
      call(0, '{"a":1}'),
      call(1, "{"),
      chunk({ tool_calls: [{ index: 0, function: { arguments: ',"b":2}' } }] }),
      chunk({}, "tool_calls"),
    ),
  );
  expect(lastOf(await ask())).toMatchObject({
    type: "failed",
    error: { kind: "malformed_stream" },
  });
});

test("refusals and counts of cached and reasoning tokens are reported", async () => {
  verifies("MODEL-1");
  const openai = await openDesk(openaiWire);
  openai.server.reply(events(...answer(openaiWire, [{ text: "Hm." }], "end")));
  expect(lastOf(await openai.ask())).toMatchObject({
    usage: { input_tokens: 120, output_tokens: 34, cache_read_tokens: 20, reasoning_tokens: 8 },
  });
  const google = await openDesk(googleWire);
  const refused = { candidates: [{ finishReason: "SAFETY" }] };
  google.server.reply(events(`data: ${JSON.stringify(refused)}\n\n`));
  expect(lastOf(await google.ask())).toEqual({ type: "completed", stop: "refused", usage: {} });
});

test("a call Gemini could not write is malformed, with anything else it said", async () => {
  verifies("MODEL-1");
  const { server, ask } = await openDesk(googleWire);
  const end = { candidates: [{ finishReason: "MALFORMED_FUNCTION_CALL" }] };
  server.reply(events(content([{ text: "Hm." }]), `data: ${JSON.stringify(end)}\n\n`));
  expect(lastOf(await ask())).toMatchObject({
    type: "failed",
    error: { kind: "malformed_stream" },
  });
});

test("a call of OpenAI that was never finished is not given on", async () => {
  verifies("MODEL-1");
  const { server, ask } = await openDesk(openaiWire);
  const item = { type: "function_call", id: "fc_1", call_id: "call_1", name: "t", arguments: "" };
  server.reply(
    events(
      openaiWire.begin,
      frames([
        { type: "response.output_item.added", output_index: 0, item },
        {
          type: "response.function_call_arguments.delta",
          output_index: 0,
          item_id: "fc_1",
          delta: '{"pa',
        },
      ]),
      openaiWire.end("length", { input: 1, output: 1 }),
    ),
  );
  const seen = await ask();
  expect(callsOf(seen)).toEqual([]);
  expect(lastOf(seen)).toMatchObject({ type: "completed", stop: "max_tokens" });
});

function textOf(seen: readonly ModelEvent[]): string {
  return seen.map((event) => (event.type === "text_delta" ? event.text : "")).join("");
}

function deltasOf(seen: readonly ModelEvent[]): string {
  return seen.map((event) => (event.type === "call_delta" ? event.arguments : "")).join("");
}

function keyOf(event: ModelEvent): string | undefined {
  return "key" in event ? event.key : undefined;
}
