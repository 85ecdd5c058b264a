// PIPE-7: abort and interrupt. Who is told to stop, what is kept of them, and who never begins.

import { defineHook, isTerminalFact, type AnyTool, type ToolContext, type Turn } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { atOnce, heldTool, setStage, statusesOf, type Stage } from "./drive.ts";
import { allowAll, textOf } from "./world.ts";

const forever = (): Promise<never> => new Promise(() => {});

/** Opens a turn with these calls, named by their ids, and lets it come as far as it can in no time. */
async function begin(stage: Stage, ...names: string[]): Promise<Turn> {
  const turn = stage.run.openTurn();
  names.forEach((name, i) => turn.push({ id: `${i + 1}`, name, arguments: "{}" }));
  turn.end();
  await stage.clock.settle();
  return turn;
}

/** Nothing may follow the end of a call but its delivery and what comes too late. */
function expectEnded(stage: Stage, ...ids: string[]): void {
  for (const id of ids) {
    const own = stage.facts().filter(({ tool_call_id }) => tool_call_id === id);
    const end = own.findIndex(isTerminalFact);
    expect(own.filter(isTerminalFact), id).toHaveLength(1);
    const after = own
      .slice(end + 1)
      .filter(({ type }) => !["tool.yielded", "tool.late"].includes(type));
    expect(after, `after the end of ${id}`).toEqual([]);
  }
}

