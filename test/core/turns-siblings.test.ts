// SCHED-4 and SCHED-7 through the whole kernel: siblings that end with each other, the states of a call as facts,
// and the order in which results come out.

import type { AnyTool, Turn } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { atOnce, heldTool, pushAll, setStage, statusesOf, type Stage } from "./drive.ts";
import { factOf } from "./spy-journal.ts";
import { allowAll, pause, reader, START, writer } from "./world.ts";

type Held = ReturnType<typeof heldTool>;

describe("a tool that takes its siblings with it", () => {
  async function siblings(about: Partial<AnyTool> = {}): Promise<{
    stage: Stage;
    command: Held;
    read: Held;
    turn: Turn;
  }> {
    const command = heldTool("a.command", { on_sibling_failure: "cancel_siblings", ...about });
    const read = heldTool("a.read");
    const stage = await setStage({
      tools: [command.tool, read.tool, writer("a.write")],
      policy: allowAll,
      config: { tools: { max_concurrency: 4, default_timeout_ms: 1000 } },
    });
    const turn = pushAll(stage, "a.read", "a.read", "a.command", "a.read", "a.read", "a.write");
    await stage.clock.settle();
    return { stage, command, read, turn };
  }

  it("ends those beside it, running or about to, and names itself", async () => {
    verifies("SCHED-4");
    const { stage, command, read, turn } = await siblings();
    read.calls[0]?.finish("in time");
    await stage.clock.settle();
    command.calls[0]?.fail(new Error("exit 1"));
    const results = await atOnce(stage.clock, turn.settled());
    expect(statusesOf(results)).toEqual([
      "succeeded",
      "cancelled",
      "failed",
      "cancelled",
      "cancelled",
      // It was never beside the one that failed.
      "succeeded",
    ]);
    for (const i of [1, 3, 4]) {
      expect(results[i]?.error).toMatchObject({
        code: "sibling_failed",
        error_class: "sibling_canceled",
      });
      expect(results[i]?.error?.message).toContain("a.command (3)");
    }
    expect(read.calls[1]?.context.signal.aborted).toBe(true);
    expect(new Set(stage.facts("tool.cancelled").map(({ tool_call_id }) => tool_call_id))).toEqual(
      new Set(["2", "4", "5"]),
    );
    expect(stage.clock.pending).toBe(0);
  });

  it("does so when it times out, too", async () => {
    verifies("SCHED-4");
    const { stage, turn } = await siblings({ timeout_ms: 10 });
    await stage.clock.advance(10);
    const results = await atOnce(stage.clock, turn.settled());
    expect(statusesOf(results)).toEqual([
      "cancelled",
      "cancelled",
      "timed_out",
      "cancelled",
      "cancelled",
      "succeeded",
    ]);
  });

  it("affects no other call when it succeeds, is denied, or has not said so", async () => {
    verifies("SCHED-4");
    for (const about of [
      {},
      { prepare: () => ({ resources: "nonsense" as never }) },
      { on_sibling_failure: "continue" as const },
    ]) {
      const { stage, command, read, turn } = await siblings(about);
      if (about.on_sibling_failure === undefined) command.calls[0]?.finish("fine");
      else command.calls[0]?.fail(new Error("exit 1"));
      await stage.clock.settle();
      for (const call of read.calls) call.finish(1);
      await stage.clock.settle();
      for (const call of read.calls) call.finish(1);
      const results = await atOnce(stage.clock, turn.settled());
      expect(results.filter(({ status }) => status === "cancelled")).toEqual([]);
    }
  });
});

describe("the states of a call", () => {
  it("are facts with their times", async () => {
    verifies("SCHED-7");
    const first = writer("a.write", 0, { handler: () => pause(stage.clock, 100) });
    const second = reader("a.read", 0, { handler: () => pause(stage.clock, 30) });
    const stage: Stage = await setStage({ tools: [first, second], policy: allowAll });
    const turn = pushAll(stage, "a.write", "a.read");
    await stage.clock.advance(200);
    await turn.settled();
    const at = (type: "tool.queued" | "tool.started" | "tool.completed" | "tool.yielded"): number =>
      Date.parse(factOf(stage.journal, "2", type)?.time ?? "") - START;
    expect([at("tool.queued"), at("tool.started"), at("tool.completed")]).toEqual([0, 100, 130]);
    expect(at("tool.yielded")).toBe(200);
  });

  it("include its progress, as soon as there is any", async () => {
    verifies("SCHED-7", "EVENT-4");
    const read = heldTool("a.read");
    const stage = await setStage({ tools: [read.tool] });
    const seen: unknown[] = [];
    const live = (async () => {
      for await (const { type, data } of stage.session.facts()) {
        if (type === "tool.progress") seen.push(data["message"]);
      }
    })();
    const turn = pushAll(stage, "a.read");
    await stage.clock.settle();
    read.calls[0]?.context.progress({ message: "a third" });
    await stage.clock.settle();
    expect(seen).toEqual(["a third"]);
    read.calls[0]?.context.progress({ message: "two thirds" });
    await stage.clock.settle();
    expect(seen).toEqual(["a third", "two thirds"]);
    read.calls[0]?.finish("all");
    await atOnce(stage.clock, turn.settled());
    await stage.session.close();
    await atOnce(stage.clock, live);
  });

  it("lead to results in call order, each as soon as it and all before it are there", async () => {
    verifies("SCHED-7");
    const read = heldTool("a.read");
    const stage = await setStage({ tools: [read.tool] });
    const turn = pushAll(stage, "a.read", "a.nothing", "a.read", "a.read");
    const out: string[] = [];
    const delivering = (async () => {
      for await (const { tool_call_id } of turn.results()) out.push(tool_call_id);
    })();
    await stage.clock.settle();
    read.calls[2]?.finish(3);
    await stage.clock.settle();
    expect(out).toEqual([]);
    read.calls[0]?.finish(1);
    await stage.clock.settle();
    expect(out).toEqual(["1", "2"]);
    read.calls[1]?.finish(2);
    await atOnce(stage.clock, delivering);
    expect(out).toEqual(["1", "2", "3", "4"]);
    const results = await atOnce(stage.clock, turn.settled());
    expect(results.map(({ tool_call_id }) => tool_call_id)).toEqual(out);
    expect(stage.facts("tool.yielded").map(({ tool_call_id }) => tool_call_id)).toEqual(out);
  });
});
