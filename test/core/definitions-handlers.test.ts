// DEF-7: whatever a handler returns becomes one ToolResult, and what it is given works from anywhere in it.

import { sha256Hex, toolResult, type AnyTool, type ToolContext } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { drive, setStage } from "./drive.ts";
import { allowAll, createWorld, pause, reader, textOf, writer, type World } from "./world.ts";

/** One call of a tool with this handler. */
async function returned(handler: AnyTool["handler"], about: Partial<AnyTool> = {}) {
  const world = await createWorld({ tools: [reader("a.tool", 0, { ...about, handler })] });
  const [result] = await world.execute({ id: "c", name: "a.tool", arguments: {} });
  if (result === undefined) throw new Error("no result");
  return { result, world };
}

function progressOf(world: Pick<World, "facts">): unknown[] {
  return world.facts("tool.progress").map(({ data }) => data);
}

describe("a handler's return", () => {
  it.each<[string, unknown, unknown]>([
    ["a string", "text", { type: "text", text: "text" }],
    ["a number", 12.5, { type: "json", json: 12.5 }],
    ["zero", 0, { type: "json", json: 0 }],
    ["true", true, { type: "json", json: true }],
    ["false", false, { type: "json", json: false }],
    ["null", null, { type: "json", json: null }],
    ["a list", [1, "a", null], { type: "json", json: [1, "a", null] }],
    ["an empty list", [], { type: "json", json: [] }],
    ["an object", { a: { b: [1] } }, { type: "json", json: { a: { b: [1] } } }],
    [
      "an object without a prototype",
      Object.assign(Object.create(null), { a: 1 }),
      { type: "json", json: { a: 1 } },
    ],
    [
      "an instance that tells itself as JSON",
      new Date(0),
      { type: "json", json: "1970-01-01T00:00:00.000Z" },
    ],
    [
      "a map-like object with odd keys",
      { constructor: 1 },
      { type: "json", json: { constructor: 1 } },
    ],
  ])("that is %s becomes one successful result", async (_, value, block) => {
    verifies("DEF-7", "RESULT-2");
    for (const handler of [() => value, async () => value]) {
      const { result } = await returned(handler);
      expect(result).toMatchObject({ status: "succeeded", is_error: false, tool_name: "a.tool" });
      expect(result.content).toEqual([block]);
      if (typeof value !== "string") expect(result).toHaveProperty("data");
      expect(result.summary).not.toBe("");
    }
  });

  it.each<[string, () => unknown]>([
    ["a function", () => () => 1],
    ["a symbol", () => Symbol("s")],
    ["a bigint", () => 10n],
    [
      "a cycle",
      () => {
        const loop: Record<string, unknown> = {};
        loop["loop"] = loop;
        return loop;
      },
    ],
    [
      "an object that throws when read",
      () => ({
        get secret(): string {
          throw new Error("no");
        },
      }),
    ],
  ])("that is %s is a failure that says so, not a crash", async (_, make) => {
    verifies("DEF-7");
    const { result } = await returned(make);
    expect(result).toMatchObject({ status: "failed", error: { code: "result_not_json" } });
  });

  it.each([
    ["data", (deep: unknown) => ({ ok: true, data: deep })],
    ["content", (deep: unknown) => ({ content: [{ type: "json", json: deep }] })],
    ["metadata", (deep: unknown) => ({ ok: true, metadata: { deep } })],
    ["a plain value", (deep: unknown) => deep],
  ])("that nests without end in %s says so", async (_, make) => {
    verifies("DEF-7");
    const deep: unknown = JSON.parse("[".repeat(100_000) + "]".repeat(100_000));
    const { result } = await returned(() => make(deep));
    expect(result.error).toMatchObject({
      code: "result_not_json",
      message: expect.stringMatching(/nested too deeply$/) as string,
    });
  });

  it("is a copy: what the handler does to its object later changes nothing", async () => {
    verifies("DEF-7");
    const shared = { list: [1] };
    const { result, world } = await returned(() => shared);
    shared.list.push(2);
    expect(result.data).toEqual({ list: [1] });
    expect(world.facts("tool.completed")[0]?.data.result).toMatchObject({ data: { list: [1] } });
  });

  it("may be a full result, with every field of it", async () => {
    verifies("DEF-7", "RESULT-2");
    const { result, world } = await returned(async (_, context) => {
      const kept = await context.artifacts.write("bytes", { media_type: "text/plain", name: "n" });
      return toolResult({
        status: "partial",
        content: [
          { type: "text", text: "half" },
          { type: "json", json: { done: 1 } },
          { type: "image", media_type: "image/png", data: "aGk=" },
          { type: "resource_link", uri: "file:///a", name: "a" },
          {
            type: "artifact_ref",
            artifact_id: kept.artifact_id,
            media_type: "text/plain",
            size: 5,
          },
        ],
        summary: "one of two",
        data: { done: 1 },
        artifacts: [kept],
        error: { code: "half_done", message: "the second is missing", retryable: true },
        metadata: { rows: 1 },
      });
    });
    expect(result).toMatchObject({
      status: "partial",
      is_error: false,
      summary: "one of two",
      data: { done: 1 },
      error: { code: "half_done", retryable: true, error_class: "execution_failed" },
      artifacts: [{ sha256: sha256Hex("bytes"), size: 5, name: "n" }],
    });
    expect(result.metadata.tool).toEqual({ rows: 1 });
    expect(result.content.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["text", "json", "image", "resource_link", "artifact_ref"]),
    );
    const created = world.facts("artifact.created").map(({ data }) => data.name);
    expect(created).toEqual(["definitions.json", "n"]);
  });

  it.each<[string, unknown, object]>([
    ["ok: true", { ok: true, data: { n: 1 } }, { status: "succeeded", data: { n: 1 } }],
    ["ok: false", { ok: false, error: "boom" }, { status: "failed", error: { message: "boom" } }],
    ["ok: false without a word", { ok: false }, { status: "failed", is_error: true }],
    ["ok: true beside an error", { ok: true, error: "boom" }, { status: "failed" }],
    [
      "ok: false beside a status nobody knows",
      { ok: false, status: "cancelled" },
      { status: "failed" },
    ],
    ["ok: false beside a success", { ok: false, status: "succeeded" }, { status: "failed" }],
    ["a status nobody knows", toolResult({ status: "aborted" as never }), { status: "failed" }],
    ["an ok that is no boolean", { ok: "yes" }, { status: "succeeded", data: { ok: "yes" } }],
  ])("with %s is folded in", async (_, value, expected) => {
    verifies("RESULT-2");
    const { result } = await returned(() => value);
    expect(result).toMatchObject(expected);
    expect(result.is_error).toBe(result.status === "failed");
    if (result.status === "failed") expect(result.error?.message).not.toBe("");
  });

  it("that only looks like a full result stays data, whole", async () => {
    verifies("DEF-7");
    for (const value of [
      { content: "a page", title: "x" },
      { status: "open", id: 7 },
      { content: [{ type: "paragraph" }] },
      { error: null, rows: [] },
    ]) {
      const { result } = await returned(() => value);
      expect(result).toMatchObject({ status: "succeeded", data: value });
    }
  });
});

