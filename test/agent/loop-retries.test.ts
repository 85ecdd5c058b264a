// Failures of the model that may pass (LOOP-3, SCHED-6), and the next model when they do not (MODEL-4).

import { PORTABLE_PROFILE } from "@soong/core";
import type { ModelError, ModelEvent } from "@soong/agent";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import {
  allEvents,
  calls,
  done,
  failed,
  openStage,
  says,
  texts,
  writtenModel,
  type LoopStage,
} from "./loop-stage.ts";
import { ALLOW_ALL, readTool, writeTool } from "./loop-tools.ts";

const MAY_PASS: readonly ModelError["kind"][] = [
  "overloaded",
  "rate_limited",
  "disconnect",
  "network",
  "timeout",
  "server_error",
  "malformed_stream",
];

test.each(MAY_PASS)("a failure of kind %s is tried again after a wait", async (kind) => {
  verifies("LOOP-3");
  const stage = await openStage([
    [says("half"), failed(kind)],
    [says("whole"), done()],
  ]);
  const run = stage.conversation.send("go");
  await stage.clock.advance(200);
  expect(stage.model.requests).toHaveLength(1);
  await stage.clock.advance(300);
  expect(stage.model.requests).toHaveLength(2);
  expect(await stage.finish(run)).toMatchObject({ reason: "completed", answer: "whole", turns: 1 });
  expect(stage.model.requests[1]).toEqual(stage.model.requests[0]);
  expect(stage.journal.nodes).toHaveLength(2);
  expect(stage.clock.pending).toBe(0);
});

test.each([
  "authentication",
  "quota",
  "unknown_model",
  "invalid_request",
  "unsupported_capability",
  "script",
] as const)("a failure of kind %s is not", async (kind) => {
  verifies("LOOP-3");
  const stage = await openStage([[failed(kind)]]);
  expect(await stage.ask("go")).toMatchObject({ reason: "failed", error: { code: kind } });
  expect(stage.model.requests).toHaveLength(1);
});

test("waits double, vary by run and not by time, and end with the attempts", async () => {
  verifies("LOOP-3");
  const waits = async (run_id: string): Promise<number[]> => {
    const stage = await openStage(
      Array.from({ length: 4 }, () => [failed("server_error")]),
      {
        run: { run_id },
      },
    );
    const run = stage.conversation.send("go");
    expect(await stage.finish(run)).toMatchObject({ reason: "failed", turns: 1 });
    expect(stage.model.requests).toHaveLength(4);
    return (await allEvents(run)).flatMap((event) =>
      event.type === "abandoned" ? [event.wait_ms] : [],
    );
  };
  const first = await waits("run_a");
  expect(await waits("run_a")).toEqual(first);
  expect(await waits("run_b")).not.toEqual(first);
  first.forEach((wait, i) => {
    expect(wait).toBeGreaterThanOrEqual(250 * 2 ** i);
    expect(wait).toBeLessThanOrEqual(500 * 2 ** i);
  });
});

test("a retry says which it is, and whether anything of the answer had come", async () => {
  verifies("LOOP-3");
  const stage = await openStage([
    [failed("overloaded")],
    [says("Half an"), failed("disconnect")],
    [says("ok"), done()],
  ]);
  const run = stage.conversation.send("go");
  await stage.finish(run);
  const retries = (await allEvents(run)).filter(({ type }) => type === "abandoned");
  expect(retries).toMatchObject([
    { had_begun: false, retry: { count: 1, of: 3 } },
    { had_begun: true, retry: { count: 2, of: 3 } },
  ]);
});

