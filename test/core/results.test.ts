// RESULT-1…5: every call ends in one result, each status in its fact, errors say what to do, and one
// mapping gives the views.

import {
  isTerminalFact,
  terminalFactType,
  ToolFailure,
  toolResult,
  viewsOf,
  type AnyTool,
  type Fact,
  type ToolResult,
  type ToolStatus,
  type TerminalFactType,
} from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { drive, heldTool, setStage } from "./drive.ts";
import { personWho } from "./people.ts";
import { createSpyJournal } from "./spy-journal.ts";
import { allowAll, createWorld, reader, textOf, writer, type WorldOptions } from "./world.ts";

async function resultOf(handler: AnyTool["handler"], about: Partial<AnyTool> = {}) {
  const world = await createWorld({ tools: [reader("a.tool", 0, { ...about, handler })] });
  const [result] = await world.execute({ id: "c", name: "a.tool", arguments: {} });
  if (result === undefined) throw new Error("no result");
  return { result, world };
}

function terminalFacts(facts: readonly Fact[], id?: string): Fact<TerminalFactType>[] {
  const ends = facts.filter(isTerminalFact);
  return ends.filter(({ tool_call_id }) => id === undefined || tool_call_id === id);
}

function raise(error: unknown): never {
  throw error;
}

describe("every call", () => {
  it("gets exactly one terminal result, paired by its id, for any course", async () => {
    verifies("RESULT-1", "RESULT-3");
    const person = personWho(({ tool_name }) => ({
      decision: tool_name === "a.rejected" ? "deny" : "allow_once",
    }));
    const held = heldTool("a.held", { interrupt_behavior: "cancel" });
    const stage = await setStage({
      tools: [
        held.tool,
        reader("a.fine"),
        reader("a.partial", 0, { handler: () => toolResult({ status: "partial", data: 1 }) }),
        reader("a.fails", 0, { handler: () => raise(new Error("no")) }),
        reader("a.slow", 0, { timeout_ms: 5, handler: () => new Promise(() => {}) }),
        reader("a.off", 0, { isEnabled: () => false }),
        reader("a.late", 0, { defer: true }),
        writer("a.rejected"),
        writer("a.after"),
      ],
      ask: person.ask,
      policy: { rules: [{ tool: "a.denied", decision: "deny" }] },
    });
    const names = [
      ["fine", "a.fine"],
      ["partial", "a.partial"],
      ["fails", "a.fails"],
      ["slow", "a.slow"],
      ["unknown", "a.nobody"],
      ["excluded", "a.off"],
      ["deferred", "a.late"],
      ["invalid", "a.fine"],
      ["rejected", "a.rejected"],
      ["skipped", "a.after"],
    ] as const;
    const calls = names.map(([id, name]) => ({
      id,
      name,
      arguments: id === "invalid" ? "{" : "{}",
    }));
    const results = await drive(stage.clock, stage.run.execute(calls));
    expect(results.map(({ tool_call_id, status }) => [tool_call_id, status])).toEqual([
      ["fine", "succeeded"],
      ["partial", "partial"],
      ["fails", "failed"],
      ["slow", "timed_out"],
      ["unknown", "denied"],
      ["excluded", "denied"],
      ["deferred", "failed"],
      ["invalid", "failed"],
      ["rejected", "rejected"],
      ["skipped", "skipped"],
    ]);
    for (const [way, expected] of [
      ["interrupt", "cancelled"],
      ["abort", "aborted"],
      ["discard", "discarded"],
    ] as const) {
      const turn = stage.run.openTurn();
      turn.push({ id: way, name: "a.held", arguments: "{}" });
      await stage.clock.settle();
      void turn[way]("for a reason");
      turn.end();
      const [result] = await drive(stage.clock, turn.settled());
      expect([result?.tool_call_id, result?.status]).toEqual([way, expected]);
      results.push(result as ToolResult);
    }
    await stage.clock.advance(10_000);
    for (const result of results) {
      const own = terminalFacts(stage.facts(), result.tool_call_id);
      expect(own, result.tool_call_id).toHaveLength(1);
      expect(own[0]?.type).toBe(terminalFactType(result.status));
      expect(own[0]?.data.result).toEqual(result);
      expect(result.is_error).toBe(!["succeeded", "partial"].includes(result.status));
    }
    expect(terminalFacts(stage.facts())).toHaveLength(results.length);
  });

  it.each<[ToolStatus, string]>([
    ["succeeded", "tool.completed"],
    ["partial", "tool.completed"],
    ["failed", "tool.failed"],
    ["timed_out", "tool.failed"],
    ["aborted", "tool.failed"],
    ["unknown", "tool.failed"],
    ["denied", "tool.denied"],
    ["rejected", "tool.denied"],
    ["skipped", "tool.skipped"],
    ["cancelled", "tool.cancelled"],
    ["discarded", "tool.discarded"],
  ])("that ends as %s leaves %s", (status, fact) => {
    verifies("RESULT-3");
    expect(terminalFactType(status)).toBe(fact);
  });

  it("gets its own result, though calls end in another order and share an id", async () => {
    verifies("RESULT-1");
    const { tool, calls } = heldTool("a.held");
    const stage = await setStage({ tools: [tool] });
    const given = ["a", "b", "a"].map((id, n) => ({ id, name: "a.held", arguments: { n } }));
    const work = stage.run.execute(given);
    await stage.clock.settle();
    for (const n of [2, 0, 1]) calls[n]?.finish(`answer to ${n}`);
    const results = await drive(stage.clock, work);
    expect(results.map((result) => textOf(result))).toEqual([0, 1, 2].map((n) => `answer to ${n}`));
    for (const [n, result] of results.entries()) {
      const [terminal] = terminalFacts(stage.facts(), result.tool_call_id);
      expect(terminal?.data.result).toMatchObject({
        tool_call_id: result.tool_call_id,
        content: [{ text: `answer to ${n}` }],
      });
    }
  });

  it("whose ending cannot be recorded is unknown to the model, never a success", async () => {
    verifies("RESULT-1", "RESULT-3");
    const spy = createSpyJournal({
      onAppend: ({ facts }) => {
        if (facts.some(isTerminalFact)) throw new Error("disk full");
      },
    });
    const stage = await setStage({ spy, tools: [writer("a.write")], policy: allowAll });
    const [result] = await drive(
      stage.clock,
      stage.run.execute([{ id: "c", name: "a.write", arguments: {} }]),
    );
    expect(result).toMatchObject({ tool_call_id: "c", status: "unknown", is_error: true });
    expect(textOf(result)).toContain("disk full");
    expect(stage.journal.nodes).toEqual([]);
  });
});