describe("an async generator", () => {
  it("yields progress at once and returns the result", async () => {
    verifies("DEF-7", "SCHED-7");
    const stage = await setStage({
      tools: [
        reader("a.walk", 0, {
          handler: async function* () {
            yield "starting";
            await pause(stage.clock, 1000);
            yield { message: "half", progress: 1, total: 2 };
            await pause(stage.clock, 1000);
            return { rows: 2 };
          },
        }),
      ],
    });
    const work = stage.run.execute([{ name: "a.walk", arguments: {} }]);
    await stage.clock.settle();
    expect(progressOf(stage)).toEqual([{ message: "starting" }]);
    await stage.clock.advance(1000);
    expect(progressOf(stage)).toEqual([
      { message: "starting" },
      { message: "half", progress: 1, total: 2 },
    ]);
    const [result] = await drive(stage.clock, work);
    expect(result).toMatchObject({ status: "succeeded", data: { rows: 2 } });
  });

  it("may return a full result, nothing, or throw after some progress", async () => {
    verifies("DEF-7");
    const full = await returned(async function* () {
      yield "x";
      return toolResult({ ok: false, error: "boom" });
    });
    expect(full.result).toMatchObject({ status: "failed", error: { message: "boom" } });
    const nothing = await returned(async function* () {
      yield "x";
    });
    expect(nothing.result.status).toBe("succeeded");
    const thrown = await returned(async function* () {
      yield "x";
      throw new Error("midway");
    });
    expect(thrown.result).toMatchObject({ status: "failed", error: { message: "midway" } });
    expect(progressOf(thrown.world)).toEqual([{ message: "x" }]);
  });

  it("that times out is asked to stop and says nothing more", async () => {
    verifies("DEF-7", "DEF-2", "PIPE-5");
    let stopped = false;
    const stage = await setStage({
      tools: [
        reader("a.walk", 0, {
          timeout_ms: 2500,
          handler: async function* () {
            try {
              for (let i = 0; ; i += 1) {
                yield `${i}`;
                await pause(stage.clock, 1000);
              }
            } finally {
              stopped = true;
            }
          },
        }),
      ],
    });
    const [result] = await drive(
      stage.clock,
      stage.run.execute([{ name: "a.walk", arguments: {} }]),
    );
    expect(result?.status).toBe("timed_out");
    expect(progressOf(stage)).toHaveLength(3);
    await stage.clock.advance(60_000);
    expect([stopped, progressOf(stage).length]).toEqual([true, 3]);
  });
});

