// SCHED-1 and SCHED-3 through the whole kernel: who runs beside whom, and whom a failure stops.

import { defineHook, ToolFailure, type AnyTool } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { atOnce, heldTool, pushAll, setStage, statusesOf, type Stage } from "./drive.ts";
import { allowAll, reader, writer } from "./world.ts";

const startedOf = (stage: Stage): (string | undefined)[] =>
  stage.facts("tool.started").map(({ tool_call_id }) => tool_call_id);

describe("calls of one turn", () => {
  it("run together when they are adjacent, readonly and safe, ten at a time", async () => {
    verifies("SCHED-1");
    const read = heldTool("a.read");
    const stage = await setStage({ tools: [read.tool] });
    const turn = pushAll(stage, ...Array.from({ length: 12 }, () => "a.read"));
    await stage.clock.settle();
    expect(read.calls).toHaveLength(10);
    read.calls[4]?.finish(1);
    await stage.clock.settle();
    expect(read.calls).toHaveLength(11);
    expect(startedOf(stage)).toEqual(Array.from({ length: 11 }, (_, i) => `${i + 1}`));
    for (const call of read.calls) call.finish(1);
    await stage.clock.settle();
    read.calls[11]?.finish(1);
    expect(await atOnce(stage.clock, turn.settled())).toHaveLength(12);
  });

  it("run together up to the number the config says", async () => {
    verifies("SCHED-1");
    const read = heldTool("a.read");
    const stage = await setStage({ tools: [read.tool], config: { tools: { max_concurrency: 3 } } });
    pushAll(stage, "a.read", "a.read", "a.read", "a.read");
    await stage.clock.settle();
    expect(read.calls).toHaveLength(3);
  });

  it.each([
    ["a write", { permission: "write" as const }],
    ["a tool that says nothing of itself", { permission: undefined, concurrency_safe: undefined }],
    ["a readonly call that is not concurrency-safe", { concurrency_safe: false }],
  ])("do not cross %s, which runs alone", async (_what, about) => {
    verifies("SCHED-1");
    const read = heldTool("a.read");
    const alone = heldTool("a.alone", about);
    const stage = await setStage({ tools: [read.tool, alone.tool], policy: allowAll });
    const turn = pushAll(stage, "a.read", "a.read", "a.alone", "a.alone", "a.read", "a.read");
    const running = async (): Promise<string> => {
      await stage.clock.settle();
      return startedOf(stage).join("");
    };
    expect(await running()).toBe("12");
    read.calls[1]?.finish(1);
    expect(await running()).toBe("12");
    read.calls[0]?.finish(1);
    expect(await running()).toBe("123");
    alone.calls[0]?.finish(1);
    expect(await running()).toBe("1234");
    alone.calls[1]?.finish(1);
    expect(await running()).toBe("123456");
    read.calls[2]?.finish(1);
    read.calls[3]?.finish(1);
    expect(new Set(statusesOf(await atOnce(stage.clock, turn.settled())))).toEqual(
      new Set(["succeeded"]),
    );
  });

  it("are safe or not for their own input", async () => {
    verifies("SCHED-1");
    const tool = heldTool("a.query", {
      permission: "write",
      classify: (input: unknown) =>
        (input as { harmless?: boolean }).harmless === true
          ? { read_only: true, concurrency_safe: false }
          : {},
    });
    const mixed = heldTool("a.read", {
      classify: (input: unknown) =>
        (input as { calm?: boolean }).calm === true ? {} : { concurrency_safe: false },
    });
    const stage = await setStage({ tools: [tool.tool, mixed.tool], policy: allowAll });
    const turn = pushAll(
      stage,
      ["a.read", { calm: true }],
      ["a.read", { calm: true }],
      ["a.query", { harmless: true }],
      ["a.read", {}],
    );
    await stage.clock.settle();
    expect(startedOf(stage)).toEqual(["1", "2"]);
    for (const call of mixed.calls) call.finish(1);
    await stage.clock.settle();
    expect(startedOf(stage)).toEqual(["1", "2", "3"]);
    // A harmless call of a tool that writes fails as readonly: the next one continues.
    tool.calls[0]?.fail(new Error("no"));
    await stage.clock.settle();
    expect(startedOf(stage)).toEqual(["1", "2", "3", "4"]);
    mixed.calls[2]?.finish(1);
    await atOnce(stage.clock, turn.settled());
  });

  it.each([
    ["an unknown name", "a.nothing", {}, {}],
    ["an unavailable name", "a.disabled", {}, { tools: { disabled: ["a.disabled"] } }],
    ["arguments that are not JSON", "a.strict", "{", {}],
    ["invalid arguments of a readonly tool", "a.strict", { n: "one" }, {}],
  ])("are neither kept apart nor stopped by %s", async (_what, name, input, config) => {
    verifies("SCHED-1", "SCHED-3");
    const read = heldTool("a.read");
    const stage = await setStage({
      tools: [
        read.tool,
        writer("a.disabled"),
        reader("a.strict", 0, {
          input_schema: { type: "object", properties: { n: { type: "number" } } },
        }),
        writer("a.write"),
      ],
      policy: allowAll,
      config,
    });
    const turn = pushAll(stage, "a.read", [name, input], "a.read", "a.write");
    await stage.clock.settle();
    expect(read.calls).toHaveLength(2);
    for (const call of read.calls) call.finish(1);
    const results = await atOnce(stage.clock, turn.settled());
    expect(statusesOf(results)).toEqual([
      "succeeded",
      name === "a.strict" ? "failed" : "denied",
      "succeeded",
      "succeeded",
    ]);
  });
});