describe("a result", () => {
  it("has every field, in JSON, with where it came from", async () => {
    verifies("RESULT-2");
    const { result } = await resultOf(() => ({ a: 1 }));
    expect(JSON.parse(JSON.stringify(result))).toEqual(result);
    expect(result).toEqual({
      tool_call_id: "c",
      tool_name: "a.tool",
      status: "succeeded",
      is_error: false,
      content: [{ type: "json", json: { a: 1 } }],
      summary: expect.any(String) as string,
      data: { a: 1 },
      artifacts: [],
      metadata: {
        duration_ms: 0,
        provenance: { source_kind: "code", source_id: "code-1" },
      },
    });
  });

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["an empty text", ""],
    ["blank text", " \n"],
    ["a full result without content", toolResult({ ok: true })],
    ["an empty list of blocks", toolResult({ content: [] })],
    ["a block of empty text", toolResult({ content: [{ type: "text", text: "" }] })],
  ])("of %s says so", async (_, value) => {
    verifies("RESULT-3");
    const { result } = await resultOf(() => value);
    expect(result.status).toBe("succeeded");
    expect(textOf(result)).toMatch(/nothing|empty|blank/i);
    expect(result.summary).not.toBe("");
  });
});

describe("an error", () => {
  it.each<[string, AnyTool["handler"], Partial<ToolResult["error"] & object>]>([
    [
      "a thrown Error",
      () => raise(new Error("boom")),
      { code: "execution_failed", message: "boom" },
    ],
    ["a thrown text", () => raise("boom"), { message: "boom" }],
    ["a thrown nothing", () => raise(undefined), { code: "execution_failed" }],
    ["a thrown object", () => raise({ toString: () => raise(1) }), { code: "execution_failed" }],
    ["an error without words", () => raise(new TypeError("")), { code: "execution_failed" }],
    ["a rejection", () => Promise.reject(new Error("boom")), { message: "boom" }],
    [
      "a chosen one",
      () =>
        raise(
          new ToolFailure({
            code: "rate_limited",
            error_class: "rate_limited",
            message: "slow down",
            retryable: true,
            recovery: "retry_after_delay",
            details: { seconds: 5 },
          }),
        ),
      {
        code: "rate_limited",
        error_class: "rate_limited",
        retryable: true,
        recovery: "retry_after_delay",
        details: { seconds: 5 },
      },
    ],
    [
      "one told in a full result",
      () =>
        toolResult({ error: { code: "gone", message: "not there", recovery: "discover_first" } }),
      { code: "gone", message: "not there", recovery: "discover_first", retryable: false },
    ],
  ])("from %s has code, class, message, retryable and recovery", async (_, handler, expected) => {
    verifies("RESULT-4");
    const { result } = await resultOf(handler);
    expect(result).toMatchObject({ status: "failed", is_error: true, error: expected });
    expect(Object.keys(result.error ?? {})).toEqual(
      expect.arrayContaining(["code", "error_class", "message", "retryable", "recovery"]),
    );
    expect(result.error?.message).toMatch(/\w/);
    expect(textOf(result), "and the model reads it").toContain(result.error?.message);
  });

  it("never shows a stack trace, anywhere in the journal", async () => {
    verifies("RESULT-4");
    const deep =
      (error: Error): AnyTool["handler"] =>
      () =>
        raise(error);
    const failures = [
      new Error("outer", { cause: new Error("inner") }),
      new AggregateError([new Error("one")], "several"),
      new ToolFailure({ code: "x", message: "mine" }),
    ];
    for (const failure of failures) {
      for (const about of [
        { handler: deep(failure) },
        { validate: deep(failure) as never },
        { prepare: deep(failure) as never },
        { normalise: deep(failure) as never },
        { classify: deep(failure) as never },
      ]) {
        const world = await createWorld({
          tools: [reader("a.tool", 0, about)],
          ask: personWho("allow_once").ask,
        });
        await world.execute({ name: "a.tool", arguments: {} });
        expect(JSON.stringify(world.facts())).not.toMatch(/ at .*:\d+:\d+|results\.test/);
      }
    }
  });

  it("reported by a tool is well-formed, with anything the tool put into its fields", async () => {
    verifies("RESULT-4");
    const { result } = await resultOf(() =>
      toolResult({
        ok: false,
        error: {
          code: "odd",
          message: "odd",
          error_class: "no_such_class",
          retryable: "sometimes",
          recovery: 42,
          details: "text",
          stack: "Error: odd\n at x",
        } as never,
      }),
    );
    expect(result.error).toMatchObject({ code: "odd", message: "odd", recovery: "none" });
    expect(typeof result.error?.retryable).toBe("boolean");
    expect(result.error?.error_class).toBe("execution_failed");
    expect(result.error).not.toHaveProperty("stack");
    expect(typeof (result.error?.details ?? {})).toBe("object");
  });

  it.each<[string, WorldOptions, string, string]>([
    ["wrong arguments", {}, "{", "change_arguments"],
    ["nobody to ask", {}, "{}", "needs_approval"],
    [
      "a rule",
      { policy: { rules: [{ tool: "a.*", decision: "deny" }] } },
      "{}",
      "use_another_tool",
    ],
    ["a person", { ask: personWho("deny").ask }, "{}", "ask_the_user"],
  ])("that comes from %s says what to do next", async (_, options, text, recovery) => {
    verifies("RESULT-4");
    const world = await createWorld({ tools: [writer("a.tool")], ...options });
    const [result] = await world.execute({ name: "a.tool", arguments: text });
    expect(result?.error?.recovery).toBe(recovery);
  });
});