describe("an abort", () => {
  it("ends every call: running ones cancelled, with what they had; the others not begun", async () => {
    verifies("PIPE-7");
    let signal: { aborted: boolean } | undefined;
    const running = heldTool("slow.read", {
      handler(_input: unknown, context: ToolContext) {
        signal = context.signal;
        context.output("the first half");
        return forever();
      },
    });
    const later = heldTool("notes.write", { permission: "write" });
    const stage = await setStage({ tools: [running.tool, later.tool], policy: allowAll });
    const turn = await begin(stage, "slow.read", "notes.write");
    const [first, second] = await atOnce(stage.clock, turn.abort("the user pressed escape"));

    expect(first).toMatchObject({
      status: "aborted",
      is_error: true,
      metadata: { aborted: true, partial: true },
    });
    expect(first?.metadata.abort_reason).toBe("the user pressed escape");
    expect(textOf(first)).toContain("the first half");
    expect(signal?.aborted).toBe(true);
    expect(second).toMatchObject({
      status: "aborted",
      is_error: true,
      metadata: { aborted: true },
    });
    expect(second?.metadata.partial).toBeUndefined();
    expect(later.calls).toHaveLength(0);
    expect(turn.aborted).toBe(true);
    expectEnded(stage, "1", "2");
    expect(stage.clock.pending).toBe(0);
  });

  it("keeps large partial output as an artifact", async () => {
    verifies("PIPE-7");
    const line = `${"x".repeat(99)}\n`;
    const running = heldTool("slow.build", {
      handler(_input: unknown, context: ToolContext) {
        for (let i = 0; i < 5000; i += 1) context.output(line);
        return forever();
      },
    });
    const stage = await setStage({ tools: [running.tool] });
    const turn = await begin(stage, "slow.build");
    const [result] = await atOnce(stage.clock, turn.abort("enough"));
    expect(result?.status).toBe("aborted");
    expect(textOf(result).length).toBeLessThan(70_000);
    const [artifact] = result?.artifacts ?? [];
    expect(artifact?.size).toBe(5000 * line.length);
    expect((await stage.artifacts.stat(artifact?.artifact_id ?? ""))?.tool_call_id).toBe("1");
  });

  it.each([
    ["in one piece", ["a".repeat(30_000) + "b".repeat(30_000)]],
    ["in pieces", ["a".repeat(10_000), "b".repeat(50_000)]],
  ])("shows partial output within the bound whole, %s", async (_how, pieces) => {
    verifies("PIPE-7");
    const running = heldTool("slow.build", {
      handler(_input: unknown, context: ToolContext) {
        for (const piece of pieces) context.output(piece);
        return forever();
      },
    });
    const stage = await setStage({ tools: [running.tool] });
    const turn = await begin(stage, "slow.build");
    const [result] = await atOnce(stage.clock, turn.abort("enough"));
    expect(textOf(result)).toContain(pieces.join(""));
  });

  it("names what the call has kept outside the conversation, also in its clean-up", async () => {
    verifies("PIPE-7");
    const running = heldTool("slow.build", {
      async handler(_input: unknown, context: ToolContext) {
        await context.artifacts.write("one", { media_type: "text/plain", name: "early" });
        const sink = context.artifacts.open({ media_type: "text/plain", name: "late" });
        await sink.write("two");
        context.onCancel(async () => void (await sink.close()));
        return forever();
      },
    });
    const stage = await setStage({ tools: [running.tool] });
    const turn = await begin(stage, "slow.build");
    const [result] = await atOnce(stage.clock, turn.abort("enough"));
    expect(result?.artifacts.map(({ name }) => name)).toEqual(["early", "late"]);
    const shown = result?.content.filter((fact) => fact.type === "artifact_ref");
    expect(shown).toMatchObject(
      result?.artifacts.map(({ artifact_id }) => ({ artifact_id })) ?? [],
    );
    expect(shown).toHaveLength(2);
  });

  it("reaches every call of the run, whichever turn it belongs to", async () => {
    verifies("PIPE-7");
    const running = heldTool("slow.read");
    const stage = await setStage({ tools: [running.tool] });
    const calls = [stage.run.call("slow.read", {}), stage.run.call("slow.read", {})];
    await stage.clock.settle();
    expect(running.calls).toHaveLength(2);
    await atOnce(stage.clock, stage.run.abort("enough"));
    expect(statusesOf(await atOnce(stage.clock, Promise.all(calls)))).toEqual([
      "aborted",
      "aborted",
    ]);
  });

  it.each([
    ["waits on", forever],
    ["is done", () => "done"],
  ])("may come from inside a call that then %s", async (_what, then) => {
    verifies("PIPE-7");
    const ends: Promise<unknown>[] = [];
    const running = heldTool("slow.read", {
      handler() {
        ends.push(turn.abort("the tool itself says so"));
        return then();
      },
    });
    const stage = await setStage({ tools: [running.tool] });
    const turn = stage.run.openTurn();
    turn.push({ id: "1", name: "slow.read", arguments: "{}" });
    turn.push({ id: "2", name: "slow.read", arguments: "{}" });
    const results = await atOnce(stage.clock, turn.settled());
    await atOnce(stage.clock, Promise.all(ends));
    expect(statusesOf(results)).toEqual([then === forever ? "aborted" : "succeeded", "aborted"]);
    expect(ends).toHaveLength(1);
    expectEnded(stage, "1", "2");
    expect(stage.clock.pending).toBe(0);
  });

  it("leaves what has ended as it was, and takes nothing new", async () => {
    verifies("PIPE-7");
    const held = heldTool("slow.read");
    const stage = await setStage({ tools: [held.tool] });
    const turn = await begin(stage, "slow.read", "slow.read");
    held.calls[0]?.finish("done");
    await stage.clock.settle();
    await atOnce(stage.clock, turn.abort("enough"));
    await atOnce(stage.clock, turn.abort("again"));
    turn.push({ id: "3", name: "slow.read", arguments: "{}" });
    const results = await atOnce(stage.clock, turn.settled());
    expect(statusesOf(results)).toEqual(["succeeded", "aborted", "aborted"]);
    expect(held.calls).toHaveLength(2);
    expectEnded(stage, "1", "2", "3");
  });

  // Every place where a call may be waiting for someone who never answers.
  const hung: {
    where: string;
    tool?: Partial<AnyTool>;
    options?: Parameters<typeof setStage>[0];
  }[] = [
    { where: "validate", tool: { validate: forever } },
    { where: "prepare", tool: { prepare: forever } },
    {
      where: "a guard",
      options: { hooks: [defineHook({ id: "h", event: "PreToolUse", run: forever })] },
    },
    {
      where: "validate, after a guard changed the input",
      tool: { validate: (input: unknown) => ("x" in (input as object) ? forever() : undefined) },
      options: {
        hooks: [defineHook({ id: "h", event: "PreToolUse", run: () => ({ input: { x: 1 } }) })],
      },
    },
    {
      where: "prepare, after a guard changed the input",
      tool: {
        prepare: (input: unknown) => ("x" in (input as object) ? forever() : { resources: [] }),
      },
      options: {
        hooks: [defineHook({ id: "h", event: "PreToolUse", run: () => ({ input: { x: 1 } }) })],
      },
    },
    {
      where: "a guard of the question",
      tool: { permission: "write" },
      options: {
        policy: {},
        ask: () => ({ decision: "allow_once" }),
        hooks: [defineHook({ id: "h", event: "PermissionRequest", run: forever })],
      },
    },
    {
      where: "a person",
      tool: { permission: "write" },
      options: { policy: {}, ask: forever, config: { permissions: { ask_timeout_ms: 90_000 } } },
    },
    {
      where: "prepare, after a person said yes",
      tool: { permission: "write", prepare: hangingTheSecondTime() },
      options: { policy: {}, ask: () => ({ decision: "allow_once" }) },
    },
    {
      where: "an observer, after the call itself",
      tool: { handler: () => "done" },
      options: { hooks: [defineHook({ id: "h", event: "PostToolUse", run: forever })] },
    },
    {
      where: "its clean-up",
      tool: {
        handler(_input: unknown, context: ToolContext) {
          context.onCancel(() => Promise.resolve());
          return forever();
        },
      },
    },
  ];

  function hangingTheSecondTime(): NonNullable<AnyTool["prepare"]> {
    let asked = 0;
    return () => ((asked += 1) === 2 ? forever() : { resources: [] });
  }

  it.each(hung)("does not wait for $where", async ({ tool, options }) => {
    verifies("PIPE-7");
    const held = heldTool("slow.read", tool);
    const stage = await setStage({ tools: [held.tool], policy: allowAll, ...options });
    const turn = await begin(stage, "slow.read");
    const results = await atOnce(stage.clock, turn.abort("enough"));
    expect(results).toHaveLength(1);
    expect(results[0]?.status).toBe(tool?.handler?.length === 0 ? "succeeded" : "aborted");
    expect(stage.clock.pending).toBe(0);
    await stage.clock.advance(200_000);
    expectEnded(stage, "1");
    if (tool?.handler === undefined) expect(held.calls).toHaveLength(0);
  });

  it("comes after the request of a call whose long arguments are still being kept", async () => {
    verifies("PIPE-7", "EVENT-1");
    const held = heldTool("slow.read");
    const stage = await setStage({ tools: [held.tool] });
    const turn = stage.run.openTurn();
    turn.push({
      id: "1",
      name: "slow.read",
      arguments: JSON.stringify({ text: "x".repeat(50_000) }),
    });
    const results = await atOnce(stage.clock, turn.abort("enough"));
    await stage.clock.advance(1000);
    expect(statusesOf(results)).toEqual(["aborted"]);
    expect(stage.storyOf("1")[0]).toBe("tool.requested");
    expectEnded(stage, "1");
  });
});