test("the wait a provider asks for is kept, unless it is too long to be one", async () => {
  verifies("LOOP-3");
  const stage = await openStage([
    [failed("rate_limited", { retry_after_ms: 20_000 })],
    [says("ok"), done()],
  ]);
  const run = stage.conversation.send("go");
  await stage.clock.advance(19_999);
  expect(stage.model.requests).toHaveLength(1);
  await stage.clock.advance(1);
  expect((await stage.finish(run)).answer).toBe("ok");

  const long = await openStage([[failed("rate_limited", { retry_after_ms: 3_600_000 })]]);
  expect(await long.ask("go")).toMatchObject({ reason: "failed", error: { code: "rate_limited" } });
  expect(long.model.requests).toHaveLength(1);
});

test("a stream that says nothing, breaks off, throws or ends inside a call has failed", async () => {
  verifies("LOOP-3");
  const throwing = (): never => {
    throw new Error("a bug");
  };
  const open: ModelEvent = { type: "call_delta", key: "1", name: "a__read", arguments: '{"x' };
  const stage = await openStage(
    [
      [{ wait: 10_000_000 }],
      [says("…")],
      [throwing],
      [open, done("tool_use")],
      [says("ok"), done()],
    ],
    { limits: { retries: 4, idle_timeout_ms: 60_000 } },
  );
  expect(await stage.ask("go")).toMatchObject({ reason: "completed", answer: "ok" });
  const kinds = stage.facts("model.failed").map(({ data }) => data.error);
  expect(kinds).toMatchObject([
    { kind: "timeout" },
    { kind: "disconnect" },
    { kind: "malformed_stream" },
    { kind: "malformed_stream" },
  ]);
});