describe("the views of a result", () => {
  it("are made once, from one mapping: for the model, the user, and search", async () => {
    verifies("RESULT-5");
    let rendered = 0;
    const render = (result: ToolResult): string => `${(rendered += 1)}: ${result.summary}`;
    const { result, world } = await resultOf(() => toolResult({ data: { n: 1 }, summary: "one" }), {
      render,
    });
    const tool = world.kernel.registry.current("a.tool")?.definition;
    const views = viewsOf(result, tool);
    expect(views.person).toBe("1: one");
    expect(viewsOf(result, tool)).toBe(views);
    expect(rendered).toBe(1);
    expect(views.model).toBe(result.content);
    expect(world.journal.nodes[0]?.content).toEqual(views.model);
    expect(views.search).toContain("a.tool");
    expect(views.search).toContain("one");
    expect(world.facts("tool.completed")[0]?.data.person_view).toBe("1: one");
  });

  it.each<[string, () => unknown]>([
    ["throws", () => raise(new Error("no picture"))],
    ["returns nonsense", () => 5],
  ])("survive a render that %s", async (_, render) => {
    verifies("RESULT-5");
    const { result, world } = await resultOf(() => "the text", { render: render as never });
    expect(result.status).toBe("succeeded");
    expect(world.facts("tool.completed")[0]?.data.person_view).toContain("the text");
  });

  it("show the model what a failing call has put out", async () => {
    verifies("RESULT-5");
    const output = "src/a.ts:3 error: missing ;";
    for (const handler of [
      () =>
        raise(
          new ToolFailure({ code: "exit_1", message: "exited with 1" }, [
            { type: "text", text: output },
          ]),
        ),
      () =>
        toolResult({
          ok: false,
          error: "exited with 1",
          content: [{ type: "text", text: output }],
        }),
      () => toolResult({ ok: false, error: "exited with 1", data: { stdout: output } }),
    ] as AnyTool["handler"][]) {
      const { result, world } = await resultOf(handler);
      expect(result.is_error).toBe(true);
      for (const view of [textOf(result), JSON.stringify(world.journal.nodes[0]?.content)]) {
        expect(view).toContain("exited with 1");
        expect(view).toContain(output);
      }
      expect(viewsOf(result).search).toContain(output);
    }
  });
});

