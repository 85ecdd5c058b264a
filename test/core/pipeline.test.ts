// PIPE-1 and PIPE-8: the stages of one call, in their order, and no way around them.

import { defineHook, isTerminalFact, type AnyTool, type ToolCall } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { atOnce, drive, heldTool, setStage } from "./drive.ts";
import { createSpyJournal } from "./spy-journal.ts";
import { recordingTool, recordingHook } from "./recording-tool.ts";
import { allowAll, createWorld, reader, textOf, writer } from "./world.ts";

describe("the stages of a call", () => {
  it("follow one another in the fixed order", async () => {
    verifies("PIPE-1");
    const log: string[] = [];
    const spy = createSpyJournal({
      onAppend({ facts }) {
        for (const fact of facts) if (isTerminalFact(fact)) log.push("terminal");
      },
    });
    const stage = await setStage({
      spy,
      tools: [recordingTool(log)],
      hooks: [
        recordingHook(log, "PreToolUse"),
        recordingHook(log, "PermissionRequest"),
        recordingHook(log, "PostToolUse"),
      ],
      ask: () => {
        log.push("ask");
        return { decision: "allow_once" };
      },
    });
    const [result] = await stage.run.execute([
      { id: "c", name: "notes.write", arguments: '{"text":"x"}' },
    ]);
    expect(result?.status).toBe("succeeded");
    expect(log).toEqual([
      "normalise",
      "validate",
      "classify",
      "targets",
      "PreToolUse",
      "prepare",
      "PermissionRequest",
      "ask",
      // Planned again after the wait for the user, so that what was approved is what happens.
      "targets",
      "prepare",
      "handler",
      "PostToolUse",
      "terminal",
    ]);
    expect(stage.storyOf("c")).toEqual([
      "tool.requested",
      "tool.validated",
      "tool.queued",
      "hook.started",
      "hook.completed",
      // Of the targets, and of the plan: it may destroy something.
      "permission.evaluated",
      "permission.evaluated",
      "hook.started",
      "hook.completed",
      "permission.requested",
      "permission.resolved",
      "tool.started",
      "hook.started",
      "hook.completed",
      "tool.completed",
      "tool.yielded",
    ]);
  });

  const deny = { rules: [{ tool: "notes.write", decision: "deny" as const }] };
  const arguments_ = '{"text":"x"}';
  const ends: {
    stage: string;
    call?: Partial<ToolCall>;
    tool?: Partial<AnyTool>;
    options?: Parameters<typeof createWorld>[0];
    reached: string[];
    code: string;
    fact: string;
  }[] = [
    {
      stage: "name",
      call: { name: "notes.wrong" },
      reached: [],
      code: "tool_not_available",
      fact: "tool.denied",
    },
    {
      stage: "availability",
      options: { config: { tools: { disabled: ["notes.write"] } } },
      reached: [],
      code: "tool_not_available",
      fact: "tool.denied",
    },
    {
      stage: "arguments",
      call: { arguments: '{"text":' },
      reached: [],
      code: "arguments_not_json",
      fact: "tool.failed",
    },
    {
      stage: "schema",
      call: { arguments: "{}" },
      reached: [],
      code: "invalid_arguments",
      fact: "tool.failed",
    },
    {
      stage: "values",
      tool: { validate: () => "the text is wrong" },
      reached: ["normalise"],
      code: "invalid_arguments",
      fact: "tool.failed",
    },
    {
      stage: "targets",
      tool: {
        targets() {
          throw new Error("no targets");
        },
      },
      reached: ["normalise", "validate", "classify"],
      code: "execution_failed",
      fact: "tool.failed",
    },
    {
      stage: "pre-hook",
      options: {
        hooks: [
          defineHook({ id: "no", event: "PreToolUse", run: () => ({ decision: "deny" as const }) }),
        ],
      },
      reached: ["normalise", "validate", "classify", "targets"],
      code: "hook_denied",
      fact: "tool.denied",
    },
    {
      stage: "permission",
      // A denied tool is not on the surface at all, so the denial hangs on the target of the call.
      options: {
        policy: { rules: [{ path: "/secret/**", decision: "deny" }] },
        roots: { project: "/", write: ["/"] },
      },
      tool: {
        targets: () => ({ resources: [{ kind: "path", access: "write", path: "/secret/a" }] }),
      },
      reached: ["normalise", "validate", "classify"],
      code: "policy_denied",
      fact: "tool.denied",
    },
    {
      stage: "plan",
      options: { policy: allowAll },
      tool: {
        prepare() {
          throw new Error("no plan");
        },
      },
      reached: ["normalise", "validate", "classify", "targets"],
      code: "execution_failed",
      fact: "tool.failed",
    },
    {
      stage: "permission for what the plan added",
      options: {
        policy: { rules: [{ path: "/secret/**", decision: "deny" }] },
        roots: { project: "/", write: ["/"] },
      },
      tool: {
        prepare: () => ({ resources: [{ kind: "path", access: "write", path: "/secret/a" }] }),
      },
      reached: ["normalise", "validate", "classify", "targets"],
      code: "policy_denied",
      fact: "tool.denied",
    },
    {
      stage: "surface under a denying rule",
      options: { policy: deny },
      reached: [],
      code: "tool_not_available",
      fact: "tool.denied",
    },
  ];

  it.each(ends)("a call that fails at its $stage ends there", async (end) => {
    verifies("PIPE-1");
    const log: string[] = [];
    const asked: string[] = [];
    const world = await createWorld({
      tools: [recordingTool(log, end.tool)],
      ask: () => {
        asked.push("ask");
        return { decision: "allow_once" };
      },
      ...end.options,
    });
    const [result] = await world.execute({
      id: "c",
      name: "notes.write",
      arguments: arguments_,
      ...end.call,
    });
    expect(result?.error?.code).toBe(end.code);
    expect(log).toEqual(end.reached);
    expect(asked).toEqual([]);
    const story = world.storyOf("c");
    expect(story).not.toContain("tool.started");
    const ends = world.facts().filter(isTerminalFact);
    expect(ends.map(({ type }) => type)).toEqual([end.fact]);
    expect(story[0]).toBe("tool.requested");
  });

  it("lead from arrival to the queue while an earlier barrier still runs, and no further", async () => {
    verifies("PIPE-1");
    const first = heldTool("notes.first", { permission: "write" });
    const log: string[] = [];
    const stage = await setStage({
      tools: [first.tool, recordingTool(log)],
      policy: allowAll,
      config: { tools: { early_start: "all" } },
    });
    const turn = stage.run.openTurn();
    turn.push({ id: "1", name: "notes.first", arguments: "{}" });
    turn.push({ id: "2", name: "notes.write", arguments: arguments_ });
    turn.end();
    await stage.clock.settle();
    expect(log).toEqual(["normalise", "validate", "classify"]);
    expect(stage.storyOf("2")).toEqual(["tool.requested", "tool.validated", "tool.queued"]);
    first.calls[0]?.finish("done");
    await atOnce(stage.clock, turn.settled());
    expect(log).toEqual(["normalise", "validate", "classify", "targets", "prepare", "handler"]);
  });

  it("plan the second edit of a file on what the first one left", async () => {
    verifies("PIPE-1");
    let file = "a";
    const planned: string[] = [];
    const edit = writer("files.append", 0, {
      input_schema: { type: "object", properties: { text: { type: "string" } } },
      prepare() {
        planned.push(file);
        return { resources: [], facts: { file } };
      },
      async handler(input: unknown) {
        await Promise.resolve();
        file += (input as { text: string }).text;
        return file;
      },
    });
    const world = await createWorld({ tools: [edit], policy: allowAll });
    const results = await world.execute(
      { name: "files.append", arguments: { text: "b" } },
      { name: "files.append", arguments: { text: "c" } },
    );
    expect(planned).toEqual(["a", "ab"]);
    expect(textOf(results[1])).toBe("abc");
  });
});

