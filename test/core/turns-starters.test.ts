// SCHED-2 at the kernel: calls that start an agent are a class of their own, and there is only so much room.

import type { AnyTool, ConfigInput, ToolSource } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { atOnce, heldTool, setStage, statusesOf, type StageOptions } from "./drive.ts";
import { writer } from "./world.ts";

async function starters(options: StageOptions & { about?: Partial<AnyTool> } = {}) {
  const { about, ...rest } = options;
  const sub = heldTool("agent.create_sub_agent", { starts_agent: true, ...about });
  const fork = heldTool("agent.fork_agent", {
    starts_agent: true,
    concurrency_safe: false,
    ...about,
  });
  const read = heldTool("a.read");
  const source: ToolSource = { id: "agents", kind: "agent", tools: [sub.tool, fork.tool] };
  const stage = await setStage({
    tools: [read.tool, writer("a.write")],
    sources: [source],
    ...rest,
  });
  const push = (...names: string[]) => {
    const turn = stage.run.openTurn();
    names.forEach((name, i) => turn.push({ id: `${i + 1}`, name, arguments: "{}" }));
    turn.end();
    return turn;
  };
  return { stage, sub, fork, read, push };
}

const SUB = "agent.create_sub_agent";
const FORK = "agent.fork_agent";
const limits = (perRun: number, atOnceInSession: number): ConfigInput => ({
  agents: { max_children_per_run: perRun, max_concurrent_children_per_session: atOnceInSession },
});