describe("a handler's context", () => {
  it("names the call, the run, the roots, the plan and a key of its own", async () => {
    verifies("DEF-7");
    const contexts: ToolContext[] = [];
    const world = await createWorld({
      tools: [
        writer("a.tool", 0, {
          prepare: () => ({ resources: [{ kind: "path", access: "write", path: "/p/x" }] }),
          handler: (_, context) => void contexts.push(context),
        }),
      ],
      policy: allowAll,
      session_id: "s",
      run_id: "r",
      agent_id: "g",
      roots: { project: "/p", write: ["/p"] },
      context: { branch: "main" },
    });
    await world.execute({ id: "c1", name: "a__tool", arguments: {} });
    await world.execute({ id: "c2", name: "a.tool", arguments: {} });
    const [first, second] = contexts;
    expect(first).toMatchObject({
      toolCallId: "c1",
      toolName: "a.tool",
      sessionId: "s",
      runId: "r",
      agentId: "g",
      roots: { project: "/p", write: ["/p"] },
      runContext: { branch: "main" },
      plan: { resources: [{ path: "/p/x" }] },
    });
    expect(first?.signal.aborted).toBe(false);
    expect(first?.idempotencyKey).toContain("c1");
    expect(second?.idempotencyKey).not.toBe(first?.idempotencyKey);
  });

  it("can be taken apart: every part works on its own", async () => {
    verifies("DEF-7");
    const stage = await setStage({
      tools: [
        reader("a.tool", 0, {
          timeout_ms: 1000,
          async handler(_, context) {
            const { progress, output, artifacts, signal, onCancel, waitForUser } = context;
            const { write, open } = artifacts;
            progress({ message: "here" });
            output("so far");
            await write("one", { media_type: "text/plain" });
            const sink = open({ media_type: "text/plain", name: "two" });
            await sink.write("t");
            await sink.write("wo");
            await sink.close();
            expect(await waitForUser(Promise.resolve("yes"))).toBe("yes");
            onCancel(() => progress({ message: "too late to be heard" }));
            await new Promise(() => {});
            return signal;
          },
        }),
      ],
    });
    const [result] = await drive(
      stage.clock,
      stage.run.execute([{ id: "c", name: "a.tool", arguments: {} }]),
    );
    expect(result?.status).toBe("timed_out");
    expect(textOf(result)).toContain("so far");
    expect(progressOf(stage)).toEqual([{ message: "here" }]);
    const kept = stage.artifacts.list().filter(({ tool_call_id }) => tool_call_id !== undefined);
    expect(kept.map(({ sha256 }) => sha256)).toEqual([sha256Hex("one"), sha256Hex("two")]);
    expect(kept.map(({ tool_call_id }) => tool_call_id)).toEqual(["c", "c"]);
  });

  it("has a signal that fires when the call is to stop, and progress that stays quiet after", async () => {
    verifies("DEF-7", "PIPE-5");
    const contexts: ToolContext[] = [];
    const reasons: unknown[] = [];
    const stage = await setStage({
      tools: [
        reader("a.tool", 0, {
          timeout_ms: 10,
          handler(_, context) {
            contexts.push(context);
            context.signal.addEventListener("abort", () => reasons.push(context.signal.reason));
            return new Promise(() => {});
          },
        }),
      ],
    });
    await drive(stage.clock, stage.run.execute([{ name: "a.tool", arguments: {} }]));
    expect(reasons).toEqual([expect.any(Error)]);
    contexts[0]?.progress({ message: "still here" });
    expect(progressOf(stage)).toEqual([]);
  });

  it("takes nonsense for progress without harm", async () => {
    verifies("DEF-7");
    const { result, world } = await returned((_, context) => {
      const loop: unknown[] = [];
      loop.push(loop);
      context.progress({ message: 5 as never, progress: Number.NaN, data: loop as never });
      context.progress({ message: "x".repeat(100_000) });
      return "fine";
    });
    expect(result.status).toBe("succeeded");
    for (const data of progressOf(world)) expect(JSON.stringify(data).length).toBeLessThan(20_000);
  });
});
