import { getEventListeners } from "node:events";
import { verifies } from "#laws";
import { createHeldClock } from "@soong/core";
import { describe, expect, test } from "vitest";
import type { ModelEvent, ModelRequest } from "../model/index.ts";
import type { Script } from "./script.ts";
import { scriptedModel } from "./scripted-model.ts";

function request(fields: Partial<ModelRequest> = {}): ModelRequest {
  return { index: 1, system: [], messages: [], tools: [], ...fields };
}

async function all(stream: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

function play(script: Script, fields: Partial<ModelRequest> = {}): Promise<ModelEvent[]> {
  return all(scriptedModel(script).stream(request(fields), new AbortController().signal));
}

function textIn(events: readonly ModelEvent[]): string {
  return events.map((event) => (event.type === "text_delta" ? event.text : "")).join("");
}

function failureIn(events: readonly ModelEvent[]): string {
  const last = events.at(-1);
  return last?.type === "failed" ? `${last.error.kind}: ${last.error.message}` : "none";
}

const result = (text: string, fields: { name?: string; is_error?: boolean } = {}) => ({
  tool_call_id: "c1",
  name: "code__read_file",
  content: [{ type: "text" as const, text }],
  is_error: false,
  ...fields,
});

describe("a scripted model", () => {
  test("streams a turn as any model does: text in words, arguments in pieces, then that it is complete", async () => {
    verifies("MODEL-1");
    verifies("SCRIPT-1");
    const events = await play({
      turns: [
        {
          text: "Looking at it.",
          calls: [{ tool: "code.read_file", input: { path: "a.txt" }, id: "c7" }],
        },
      ],
    });
    expect(events).toEqual([
      { type: "text_delta", text: "Looking" },
      { type: "text_delta", text: " at" },
      { type: "text_delta", text: " it." },
      { type: "call_delta", key: "call_0", name: "code__read_file", arguments: '{"path' },
      { type: "call_delta", key: "call_0", arguments: '":"a.t' },
      { type: "call_delta", key: "call_0", arguments: 'xt"}' },
      {
        type: "call_complete",
        key: "call_0",
        id: "c7",
        name: "code__read_file",
        arguments: '{"path":"a.txt"}',
      },
      { type: "completed", stop: "tool_use", usage: { input_tokens: 0, output_tokens: 12 } },
    ]);
  });

  test("sends raw arguments unchanged, distinguishes calls, and omits ids that are not given", async () => {
    const events = await play({
      turns: [
        {
          calls: [
            { tool: "a.b", input_text: '{"q": ' },
            { tool: "a.b", input_text: "" },
            { tool: "a.b" },
          ],
        },
      ],
    });
    expect(events.filter(({ type }) => type !== "completed")).toEqual([
      { type: "call_delta", key: "call_0", name: "a__b", arguments: '{"q": ' },
      { type: "call_complete", key: "call_0", name: "a__b", arguments: '{"q": ' },
      { type: "call_delta", key: "call_1", name: "a__b", arguments: "" },
      { type: "call_complete", key: "call_1", name: "a__b", arguments: "" },
      { type: "call_delta", key: "call_2", name: "a__b", arguments: "{}" },
      { type: "call_complete", key: "call_2", name: "a__b", arguments: "{}" },
    ]);
  });

  test("calls tools by their wire names, offered or not, and sends a name without a dot unchanged", async () => {
    const names = async (tool: string, tools: string[]): Promise<unknown[]> => {
      const offered = tools.map((name) => ({ name, description: "", input_schema: {} }));
      const events = await play({ turns: [{ calls: [{ tool }] }] }, { tools: offered });
      return events.flatMap((event) => (event.type === "call_complete" ? [event.name] : []));
    };
    expect(await names("code.read_file", ["code__read_file"])).toEqual(["code__read_file"]);
    expect(await names("code.read_file", [])).toEqual(["code__read_file"]);
    expect(await names("code.read_file", ["code.read_file"])).toEqual(["code.read_file"]);
    expect(await names("no such tool!", [])).toEqual(["no such tool!"]);
    expect(await names("mcp.git.list__refs", [])).toEqual([
      expect.stringMatching(/^mcp_git___\w+$/),
    ]);
  });

  test.each([
    ["end_turn without calls", { text: "a" }, "end_turn"],
    ["tool_use with calls", { calls: [{ tool: "a.b" }] }, "tool_use"],
    [
      "tool_use with a call among its parts",
      { parts: [{ call: { tool: "a.b" } }, { text: "a" }] },
      "tool_use",
    ],
    ["what the turn says", { calls: [{ tool: "a.b" }], stop: "max_tokens" as const }, "max_tokens"],
    [
      "what a turn of parts says",
      { parts: [{ text: "a" }], stop: "tool_use" as const },
      "tool_use",
    ],
  ])("stops with %s", async (_, turn, stop) => {
    expect((await play({ turns: [turn] })).at(-1)).toMatchObject({ type: "completed", stop });
  });

  test("keeps the order of parts", async () => {
    const events = await play({
      turns: [
        {
          parts: [
            { text: "a" },
            { call: { tool: "x.y" } },
            { text: "b" },
            { call: { tool: "x.z" } },
          ],
        },
      ],
    });
    expect(
      events.map((event) =>
        event.type === "text_delta" ? event.text : "key" in event ? event.key : "",
      ),
    ).toEqual(["a", "call_0", "call_0", "b", "call_1", "call_1", ""]);
  });

  test.each([
    ["overloaded", { error: "overloaded" as const }, { kind: "overloaded", status: 529 }],
    ["a broken connection", { error: { kind: "disconnect" as const } }, { kind: "disconnect" }],
    [
      "too many requests",
      { error: { kind: "rate_limited" as const, retry_after_ms: 900 } },
      { kind: "rate_limited", status: 429, retry_after_ms: 900 },
    ],
  ])("fails before its first event: %s", async (_, turn, error) => {
    expect(await play({ turns: [turn] })).toEqual([
      {
        type: "failed",
        error: { ...error, message: expect.stringMatching(/try again/) as string },
      },
    ]);
  });

  test("fails in the middle of a stream, with what came before it sent", async () => {
    const plain = await play({
      turns: [{ text: "one two", calls: [{ tool: "a.b" }], error: "disconnect" }],
    });
    expect(plain.map(({ type }) => type)).toEqual([
      "text_delta",
      "text_delta",
      "call_delta",
      "call_complete",
      "failed",
    ]);
    const exact = await play({
      turns: [{ parts: [{ text: "one" }, { error: { kind: "overloaded" } }] }],
    });
    expect(exact.map(({ type }) => type)).toEqual(["text_delta", "failed"]);
  });

  test("estimates usage from characters, the same each time", async () => {
    const tools = [{ name: "abcd", description: "abcdefgh", input_schema: { a: 1 } }];
    const messages = [
      { role: "user" as const, content: [{ type: "text" as const, text: "x".repeat(40) }] },
      {
        role: "assistant" as const,
        text: "y".repeat(20),
        calls: [{ tool_call_id: "c", name: "abcd", arguments: "{}{}" }],
      },
      { role: "tool" as const, results: [result("z".repeat(12))] },
    ];
    const asked = { system: ["s".repeat(8)], tools, messages };
    const turns = [{ text: "12345" }, { text: "12345" }];
    const model = scriptedModel({ turns });
    for (const index of [1, 2]) {
      const events = await all(
        model.stream(request({ ...asked, index }), new AbortController().signal),
      );
      // (8 + 40 + 20 + 8 + 12 + 4 + 8 + 7) / 4 and 5 / 4, rounded up
      expect(events.at(-1)).toMatchObject({ usage: { input_tokens: 27, output_tokens: 2 } });
    }
  });

  test("has an id and takes every tool, unless it imitates a provider with limits", () => {
    const turns = [{ text: "a" }];
    const plain = scriptedModel({ turns }, { id: "script:demo.yaml" });
    expect([plain.id, plain.profile.extended_schemas, plain.profile.max_tools]).toEqual([
      "script:demo.yaml",
      true,
      undefined,
    ]);
    const profile = { ...plain.profile, id: "small", max_tools: 3 };
    expect(scriptedModel({ turns }, { profile }).profile).toBe(profile);
  });
});

describe("the time of a scripted model", () => {
  const turn = {
    parts: [
      { text: "a" },
      { call: { tool: "x.y" }, after_ms: 100 },
      { text: "b", after_ms: 1000 },
      { error: { kind: "disconnect" as const, after_ms: 50 } },
    ],
  };

  function watch(script: Script) {
    const clock = createHeldClock();
    const abort = new AbortController();
    const seen: string[] = [];
    const stream = scriptedModel(script, { clock }).stream(request(), abort.signal);
    const done = (async () => {
      for await (const { type } of stream) seen.push(`${clock.now()} ${type}`);
    })();
    return { clock, abort, seen, done };
  }

  test("passes between the parts, and nowhere else", async () => {
    const { clock, abort, seen, done } = watch({ turns: [turn] });
    await clock.advance(5000);
    await done;
    expect(seen).toEqual([
      "0 text_delta",
      "100 call_delta",
      "100 call_complete",
      "1100 text_delta",
      "1150 failed",
    ]);
    expect(clock.pending).toBe(0);
    expect(getEventListeners(abort.signal, "abort")).toEqual([]);
  });

  test("passes before calls and the error of a plain turn too", async () => {
    const calls = [{ tool: "x.y", after_ms: 20 }, { tool: "x.z" }];
    const { clock, seen, done } = watch({
      turns: [{ text: "a", calls, error: { kind: "overloaded", after_ms: 5 } }],
    });
    await clock.advance(100);
    await done;
    expect(seen).toEqual([
      "0 text_delta",
      "20 call_delta",
      "20 call_complete",
      "20 call_delta",
      "20 call_complete",
      "25 failed",
    ]);
  });

  test("runs on while the reader is busy, as on a wire", async () => {
    const clock = createHeldClock();
    const turns = [
      { parts: [{ text: "a" }, { text: "b", after_ms: 100 }, { text: "c", after_ms: 100 }] },
    ];
    const stream = scriptedModel({ turns }, { clock }).stream(
      request(),
      new AbortController().signal,
    );
    const seen: string[] = [];
    const done = (async () => {
      for await (const event of stream) {
        seen.push(`${clock.now()} ${event.type === "text_delta" ? event.text : event.type}`);
        if (seen.length > 1) continue;
        await new Promise<void>((resolve) => {
          clock.after(150, resolve);
        });
      }
    })();
    await clock.advance(1000);
    await done;
    expect(seen).toEqual(["0 a", "150 b", "200 c", "200 completed"]);
  });

  test("ends at once with the signal, and leaves no timer", async () => {
    const { clock, abort, seen, done } = watch({ turns: [turn] });
    await clock.advance(500);
    abort.abort();
    await done;
    expect(seen.slice(-2)).toEqual(["100 call_complete", "500 failed"]);
    expect(clock.pending).toBe(0);
  });

  test("an abort between two pieces is the last event", async () => {
    const abort = new AbortController();
    const seen: ModelEvent[] = [];
    for await (const event of scriptedModel({ turns: [{ text: "a b c" }] }).stream(
      request(),
      abort.signal,
    )) {
      seen.push(event);
      if (seen.length === 2) abort.abort();
    }
    expect(seen.map(({ type }) => type)).toEqual(["text_delta", "text_delta", "failed"]);
    expect(seen.at(-1)).toMatchObject({ error: { kind: "aborted" } });
  });

  test("a request that is aborted before it is read takes no turn", async () => {
    const model = scriptedModel({ turns: [{ text: "first" }] });
    const aborted = await all(model.stream(request(), AbortSignal.abort()));
    expect(aborted).toMatchObject([{ type: "failed", error: { kind: "aborted" } }]);
    expect(textIn(await all(model.stream(request(), new AbortController().signal)))).toBe("first");
  });
});

describe("the turns of a script", () => {
  const lines = (...texts: string[]) => texts.map((text) => ({ text }));

  function asker(script: Script) {
    const model = scriptedModel(script, { id: "script:s.yaml" });
    return (fields: Partial<ModelRequest>) =>
      all(model.stream(request(fields), new AbortController().signal)).then((events) =>
        events.at(-1)?.type === "failed" ? failureIn(events) : textIn(events),
      );
  }

  test("are one conversation: a second run of the main agent continues with the next", async () => {
    const ask = asker({ turns: lines("a", "b", "c") });
    expect(await ask({ run_id: "r1", index: 1 })).toBe("a");
    expect(await ask({ run_id: "r1", index: 2 })).toBe("b");
    expect(await ask({ run_id: "r2", index: 1 })).toBe("c");
  });

  test("run out with an error that says which request came", async () => {
    verifies("SCRIPT-1");
    const ask = asker({ turns: lines("a", "b") });
    await ask({});
    await ask({ index: 2 });
    const messages = [
      {
        role: "tool" as const,
        results: [result("hello"), result("bad", { is_error: true, name: "x" })],
      },
    ];
    expect(await ask({ index: 3, messages })).toBe(
      'script: script:s.yaml has 2 turns for the main agent (turns), and all are played; request 3 came, and its last message is the results of code__read_file: "hello", x: error "bad". Add what is to be answered, or end the run before.',
    );
  });

  test.each([
    ["no message", [], "it has no messages"],
    [
      "a user's",
      [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }],
      `its last message is the user's "hi"`,
    ],
    [
      "an assistant's",
      [{ role: "assistant" as const, text: "so", calls: [] }],
      `its last message is the assistant's "so"`,
    ],
    [
      "a long one",
      [{ role: "user" as const, content: [{ type: "text" as const, text: "x".repeat(9999) }] }],
      `the user's "${"x".repeat(199)}…"`,
    ],
    [
      "many results",
      [{ role: "tool" as const, results: Array.from({ length: 9 }, () => result("r")) }],
      '"r" and 5 more',
    ],
  ])("that run out at %s say so", async (_, messages, words) => {
    expect(await asker({ turns: [] })({ messages })).toContain(words);
  });

  test("are a list for each start of a child, also when several run at the same time", async () => {
    const ask = asker({
      turns: lines("main 1", "main 2"),
      agents: {
        child: [lines("one 1", "one 2"), lines("two 1", "two 2")],
        other: [lines("other 1")],
      },
    });
    const child = { agent_definition_id: "child" };
    expect(await ask({})).toBe("main 1");
    expect(await ask({ ...child, run_id: "r1" })).toBe("one 1");
    expect(await ask({ ...child, run_id: "r2" })).toBe("two 1");
    expect(await ask({ agent_definition_id: "other", run_id: "r3" })).toBe("other 1");
    expect(await ask({ ...child, run_id: "r1", index: 2 })).toBe("one 2");
    expect(await ask({ ...child, run_id: "r2", index: 2 })).toBe("two 2");
    expect(await ask({ index: 2 })).toBe("main 2");
    expect(await ask({ ...child, run_id: "r2", index: 3 })).toContain(
      'has 2 turns for the agent "child" in this start (agents.child[1]), and all are played; request 3 came',
    );
    expect(await ask({ ...child, run_id: "r4" })).toContain(
      'has turns for 2 starts of the agent "child", and this is start 3',
    );
  });

  test("continue with a run's list when its first request is sent again", async () => {
    const ask = asker({
      turns: [],
      agents: { child: [[{ error: "overloaded" }, { text: "again" }], lines("two")] },
    });
    const first = { agent_definition_id: "child", run_id: "r1", index: 1 };
    expect(await ask(first)).toMatch(/^overloaded/);
    expect(await ask(first)).toBe("again");
  });

  test("go by the index of the request where the run is unknown", async () => {
    const ask = asker({ turns: [], agents: { child: [lines("one 1", "one 2"), lines("two 1")] } });
    const child = { agent_definition_id: "child" };
    expect(await ask({ ...child, index: 1 })).toBe("one 1");
    expect(await ask({ ...child, index: 2 })).toBe("one 2");
    expect(await ask({ ...child, index: 1 })).toBe("two 1");
  });

  test("are the main agent's under its own definition, and no one else's", async () => {
    const ask = asker({ turns: lines("a", "b"), agents: { child: [] } });
    expect(await ask({ agent_definition_id: "reviewer" })).toBe("a");
    expect(await ask({ agent_definition_id: "stranger" })).toContain(
      'has no turns for the agent "stranger" under agents; it has them for child',
    );
    expect(await ask({})).toContain("has played for another main agent");
    expect(await ask({ agent_definition_id: "reviewer", index: 2 })).toBe("b");
  });

  test("are found by ids that objects have anyway", async () => {
    const ask = asker({ turns: lines("a"), agents: {} });
    await ask({});
    expect(await ask({ agent_definition_id: "constructor" })).toContain("it has none for children");
  });
});