describe("a failure", () => {
  const hook = defineHook({
    id: "no",
    event: "PreToolUse",
    tool: "a.hooked",
    run: () => ({ decision: "deny" as const }),
  });
  const failing: { how: string; name: string; input?: object | string; about: Partial<AnyTool> }[] =
    [
      {
        how: "an error",
        name: "a.fails",
        about: {
          handler() {
            throw new ToolFailure({ code: "disk_full", message: "no room" });
          },
        },
      },
      { how: "a reported failure", name: "a.reports", about: { handler: () => ({ ok: false }) } },
      { how: "a timeout", name: "a.hangs", about: { handler: () => new Promise(() => {}) } },
      { how: "a person's no", name: "a.rejected", about: { tags: ["dangerous"] } },
      { how: "a denial of policy", name: "a.denied", about: deniedPath() },
      { how: "a denial of a hook", name: "a.hooked", about: {} },
      {
        how: "a plan that cannot be made",
        name: "a.unplanned",
        about: { prepare: () => Promise.reject(new Error("no")) },
      },
      { how: "arguments that are not JSON", name: "a.invalid", input: "{", about: {} },
      { how: "a value that is not valid", name: "a.invalid", about: { validate: () => "wrong" } },
      {
        how: "its own broken schema check",
        name: "a.invalid",
        about: { normalise: () => null },
      },
    ];

  function deniedPath(): Partial<AnyTool> {
    return {
      prepare: () => ({ resources: [{ kind: "path", access: "write", path: "/secret" }] }),
    };
  }

  async function turnWith(permission: "readonly" | "write", given: (typeof failing)[number]) {
    const { name, about, input } = given;
    const read = reader("a.read");
    const stage = await setStage({
      tools: [read, writer("a.write"), writer(name, 0, { permission, ...about })],
      policy: {
        rules: [
          { tool: "a.read", decision: "allow" },
          { tool: "a.write", decision: "allow" },
          { path: "/secret", decision: "deny" },
          ...(name === "a.rejected" ? [] : [{ tool: name, decision: "allow" as const }]),
        ],
      },
      roots: { project: "/", write: ["/"] },
      hooks: [hook],
      ask: () => ({ decision: "deny" }),
      config: { tools: { default_timeout_ms: 50 } },
    });
    const turn = pushAll(stage, "a.read", [name, input ?? {}], "a.read", "a.write");
    await stage.clock.advance(50);
    return { stage, results: await atOnce(stage.clock, turn.settled()) };
  }

  it.each(failing)(
    "of a write by $how stops the later calls, which say what stopped them",
    async (given) => {
      verifies("SCHED-3");
      const { stage, results } = await turnWith("write", given);
      expect(results[0]?.status).toBe("succeeded");
      expect(results[1]?.is_error).toBe(true);
      for (const result of results.slice(2)) {
        expect(result).toMatchObject({ status: "skipped", is_error: true });
        expect(result.error?.message).toContain(given.name);
        expect(result.error?.message).toContain("(2)");
      }
      expect(stage.facts("tool.skipped").map(({ tool_call_id }) => tool_call_id)).toEqual([
        "3",
        "4",
      ]);
      expect(startedOf(stage)).not.toContain("3");
      expect(stage.clock.pending).toBe(0);
    },
  );

  it.each(failing)("of a readonly call by $how lets the later ones continue", async (given) => {
    verifies("SCHED-3");
    const { results } = await turnWith("readonly", given);
    expect(results[1]?.is_error).toBe(true);
    expect(statusesOf([results[0]!, ...results.slice(2)])).toEqual([
      "succeeded",
      "succeeded",
      "succeeded",
    ]);
  });
});
