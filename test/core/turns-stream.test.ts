// SCHED-5, SCHED-6 and SCHED-8 through the whole kernel: calls that start while the model still streams,
// and what becomes of them when the stream is thrown away.

import { defineHook, toolResult, type AnyTool, type ToolContext } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { atOnce, drive, heldTool, setStage, statusesOf, type Stage } from "./drive.ts";
import { factOf } from "./spy-journal.ts";
import { allowAll, pause, reader, writer } from "./world.ts";

describe("while the model still streams", () => {
  const starts: { early: "none" | "readonly" | "all"; during: string[] }[] = [
    { early: "none", during: [] },
    { early: "readonly", during: ["read", "alone"] },
    { early: "all", during: ["read", "alone", "task", "write"] },
  ];

  it.each(starts)("with early_start $early, these start: $during", async ({ early, during }) => {
    verifies("SCHED-5");
    const log: string[] = [];
    const note = (what: string): Partial<AnyTool> => ({ handler: () => void log.push(what) });
    const stage = await setStage({
      tools: [
        reader("a.read", 0, note("read")),
        reader("a.alone", 0, { concurrency_safe: false, repeatable: true, ...note("alone") }),
        reader("a.task", 0, { concurrency_safe: false, ...note("task") }),
        writer("a.write", 0, note("write")),
      ],
      policy: allowAll,
      config: { tools: { early_start: early } },
    });
    const turn = stage.run.openTurn();
    for (const name of ["a.read", "a.alone", "a.task", "a.write"]) {
      turn.push({ name, arguments: "{}" });
    }
    await stage.clock.advance(1000);
    expect(log).toEqual(during);
    turn.end();
    await atOnce(stage.clock, turn.settled());
    expect(log).toEqual(["read", "alone", "task", "write"]);
  });

  it("readonly is the default", async () => {
    verifies("SCHED-5");
    const { kernel } = await setStage();
    expect(kernel.config.tools.early_start).toBe("readonly");
  });

  it("a readonly call starts as soon as it is there, and not before its turn has come", async () => {
    verifies("SCHED-5", "SCHED-1");
    const read = heldTool("a.read");
    const slowly = heldTool("a.check", { validate: () => pause(stage.clock, 50).then(() => null) });
    const stage: Stage = await setStage({
      tools: [read.tool, slowly.tool, writer("a.write")],
      policy: allowAll,
    });
    const turn = stage.run.openTurn();
    turn.push({ id: "1", name: "a.read", arguments: "{}" });
    await stage.clock.settle();
    expect(stage.storyOf("1")).toContain("tool.started");
    turn.push({ id: "2", name: "a.check", arguments: "{}" });
    turn.push({ id: "3", name: "a.read", arguments: "{}" });
    await stage.clock.advance(49);
    // What the second call is, is not known yet: it might be a barrier.
    expect(stage.storyOf("3")).not.toContain("tool.started");
    await stage.clock.advance(1);
    expect(stage.storyOf("3")).toContain("tool.started");
    turn.push({ id: "4", name: "a.write", arguments: "{}" });
    turn.push({ id: "5", name: "a.read", arguments: "{}" });
    for (const call of [...read.calls, ...slowly.calls]) call.finish(1);
    await stage.clock.advance(1000);
    expect(stage.storyOf("4")).not.toContain("tool.started");
    expect(stage.storyOf("5")).not.toContain("tool.started");
    turn.end();
    await stage.clock.settle();
    read.calls[2]?.finish(1);
    expect(statusesOf(await atOnce(stage.clock, turn.settled()))).toEqual(
      Array.from({ length: 5 }, () => "succeeded"),
    );
  });

  it("no call becomes a write by the way, though it started as a readonly one", async () => {
    verifies("SCHED-5", "SCHED-6", "PIPE-2");
    const log: unknown[] = [];
    const query = writer("a.query", 0, {
      classify: (input: unknown) =>
        (input as { drop?: boolean }).drop === true
          ? {}
          : { read_only: true, concurrency_safe: true },
      handler: (input: unknown) => void log.push(input),
    });
    const hook = defineHook({
      id: "worse",
      event: "PreToolUse",
      run: () => ({ input: { drop: true } }),
    });
    const open = async () => {
      const stage = await setStage({ tools: [query], policy: allowAll, hooks: [hook] });
      const turn = stage.run.openTurn();
      turn.push({ id: "1", name: "a.query", arguments: "{}" });
      await stage.clock.advance(1000);
      expect(log).toEqual([]);
      return { stage, turn };
    };
    const abandoned = await open();
    const discarded = await atOnce(abandoned.stage.clock, abandoned.turn.discard("overloaded"));
    expect(statusesOf(discarded)).toEqual(["discarded"]);
    expect(log).toEqual([]);
    const kept = await open();
    kept.turn.end();
    expect(statusesOf(await atOnce(kept.stage.clock, kept.turn.settled()))).toEqual(["succeeded"]);
    expect(log).toEqual([{ drop: true }]);
  });
});