describe("what a turn expects", () => {
  const asked: Partial<ModelRequest> = {
    index: 4,
    system: ["You are careful.", "Project rules."],
    tools: [{ name: "code__read_file", description: "", input_schema: {} }],
    messages: [
      { role: "user", content: [{ type: "text", text: "first wish" }] },
      { role: "tool", results: [result("older")] },
      { role: "user", content: [{ type: "text", text: "second wish" }] },
      {
        role: "tool",
        results: [result("hello world"), result("no such file", { is_error: true })],
      },
    ],
  };

  test("is looked for in time that grows with the text, for any pattern", async () => {
    verifies("SCHEMA-8");
    const text = `${"a".repeat(50_000)}!`;
    const content = [{ type: "text" as const, text }];
    const events = await play(
      { turns: [{ text: "Done.", expect: [{ last_user: { matches: "^(a+)+$" } }] }] },
      { ...asked, messages: [{ role: "user", content }] },
    );
    expect(events.at(-1)).toMatchObject({
      error: { message: expect.stringContaining("should match /^(a+)+$/") as string },
    });
  });

  test("is met in silence", async () => {
    const events = await play(
      {
        turns: [
          {
            text: "Done.",
            expect: [
              {
                result: 0,
                contains: "hello",
                not_contains: "bye",
                matches: "^hello \\w+$",
                status: "ok",
              },
              { result: 1, status: "error" },
              { last_user: { contains: "second" } },
              { system: { contains: "careful", matches: "rules\\.$" } },
              { tools: ["code.read_file"] },
              { not_tools: ["code.delete_path"] },
            ],
          },
        ],
      },
      asked,
    );
    expect(textIn(events)).toBe("Done.");
  });

  test.each([
    [
      { result: 0, contains: "bye" },
      'result 0 (code__read_file) should contain "bye" and is "hello world"',
    ],
    [
      { result: 0, contains: "older" },
      'result 0 (code__read_file) should contain "older" and is "hello world"',
    ],
    [
      { result: 0, not_contains: "hello" },
      'result 0 (code__read_file) should not contain "hello" and is "hello world"',
    ],
    [
      { result: 0, matches: "^world" },
      'result 0 (code__read_file) should match /^world/ and is "hello world"',
    ],
    [
      { result: 0, status: "error" as const },
      'result 0 (code__read_file) should be an error and is ok: "hello world"',
    ],
    [
      { result: 1, status: "ok" as const },
      'result 1 (code__read_file) should be ok and is an error: "no such file"',
    ],
    [{ result: 2 }, "result 2 was expected, and there are 2 results (counted from 0)"],
    [
      { last_user: { contains: "first" } },
      'the last user message should contain "first" and is "second wish"',
    ],
    [
      { system: { not_contains: "rules" } },
      'the system text should not contain "rules" and is "You are careful.\\nProject rules."',
    ],
    [
      { tools: ["code.read_file", "code.search"] },
      "code.search should be offered; offered are code__read_file",
    ],
    [{ not_tools: ["code.read_file"] }, "code.read_file should not be offered"],
  ])("and is not there fails the request: %j", async (expectation, words) => {
    const met = { result: 0 };
    const events = await play({ turns: [{ text: "Done.", expect: [met, expectation] }] }, asked);
    expect(events).toEqual([
      {
        type: "failed",
        error: {
          kind: "script",
          message: `script: request 4 is not what turns[0] expects. expect[1]: ${words}`,
        },
      },
    ]);
  });

  test("reports every miss, bounded, also when nothing was sent", async () => {
    const misses = Array.from({ length: 12 }, (_, index) => ({ result: index, contains: "x" }));
    const failure = failureIn(
      await play({
        turns: [
          { text: "a", expect: [{ last_user: { contains: "x" } }, { tools: ["a.b"] }, ...misses] },
        ],
      }),
    );
    expect(failure).toContain(
      "expect[0]: a user message was expected, and there is none; expect[1]: a.b should be offered; offered are none; expect[2]: result 0 was expected, and there are 0 results",
    );
    expect(failure).toMatch(/expect\[9\].*; and 4 more$/);
  });

  test("shows long content and long lists of tools in short", async () => {
    const tools = Array.from({ length: 40 }, (_, index) => ({
      name: `t${index}`,
      description: "",
      input_schema: {},
    }));
    const messages = [{ role: "tool" as const, results: [result("y".repeat(100_000))] }];
    const failure = failureIn(
      await play(
        { turns: [{ text: "a", expect: [{ result: 0, contains: "x" }, { tools: ["a.b"] }] }] },
        { messages, tools },
      ),
    );
    expect(failure).toContain("and 10 more");
    expect(failure.length).toBeLessThan(800);
  });
});

test("a call whose end ended others does not begin before the runtime has those, too", async () => {
  verifies("REPLAY-3");
  const model = scriptedModel({
    turns: [
      {
        calls: [
          { tool: "a.fails", id: "first" },
          { tool: "a.waits", id: "second", guard: { until: "first" } },
        ],
      },
    ],
  });
  const guard = model.hooks?.find(
    ({ event, tool }) => event === "PreToolUse" && tool === "a.fails",
  );
  const context = { signal: new AbortController().signal };
  let begins = false;
  void Promise.resolve(guard?.run({ tool_call_id: "first" } as never, context)).then(() => {
    begins = true;
  });
  const taken: string[] = [];
  for await (const event of model.stream(request(), context.signal)) {
    expect(begins).toBe(taken.includes("second"));
    if (event.type === "call_complete") taken.push(event.id ?? "");
  }
  expect(begins).toBe(true);
});