describe("an interrupt", () => {
  it("ends what may be cancelled, lets the rest finish, and begins nothing more", async () => {
    verifies("PIPE-7");
    const cancel = heldTool("slow.search", { interrupt_behavior: "cancel" });
    const block = heldTool("slow.read", { interrupt_behavior: "block" });
    const assumed = heldTool("slow.other");
    const later = heldTool("notes.write", { permission: "write" });
    const stage = await setStage({
      tools: [cancel.tool, block.tool, assumed.tool, later.tool],
      policy: allowAll,
    });
    const turn = await begin(stage, "slow.search", "slow.read", "slow.other", "notes.write");
    turn.interrupt("the user typed something");
    await stage.clock.settle();
    expect(cancel.calls[0]?.context.signal.aborted).toBe(true);
    expect(block.calls[0]?.context.signal.aborted).toBe(false);
    expect(assumed.calls[0]?.context.signal.aborted).toBe(false);
    block.calls[0]?.finish("read");
    assumed.calls[0]?.finish("other");
    const results = await atOnce(stage.clock, turn.settled());
    expect(statusesOf(results)).toEqual(["cancelled", "succeeded", "succeeded", "skipped"]);
    expect(results[0]?.error?.message).toContain("the user typed something");
    expect(results[3]?.error?.message).toContain("the user typed something");
    expect(later.calls).toHaveLength(0);
    expect(turn.aborted).toBe(false);
    expectEnded(stage, "1", "2", "3", "4");
    expect(stage.clock.pending).toBe(0);
  });

  it("skips what arrives after it", async () => {
    verifies("PIPE-7");
    const held = heldTool("slow.read");
    const stage = await setStage({ tools: [held.tool] });
    const turn = stage.run.openTurn();
    turn.interrupt("the user typed something");
    turn.push({ id: "1", name: "slow.read", arguments: "{}" });
    turn.end();
    expect(statusesOf(await atOnce(stage.clock, turn.settled()))).toEqual(["skipped"]);
    expect(held.calls).toHaveLength(0);
  });

  it("skips a call that is still waiting for the user to allow it", async () => {
    verifies("PIPE-7");
    let answer: (() => void) | undefined;
    let told: { aborted: boolean } | undefined;
    const held = heldTool("notes.write", { permission: "write" });
    const stage = await setStage({
      tools: [held.tool],
      ask: (_request, { signal }) => {
        told = signal;
        return new Promise((resolve) => {
          answer = () => resolve({ decision: "allow_once" });
        });
      },
    });
    const turn = await begin(stage, "notes.write");
    turn.interrupt("the user typed something");
    await stage.clock.settle();
    answer?.();
    const results = await atOnce(stage.clock, turn.settled());
    expect(statusesOf(results)).toEqual(["skipped"]);
    expect(held.calls).toHaveLength(0);
    expect(told?.aborted).toBe(true);
    expect(stage.storyOf("1")).not.toContain("tool.started");
  });

  it("is overruled by an abort", async () => {
    verifies("PIPE-7");
    const held = heldTool("slow.read");
    const stage = await setStage({ tools: [held.tool] });
    const turn = await begin(stage, "slow.read");
    turn.interrupt("the user typed something");
    const results = await atOnce(stage.clock, turn.abort("enough"));
    expect(statusesOf(results)).toEqual(["aborted"]);
    expect(results[0]?.metadata.abort_reason).toContain("enough");
  });
});