test("empty pieces are no answer: a model that sends nothing else is idle, and is asked to let go", async () => {
  verifies("LOOP-3");
  const empty: ModelEvent[] = [
    says(""),
    { type: "reasoning_delta", text: "" },
    { type: "call_delta", key: "1", arguments: "" },
  ];
  const signals: AbortSignal[] = [];
  const stage = await openStage([], {
    limits: { retries: 0, idle_timeout_ms: 60_000 },
    models: (clock) => [
      {
        id: "test:empty",
        profile: PORTABLE_PROFILE,
        async *stream(_request, signal) {
          signals.push(signal);
          yield says("so far");
          for (;;) {
            await new Promise<void>((resolve) => {
              clock.after(1000, resolve);
            });
            yield* empty;
          }
        },
      },
    ],
  });
  const run = stage.conversation.send("go");
  await stage.clock.advance(59_000);
  expect(signals[0]?.aborted).toBe(false);
  const end = await stage.finish(run);
  expect(end).toMatchObject({ reason: "failed", error: { code: "timeout" } });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

test("a model that thinks aloud for long is not idle", async () => {
  verifies("LOOP-3");
  const thinks: ModelEvent = { type: "reasoning_delta", text: "hm" };
  const stage = await openStage(
    [[...Array.from({ length: 9 }, () => [thinks, { wait: 50_000 }]).flat(), says("ok"), done()]],
    { limits: { idle_timeout_ms: 60_000 } },
  );
  expect(await stage.ask("go")).toMatchObject({ reason: "completed", answer: "ok" });
});

test("an answer is cut off after max_answer_ms, however busy it is, and is not asked for again", async () => {
  verifies("LOOP-3", "LOOP-1");
  let fallback = writtenModel({} as never, []);
  const stage = await openStage(
    [Array.from({ length: 1000 }, () => [says("more "), { wait: 1000 }]).flat()],
    {
      limits: { max_answer_ms: 90_000 },
      others: (clock) => [(fallback = writtenModel(clock, [], "test:second"))],
    },
  );
  const end = await stage.ask("go");
  expect(end).toMatchObject({ reason: "failed", error: { code: "answer_too_slow" } });
  expect(end.error?.message).toContain("model.max_answer_ms");
  expect(stage.model.requests).toHaveLength(1);
  expect(fallback.requests).toEqual([]);
  expect(stage.clock.pending).toBe(0);
});

const ENDLESS: readonly [what: string, piece: (i: number) => ModelEvent][] = [
  ["text", () => says("x".repeat(100))],
  ["tiny pieces of text", () => says("x")],
  ["empty pieces", () => says("")],
  ["reasoning", () => ({ type: "reasoning_delta", text: "x".repeat(100) })],
  ["arguments", () => ({ type: "call_delta", key: "1", arguments: "x".repeat(100) })],
  ["calls", (i) => calls("a__read", {}, `${i}`)],
];

test.each(ENDLESS)("%s without end: cut off at max_answer_bytes", async (_what, piece) => {
  verifies("LOOP-3", "LOOP-1");
  let made = 0;
  const stage = await openStage([], {
    tools: [readTool("a.read", () => "x")],
    limits: { max_answer_bytes: 64 * 1024 },
    models: () => [
      {
        id: "test:endless",
        profile: PORTABLE_PROFILE,
        async *stream() {
          for (;;) yield piece((made += 1));
        },
      },
    ],
  });
  const end = await stage.ask("go");
  expect(end).toMatchObject({ reason: "failed", error: { code: "answer_too_large" } });
  expect(end.error?.message).toContain("model.max_answer_bytes");
  expect(made).toBeLessThanOrEqual(1025);
  expect(stage.facts("model.started")).toHaveLength(1);
});

test.each([
  null,
  "text",
  { type: "thought" },
  { type: "text_delta" },
  { type: "call_complete", key: "1", name: "a", arguments: {} },
  { type: "completed", stop: "end_turn" },
  { type: "failed", error: "x" },
])("an event that is none (%j) is a failure, not a crash", async (event) => {
  verifies("LOOP-3");
  const stage = await openStage([[event as never], [says("ok"), done()]]);
  expect(await stage.ask("go")).toMatchObject({ reason: "completed", answer: "ok" });
  expect(stage.facts("model.failed")[0]?.data.error).toMatchObject({ kind: "malformed_stream" });
});

test("an event that throws when it is read is a failure of the adapter, and nothing is left unhandled", async () => {
  verifies("LOOP-3");
  const event = {
    get type(): never {
      throw new Error("not yet");
    },
  };
  const stage = await openStage([[event as never], [says("ok"), done()]]);
  expect(await stage.ask("go")).toMatchObject({ reason: "completed", answer: "ok" });
  expect(stage.facts("model.failed")[0]?.data.error).toMatchObject({ kind: "malformed_stream" });
});

test.each<[how: string, events: readonly unknown[], aborted: boolean]>([
  ["is cut off", Array.from({ length: 100 }, () => says("x".repeat(100))), true],
  ["sends what is no event", [says("x"), { type: "thought" }], true],
  ["has ended its answer", [says("x"), done()], false],
])("the signal of a model that %s", async (_how, events, aborted) => {
  verifies("LOOP-3");
  const signals: AbortSignal[] = [];
  const stage = await openStage([], {
    limits: { retries: 0, max_answer_bytes: 1024 },
    models: () => [
      {
        id: "test:left",
        profile: PORTABLE_PROFILE,
        stream(_request, signal) {
          signals.push(signal);
          const rest = events.values() as Iterator<ModelEvent>;
          const next = () => Promise.resolve(rest.next());
          // Its own end is no help: only the signal reaches what it waits for.
          return { [Symbol.asyncIterator]: () => ({ next, return: () => new Promise(() => {}) }) };
        },
      },
    ],
  });
  await stage.ask("go");
  expect(signals.map((signal) => signal.aborted)).toEqual([aborted]);
});

test("calls of an abandoned attempt are discarded, and the next attempt begins from nothing", async () => {
  verifies("LOOP-3", "SCHED-6");
  const written: string[] = [];
  const stage = await openStage(
    [
      [
        says("x"),
        calls("a__read", {}, "1"),
        calls("a__write", { n: 1 }, "2"),
        failed("disconnect"),
      ],
      [calls("a__read", {}, "1"), calls("a__write", { n: 2 }, "2"), done("tool_use")],
      [says("ok"), done()],
    ],
    {
      tools: [readTool("a.read", () => "x"), writeTool("a.write", written)],
      run: { policy: ALLOW_ALL },
    },
  );
  expect((await stage.ask("go")).reason).toBe("completed");
  expect(written).toEqual(['{"n":2}']);
  expect(stage.facts("tool.discarded")).toHaveLength(2);
  expect(texts(stage.model.requests[2]?.messages ?? [])).toEqual([
    "user: go",
    "assistant: <a__read><a__write>",
    'tool: x | written {"n":2}',
  ]);
  // The provider repeats its ids; ours are told apart.
  const [, answer] = stage.model.requests[2]?.messages ?? [];
  const ids = answer?.role === "assistant" ? answer.calls.map((call) => call.tool_call_id) : [];
  expect(new Set([...ids, "1", "2"]).size).toBe(4);
});

test.each(["disconnect", "prompt_too_long"] as const)(
  "after %s an attempt whose call has written is not made again, and what it did stays on the path",
  async (kind) => {
    verifies("LOOP-3");
    const written: string[] = [];
    const stage = await openStage(
      [
        [says("Writing."), calls("a__write", { n: 1 }, "1"), { wait: 10 }, failed(kind)],
        [says("I see."), done()],
      ],
      {
        tools: [writeTool("a.write", written)],
        run: { policy: ALLOW_ALL },
        config: { tools: { early_start: "all" } },
      },
    );
    const end = await stage.ask("go");
    expect(end).toMatchObject({ reason: "failed", error: { code: kind } });
    expect(end.error?.message).toContain("not asked again");
    expect(stage.model.requests).toHaveLength(1);
    expect(written).toEqual(['{"n":1}']);
    await stage.ask("what happened?");
    expect(texts(stage.model.requests[1]?.messages ?? [])).toEqual([
      "user: go",
      "assistant: Writing.<a__write>",
      'tool: written {"n":1}',
      "user: what happened?",
    ]);
  },
);

test("a write still at work when its answer breaks off ends with its result, and no model is asked again", async () => {
  verifies("LOOP-3", "SCHED-6");
  let runs = 0;
  let fallback = writtenModel({} as never, []);
  const stage: LoopStage = await openStage(
    [[calls("a__write", {}, "1"), { wait: 10 }, failed("overloaded")]],
    {
      tools: [
        {
          ...writeTool("a.write", []),
          handler: () =>
            new Promise((resolve) => {
              runs += 1;
              stage.clock.after(5000, () => resolve("written"));
            }),
        },
      ],
      run: { policy: ALLOW_ALL },
      config: { tools: { early_start: "all" } },
      others: (clock) => [(fallback = writtenModel(clock, [], "test:second"))],
    },
  );
  const end = await stage.ask("go");
  expect(end).toMatchObject({ reason: "failed", error: { code: "overloaded" } });
  expect(runs).toBe(1);
  expect(stage.model.requests).toHaveLength(1);
  expect(fallback.requests).toEqual([]);
  expect(stage.facts("tool.discarded", "routing.fallback")).toEqual([]);
  expect(stage.facts("tool.completed")).toHaveLength(1);
  expect(stage.facts("model.failed")[0]?.data).toMatchObject({ wrote: true });
});

test("after the last attempt the next model is asked, and the run stays with it", async () => {
  verifies("MODEL-4", "LOOP-3");
  let second = writtenModel({} as never, []);
  const stage = await openStage([[failed("overloaded")], [failed("overloaded")]], {
    tools: [readTool("a.read", () => "x")],
    limits: { retries: 1 },
    others: (clock) => {
      second = writtenModel(
        clock,
        [
          [calls("a__read"), done("tool_use")],
          [says("from two"), done()],
        ],
        "test:second",
      );
      return [second];
    },
  });
  expect(await stage.ask("go")).toMatchObject({
    reason: "completed",
    answer: "from two",
    turns: 2,
  });
  expect(stage.model.requests).toHaveLength(2);
  expect(second.requests).toHaveLength(2);
  expect(stage.facts("routing.fallback")).toHaveLength(1);
  expect(stage.facts("routing.fallback")[0]?.data).toMatchObject({
    from: "test:written",
    to: "test:second",
    reason: "overloaded",
    attempts: 2,
  });
  expect(stage.facts("routing.decided").map(({ data }) => data)).toMatchObject([
    {
      requested: "test:written",
      requirements: { tools: 1 },
      candidates: [{ model: "test:written" }, { model: "test:second" }],
      selected: "test:written",
      fallback_chain: ["test:second"],
      budget: { max_turns: 128, turns_used: 0 },
      rate_limit: { state: "not_limited" },
      reason: "first of the chain",
    },
    {
      selected: "test:second",
      fallback_chain: [],
      rate_limit: {
        state: "limited",
        limited: [{ model: "test:written", kind: "overloaded", until: null }],
      },
      reason: "fallback from test:written: overloaded",
    },
    { selected: "test:second", reason: "chosen by an earlier fallback" },
  ]);
});

test("a model that cannot take the request is passed over, with the reason on record", async () => {
  verifies("MODEL-4");
  const short = { ...PORTABLE_PROFILE, names: { ...PORTABLE_PROFILE.names, max_length: 3 } };
  const { chars, first_chars } = short.names;
  const stage = await openStage([[failed("unsupported_capability")]], {
    tools: [readTool("a.read", () => "x")],
    others: (clock) => [
      writtenModel(clock, [], "test:none", { ...PORTABLE_PROFILE, max_tools: 0 }),
      writtenModel(clock, [], "test:short", short),
      writtenModel(clock, [[says("third"), done()]], "test:third"),
    ],
  });
  expect(await stage.ask("go")).toMatchObject({ reason: "completed", answer: "third" });
  expect(stage.facts("routing.decided")[0]?.data.candidates).toEqual([
    { model: "test:written" },
    {
      model: "test:none",
      excluded:
        "it does not take this: 1 tool is loaded and at most 0 can be sent; defer or exclude some",
    },
    {
      model: "test:short",
      excluded: `it does not take this: the tool name "a__read" must be 1 to 3 characters of ${chars}, the first of ${first_chars}`,
    },
    { model: "test:third" },
  ]);
});

test("a wrong key is no reason to ask another model", async () => {
  verifies("MODEL-4");
  const stage = await openStage([[failed("authentication")]], {
    others: (clock) => [writtenModel(clock, [], "test:second")],
  });
  expect(await stage.ask("go")).toMatchObject({ error: { code: "authentication" } });
});

test("what a provider left in an answer goes back to its own model alone", async () => {
  verifies("MODEL-4");
  const provider_data = { signature: "abc" };
  const withData: ModelEvent = { type: "completed", stop: "tool_use", usage: {}, provider_data };
  let second = writtenModel({} as never, []);
  const stage = await openStage(
    [
      [calls("a__read", {}, "1"), withData],
      [calls("a__read", {}, "2"), done("tool_use")],
      [failed("overloaded")],
    ],
    {
      tools: [readTool("a.read", () => "x")],
      limits: { retries: 0 },
      others: (clock) => [(second = writtenModel(clock, [[says("ok"), done()]], "test:second"))],
    },
  );
  await stage.ask("go");
  expect(stage.model.requests[2]?.messages[1]).toMatchObject({ provider_data });
  expect(second.requests[0]?.messages[1]).not.toHaveProperty("provider_data");
});

test("an abort during a wait ends the run at once", async () => {
  verifies("LOOP-3", "LOOP-2");
  const stage = await openStage([[failed("rate_limited", { retry_after_ms: 60_000 })]]);
  const run = stage.conversation.send("go");
  await stage.clock.settle();
  const aborted = run.abort("enough");
  await stage.clock.settle();
  await aborted;
  expect(await run.end).toMatchObject({ reason: "aborted_streaming" });
  expect(stage.clock.pending).toBe(0);
});