describe("agent starters", () => {
  it("run together when adjacent, apart from everything else, and are all waited for", async () => {
    verifies("SCHED-2");
    const { stage, sub, fork, read, push } = await starters();
    const turn = push("a.read", SUB, FORK, SUB, "a.read");
    await stage.clock.settle();
    expect([read.calls.length, sub.calls.length, fork.calls.length]).toEqual([1, 0, 0]);
    read.calls[0]?.finish(1);
    await stage.clock.settle();
    expect([read.calls.length, sub.calls.length, fork.calls.length]).toEqual([1, 2, 1]);
    sub.calls[0]?.finish(1);
    fork.calls[0]?.finish(1);
    await stage.clock.settle();
    expect(read.calls).toHaveLength(1);
    sub.calls[1]?.finish(1);
    await stage.clock.settle();
    expect(read.calls).toHaveLength(2);
    read.calls[1]?.finish(1);
    expect(statusesOf(await atOnce(stage.clock, turn.settled()))).toEqual(
      Array.from({ length: 5 }, () => "succeeded"),
    );
  });

  it("do not start while the model still streams", async () => {
    verifies("SCHED-2", "SCHED-5");
    const { stage, sub } = await starters();
    const turn = stage.run.openTurn();
    turn.push({ name: SUB, arguments: "{}" });
    await stage.clock.advance(1000);
    expect(sub.calls).toHaveLength(0);
    turn.end();
    await stage.clock.settle();
    expect(sub.calls).toHaveLength(1);
  });

  it.each([{}, { on_sibling_failure: "cancel_siblings" as const }])(
    "cancel no other call by failing (%j)",
    async (about) => {
      verifies("SCHED-2");
      const { stage, sub, read, push } = await starters({ about });
      const turn = push(SUB, SUB, SUB, "a.read");
      await stage.clock.settle();
      sub.calls[1]?.fail(new Error("the child gave up"));
      await stage.clock.settle();
      expect(sub.calls[0]?.context.signal.aborted).toBe(false);
      sub.calls[0]?.finish(1);
      sub.calls[2]?.finish(1);
      await stage.clock.settle();
      read.calls[0]?.finish(1);
      expect(statusesOf(await atOnce(stage.clock, turn.settled()))).toEqual([
        "succeeded",
        "failed",
        "succeeded",
        "succeeded",
      ]);
    },
  );

  it("are refused over max_children_per_run, in this turn and in later ones", async () => {
    verifies("SCHED-2");
    const { stage, sub, push } = await starters({ config: limits(2, 8) });
    const turn = push(SUB, SUB, SUB, "a.nothing");
    await stage.clock.settle();
    expect(sub.calls).toHaveLength(2);
    for (const call of sub.calls) call.finish(1);
    const results = await atOnce(stage.clock, turn.settled());
    expect(statusesOf(results)).toEqual(["succeeded", "succeeded", "failed", "denied"]);
    expect(results[2]?.error?.code).toBe("child_agent_limit_exceeded");
    expect(results[2]?.error?.message).toContain("2");
    const [later] = await atOnce(stage.clock, push(SUB).settled());
    expect(later?.error?.code).toBe("child_agent_limit_exceeded");
    expect(sub.calls).toHaveLength(2);

    const other = await stage.session.startRun();
    void other.call(SUB, {});
    await stage.clock.settle();
    expect(sub.calls).toHaveLength(3);
  });

  it("wait over max_concurrent_children_per_session, across the runs of the session", async () => {
    verifies("SCHED-2");
    const { stage, sub, push } = await starters({ config: limits(4, 2) });
    const turn = push(SUB, SUB, SUB);
    await stage.clock.settle();
    const other = await stage.session.startRun();
    const elsewhere = other.call(SUB, {});
    await stage.clock.advance(600_000);
    expect(sub.calls).toHaveLength(2);
    expect(stage.facts("tool.started")).toHaveLength(2);

    sub.calls[0]?.finish(1);
    await stage.clock.settle();
    expect(sub.calls).toHaveLength(3);
    // It fails, and its place is free all the same.
    sub.calls[1]?.fail(new Error("the child gave up"));
    await stage.clock.settle();
    expect(sub.calls).toHaveLength(4);
    for (const call of sub.calls) call.finish(1);
    const results = await atOnce(stage.clock, turn.settled());
    expect(statusesOf(results)).toEqual(["succeeded", "failed", "succeeded"]);
    // Waiting for a place is not the call's own time.
    expect(results[2]?.metadata.duration_ms).toBe(0);
    expect((await atOnce(stage.clock, elsewhere)).status).toBe("succeeded");
    expect(stage.clock.pending).toBe(0);
  });

  it("give up their place in the queue when aborted, and no one loses a place by it", async () => {
    verifies("SCHED-2", "PIPE-7");
    const { stage, sub, push } = await starters({ config: limits(9, 1) });
    const turn = push(SUB, SUB);
    await stage.clock.settle();
    const other = await stage.session.startRun();
    const elsewhere = other.call(SUB, {});
    await stage.clock.settle();
    expect(statusesOf(await atOnce(stage.clock, turn.abort("enough")))).toEqual([
      "aborted",
      "aborted",
    ]);
    expect(sub.calls).toHaveLength(2);
    sub.calls[1]?.finish("of the other run");
    expect(await atOnce(stage.clock, elsewhere)).toMatchObject({ status: "succeeded" });
    const [again] = await Promise.all([
      stage.run.call(SUB, {}),
      stage.clock.settle().then(() => sub.calls[2]?.finish("again")),
    ]);
    expect(again.status).toBe("succeeded");
  });

  it("that wait for a place are skipped by an interrupt: they have not started", async () => {
    verifies("SCHED-2", "PIPE-7");
    const { stage, sub, push } = await starters({ config: limits(9, 1) });
    const turn = push(SUB, SUB);
    await stage.clock.settle();
    turn.interrupt("the user typed something");
    sub.calls[0]?.finish("done");
    await stage.clock.settle();
    expect(sub.calls).toHaveLength(1);
    expect(statusesOf(await atOnce(stage.clock, turn.settled()))).toEqual(["succeeded", "skipped"]);
  });

  it("are what an agent source says they are, and nothing else", async () => {
    verifies("SCHED-2");
    const pretender = heldTool("a.pretends", { starts_agent: true });
    const stage = await setStage({ tools: [pretender.tool], config: limits(0, 0) });
    const calling = stage.run.call("a.pretends", {});
    await stage.clock.settle();
    pretender.calls[0]?.finish(1);
    expect((await atOnce(stage.clock, calling)).status).toBe("succeeded");
  });
});