describe("a result with only a summary", () => {
  it.each<[string, unknown]>([
    ["ok and summary", { ok: true, summary: "42 lines\nof text" }],
    [
      "the five fields, empty",
      { ok: true, summary: "42 lines\nof text", data: null, artifacts: [], error: null },
    ],
    ["a marked result", toolResult({ summary: "42 lines\nof text" })],
    ["blank content", { ok: true, summary: "42 lines\nof text", content: [] }],
  ])("reads as its summary to the model: %s", async (_, value) => {
    verifies("RESULT-8");
    const { result } = await resultOf(() => value);
    expect(result).toMatchObject({ status: "succeeded", summary: "42 lines" });
    expect(result.content).toEqual([{ type: "text", text: "42 lines\nof text" }]);
  });

  it("reads as why it failed", async () => {
    verifies("RESULT-8");
    const { result } = await resultOf(() => ({ ok: false, summary: "the disk is full" }));
    expect(result).toMatchObject({
      status: "failed",
      error: { code: "execution_failed", message: "the disk is full" },
      content: [{ type: "text", text: "the disk is full" }],
    });
  });

  it("says that it is empty where the summary is blank, and shows data where there is some", async () => {
    verifies("RESULT-8", "RESULT-3");
    const blank = await resultOf(() => ({ ok: true, summary: " " }));
    expect(textOf(blank.result)).toBe("a.tool succeeded and returned nothing.");
    const silent = await resultOf(() => {
      throw new ToolFailure({ code: "odd", message: "" });
    });
    expect(textOf(silent.result)).toBe("a.tool failed and gave no reason.");
    const data = await resultOf(() => ({ ok: true, summary: "one row", data: { rows: 1 } }));
    expect(data.result.content).toEqual([{ type: "json", json: { rows: 1 } }]);
    expect(data.result.summary).toBe("one row");
  });
});