describe("an abandoned attempt", () => {
  it("discards its calls, in any state, and has written nothing", async () => {
    verifies("SCHED-6");
    const written: string[] = [];
    const read = heldTool("a.read");
    const strict: Partial<AnyTool> = {
      input_schema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
      handler: () => void written.push("strict"),
    };
    const stage = await setStage({
      tools: [
        read.tool,
        reader("a.fails", 0, { handler: () => Promise.reject(new Error("no")) }),
        reader("a.check", 0, { validate: () => new Promise(() => {}) }),
        reader("a.strict_read", 0, strict),
        writer("a.strict_write", 0, strict),
        writer("a.write", 0, { handler: () => void written.push("write") }),
      ],
      policy: allowAll,
    });
    const states = [
      ["completed", "a.read"],
      ["running", "a.read"],
      ["failed", "a.fails"],
      ["unknown", "a.nothing"],
      ["invalid, readonly", "a.strict_read"],
      ["queued write", "a.write"],
      ["queued behind it", "a.read"],
      ["invalid write", "a.strict_write"],
      ["stopped by that", "a.write"],
      ["arriving", "a.check"],
      ["behind that", "a.read"],
    ] as const;
    const turn = stage.run.openTurn();
    for (const [id, name] of states) turn.push({ id, name, arguments: "{}" });
    await stage.clock.settle();
    read.calls[0]?.finish("read");
    await stage.clock.settle();
    const results = await atOnce(stage.clock, turn.discard("the stream broke off"));
    turn.push({ id: "late", name: "a.write", arguments: "{}" });
    await stage.clock.advance(1000);
    const all = await atOnce(stage.clock, turn.settled());

    expect(results.map(({ tool_call_id, status }) => [tool_call_id, status])).toEqual(
      states.map(([id]) => [id, "discarded"]),
    );
    expect(all.at(-1)).toMatchObject({ tool_call_id: "late", status: "discarded" });
    for (const result of results) {
      expect(result.is_error).toBe(true);
      expect(result.error?.message).toContain("the stream broke off");
      const terminal = factOf(stage.journal, result.tool_call_id, "tool.discarded");
      expect(terminal?.data.result).toEqual(result);
    }
    expect(stage.facts("tool.completed", "tool.failed", "tool.denied", "tool.skipped")).toEqual([]);
    expect(written).toEqual([]);
    expect(read.calls[1]?.context.signal.aborted).toBe(true);
    expect(stage.clock.pending).toBe(0);
  });

  const endings: { how: string; about: Partial<AnyTool> }[] = [
    { how: "its observer is still at work", about: { handler: () => "done" } },
    { how: "its large result is being kept", about: { handler: () => "x".repeat(200_000) } },
    {
      how: "it timed out and cleans up",
      about: {
        timeout_ms: 10,
        handler(_input: unknown, context: ToolContext) {
          context.onCancel(() => new Promise(() => {}));
          return new Promise(() => {});
        },
      },
    },
  ];

  it.each(endings)("discards, too, a call that is just ending: $how", async ({ about }) => {
    verifies("SCHED-6");
    const hook = defineHook({ id: "slow", event: "PostToolUse", run: () => new Promise(() => {}) });
    const stage = await setStage({ tools: [reader("a.read", 0, about)], hooks: [hook] });
    const turn = stage.run.openTurn();
    turn.push({ id: "1", name: "a.read", arguments: "{}" });
    await stage.clock.advance(10);
    const results = await drive(stage.clock, turn.discard("the stream broke off"));
    expect(statusesOf(results)).toEqual(["discarded"]);
    expect(stage.facts("tool.completed", "tool.failed")).toEqual([]);
    expect(stage.clock.pending).toBe(0);
  });

  it("leaves nothing of what its calls brought: no data, no nodes, no context", async () => {
    verifies("SCHED-6", "RESULT-7");
    const skill = reader("a.load", 0, {
      concurrency_safe: false,
      repeatable: true,
      handler: () =>
        toolResult({
          data: { secret: "of the abandoned attempt" },
          context_nodes: [{ kind: "skill_context", text: "of the abandoned attempt" }],
          modify_context: () => ({ changed: true }),
        }),
    });
    const stage = await setStage({ tools: [skill], context: { changed: false } });
    const turn = stage.run.openTurn();
    turn.push({ id: "1", name: "a.load", arguments: "{}" });
    await stage.clock.settle();
    const [result] = await atOnce(stage.clock, turn.discard("the stream broke off"));
    expect(result).toMatchObject({
      status: "discarded",
      metadata: { discarded_status: "succeeded" },
    });
    expect(JSON.stringify([result, stage.journal.nodes])).not.toContain('abandoned attempt"');
    expect(stage.journal.nodes.map(({ kind }) => kind)).toEqual(["tool_result"]);
    expect(stage.run.context).toEqual({ changed: false });
  });

  it("does not block the next one, which may use the same ids", async () => {
    verifies("SCHED-6", "RESULT-1");
    const stage = await setStage({ tools: [reader("a.read")] });
    const first = stage.run.openTurn();
    first.push({ id: "1", name: "a.read", arguments: '{"n":1}' });
    await atOnce(stage.clock, first.discard("overloaded"));
    const second = stage.run.openTurn();
    const id = second.push({ id: "1", name: "a.read", arguments: '{"n":2}' });
    second.end();
    const [result] = await atOnce(stage.clock, second.settled());
    expect(id).not.toBe("1");
    expect(result).toMatchObject({
      tool_call_id: id,
      status: "succeeded",
      data: { n: 2 },
      metadata: { native_call_id: "1" },
    });
    expect(stage.storyOf("1").at(-1)).toBe("tool.yielded");
  });

  const effects: { what: string; tool: Partial<AnyTool> }[] = [
    { what: "a write", tool: { permission: "write" } },
    { what: "a change inside the runtime", tool: { permission: "readonly" } },
    {
      what: "a change inside that may run beside others",
      tool: { permission: "readonly", concurrency_safe: true, repeatable: false },
    },
    { what: "a started agent", tool: { permission: "readonly", starts_agent: true } },
  ];

  it.each(effects)("under early_start all: $what that began is not discarded", async ({ tool }) => {
    verifies("SCHED-6");
    const held = heldTool("agent.change", { concurrency_safe: false, ...tool });
    const stage = await setStage({
      sources: [{ id: "own", kind: "agent", tools: [held.tool] }],
      policy: allowAll,
      config: { tools: { early_start: "all" } },
    });
    const turn = stage.run.openTurn();
    turn.push({ id: "running", name: "agent.change", arguments: "{}" });
    turn.push({ id: "waiting", name: "agent.change", arguments: "{}" });
    await stage.clock.settle();
    const began = held.calls.length;
    const discarded = turn.discard("overloaded");
    await stage.clock.settle();
    expect(held.calls[0]?.context.signal.aborted).toBe(false);
    for (const call of held.calls) call.finish("done");
    expect(statusesOf(await atOnce(stage.clock, discarded))).toEqual([
      "succeeded",
      began === 2 ? "succeeded" : "discarded",
    ]);
    expect(held.calls).toHaveLength(began);
  });

  it("under early_start all: an abort still ends a write that outlives its attempt", async () => {
    verifies("SCHED-6", "PIPE-7");
    const held = heldTool("a.write", { permission: "write" });
    const stage = await setStage({
      tools: [held.tool],
      policy: allowAll,
      config: { tools: { early_start: "all" } },
    });
    const turn = stage.run.openTurn();
    turn.push({ id: "1", name: "a.write", arguments: "{}" });
    await stage.clock.settle();
    void turn.discard("overloaded");
    expect(statusesOf(await atOnce(stage.clock, turn.abort("enough")))).toEqual(["aborted"]);
  });

  it("under early_start all: what was really written stays reported as it was", async () => {
    verifies("SCHED-6");
    const stage = await setStage({
      tools: [writer("a.write")],
      policy: allowAll,
      config: { tools: { early_start: "all" } },
    });
    const turn = stage.run.openTurn();
    turn.push({ id: "1", name: "a.write", arguments: "{}" });
    await stage.clock.settle();
    expect(statusesOf(await atOnce(stage.clock, turn.discard("overloaded")))).toEqual([
      "succeeded",
    ]);
  });
});

describe("latency", () => {
  async function tenCalls(extraTextMs: number): Promise<number> {
    const stage: Stage = await setStage({
      tools: [
        reader("a.first", 0, { handler: () => pause(stage.clock, 1000) }),
        reader("a.other", 0, { handler: () => pause(stage.clock, 300) }),
      ],
    });
    const turn = stage.run.openTurn();
    let done = Number.NaN;
    void turn.settled().then(() => {
      done = stage.elapsed();
    });
    for (let i = 0; i < 10; i += 1) {
      await stage.clock.advance(100);
      turn.push({ name: i === 0 ? "a.first" : "a.other", arguments: "{}" });
    }
    await stage.clock.advance(extraTextMs);
    turn.end();
    await stage.clock.advance(5000);
    expect(stage.facts("tool.completed")).toHaveLength(10);
    return done;
  }

  it("is hidden behind the stream: ten calls over a second end after 1300 ms exactly", async () => {
    verifies("SCHED-8");
    expect(await tenCalls(0)).toBe(1300);
  });

  it("is hidden altogether behind one more second of text: 2000 ms exactly", async () => {
    verifies("SCHED-8");
    expect(await tenCalls(1000)).toBe(2000);
  });
});