describe("a call without a model", () => {
  it("can be made by its name alone", async () => {
    verifies("PIPE-8");
    const world = await createWorld({ tools: [reader("notes.read")] });
    const result = await world.run.call("notes.read", { a: 1 });
    expect(result).toMatchObject({ status: "succeeded", data: { a: 1 } });
    expect(world.facts("tool.completed")).toHaveLength(1);
  });

  it("can be explained at every stage, and nothing of it happens", async () => {
    verifies("PIPE-8");
    const log: string[] = [];
    const world = await createWorld({
      tools: [
        recordingTool(log),
        recordingTool(log, { name: "notes.broken", validate: () => "never right" }),
      ],
      hooks: [recordingHook(log, "PreToolUse")],
      ask: () => ({ decision: "allow_once" }),
    });
    const before = world.facts().length;
    const explain = (name: string, text: string) =>
      drive(world.clock, world.run.explain({ name, arguments: text }));

    expect(await explain("notes.wrong", "{}")).toMatchObject({
      outcome: "refused",
      error: { code: "tool_not_available" },
    });
    expect(await explain("notes.write", "{")).toMatchObject({
      error: { code: "arguments_not_json" },
    });
    expect(await explain("notes.write", "{}")).toMatchObject({
      error: { code: "invalid_arguments" },
    });
    expect(await explain("notes.broken", arguments_())).toMatchObject({
      error: { code: "invalid_arguments" },
    });
    const asked = await explain("notes.write", arguments_());
    expect(asked).toMatchObject({ outcome: "ask", hooks: ["PreToolUse"] });
    expect(log).not.toContain("handler");
    expect(log).not.toContain("PreToolUse");
    expect(world.facts()).toHaveLength(before);
  });

  function arguments_(): string {
    return '{"text":"x"}';
  }
});
