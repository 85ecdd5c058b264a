// PIPE-4, PIPE-5 and PIPE-6: the time of a call, and the time that is not the call's.

import type { AnyTool, FactType, ToolContext } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { drive, heldTool, setStage, type Stage, type StageOptions } from "./drive.ts";
import { factOf } from "./spy-journal.ts";
import { allowAll, pause, textOf } from "./world.ts";

/** Makes one call and says when, in milliseconds, its result was there. */
async function timed(stage: Stage, name: string, input: object = {}) {
  const began = stage.clock.now();
  let ended = Number.NaN;
  const calling = stage.run.execute([{ id: "c", name, arguments: input }]).then(([result]) => {
    ended = stage.clock.now();
    return result;
  });
  const result = await drive(stage.clock, calling);
  return { result, took: ended - began };
}

const endless = (about: Partial<AnyTool> = {}): AnyTool => heldTool("slow.wait", about).tool;

const limits: StageOptions["config"] = {
  tools: { default_timeout_ms: 1000, max_timeout_ms: 5000 },
  agents: { child_timeout_ms: 70_000 },
};

describe("the time a call may take", () => {
  const cases: { says: string; about: Partial<AnyTool>; input?: object; expected: number }[] = [
    { says: "the default of the config", about: {}, expected: 1000 },
    { says: "what the definition says", about: { timeout_ms: 3000 }, expected: 3000 },
    { says: "no more than the maximum", about: { timeout_ms: 60_000 }, expected: 5000 },
    {
      says: "what the model asks for where the tool lets it",
      about: { timeoutFor: (input: unknown) => (input as { ms: number }).ms },
      input: { ms: 2000 },
      expected: 2000,
    },
    {
      says: "no more than the maximum, whatever the model asks for",
      about: { timeoutFor: (input: unknown) => (input as { ms: number }).ms },
      input: { ms: 1e12 },
      expected: 5000,
    },
    {
      says: "the default where the model asks for nonsense",
      about: { timeoutFor: (input: unknown) => (input as { ms: number }).ms },
      input: { ms: -1 },
      expected: 1000,
    },
    {
      says: "the default where the tool takes no time from the model",
      about: {},
      input: { timeout_ms: 4000, ms: 4000 },
      expected: 1000,
    },
  ];

  it.each(cases)("is $says", async ({ about, input, expected }) => {
    verifies("PIPE-5");
    const stage = await setStage({ tools: [endless(about)], config: limits });
    const { result, took } = await timed(stage, "slow.wait", input);
    expect(result).toMatchObject({
      status: "timed_out",
      is_error: true,
      error: { code: "timed_out", error_class: "timeout", retryable: true },
      metadata: { duration_ms: expected, partial: true },
    });
    expect(took).toBe(expected);
    expect(stage.clock.pending).toBe(0);
  });

  it("is agents.child_timeout_ms for a tool that starts an agent", async () => {
    verifies("PIPE-5");
    const starter = endless({ name: "agent.create_sub_agent", starts_agent: true, timeout_ms: 10 });
    const stage = await setStage({
      sources: [{ id: "agents", kind: "agent", tools: [starter] }],
      config: limits,
    });
    const { result, took } = await timed(stage, "agent.create_sub_agent");
    expect(result?.status).toBe("timed_out");
    expect(took).toBe(70_000);
  });
});

describe("a clock that someone sets during a call", () => {
  const day = 24 * 60 * 60 * 1000;

  it.each([
    { says: "forward", by: 3 * day },
    { says: "back", by: -3 * day },
  ])("$says changes neither its time limit nor its duration", async ({ by }) => {
    verifies("PIPE-5");
    const stage = await setStage({ tools: [endless()], config: limits });
    const calling = timed(stage, "slow.wait");
    await stage.clock.settle();
    stage.clock.set(stage.clock.now() + by);
    const { result } = await calling;
    expect(result).toMatchObject({ status: "timed_out", metadata: { duration_ms: 1000 } });
    const times = ["tool.started", "tool.failed"].map((type) => {
      const fact = factOf(stage.journal, "c", type as FactType);
      return Date.parse(fact?.time ?? "");
    });
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBe(by + 1000);
  });
});

describe("a call that times out", () => {
  it("ends now, with its output so far, no matter what its handler does about the signal", async () => {
    verifies("PIPE-5");
    let signal: { aborted: boolean } | undefined;
    const deaf: Partial<AnyTool> = {
      handler(_input: unknown, context: ToolContext) {
        signal = context.signal;
        context.output("half of it");
        return new Promise(() => {});
      },
    };
    const stage = await setStage({ tools: [endless(deaf)], config: limits });
    const { result, took } = await timed(stage, "slow.wait");
    expect(took).toBe(1000);
    expect(textOf(result)).toContain("half of it");
    expect(signal?.aborted).toBe(true);
  });

  it.each([
    ["value", (held: ReturnType<typeof heldTool>) => held.calls[0]?.finish("too late")],
    ["error", (held: ReturnType<typeof heldTool>) => held.calls[0]?.fail(new Error("too late"))],
  ])("records a late %s as late and does not use it", async (_what, answer) => {
    verifies("PIPE-5");
    const held = heldTool("slow.wait");
    const stage = await setStage({ tools: [held.tool], config: limits });
    const { result } = await timed(stage, "slow.wait");
    const before = structuredClone(result);
    answer(held);
    await stage.clock.advance(1);
    expect(result).toEqual(before);
    expect(stage.storyOf("c").slice(-2)).toEqual(["tool.yielded", "tool.late"]);
    expect(stage.facts("tool.completed", "tool.failed")).toHaveLength(1);
    expect(factOf(stage.journal, "c", "tool.failed")?.data.result).toEqual(before);
  });

  it("waits for its own clean-up, and not for ever", async () => {
    verifies("PIPE-5");
    const log: string[] = [];
    const cleaning = (name: string, ms: number): AnyTool =>
      endless({
        name,
        handler(_input: unknown, context: ToolContext) {
          context.onCancel(async () => {
            await pause(stage.clock, ms);
            log.push(`${name} is gone`);
          });
          context.onCancel(() => {
            throw new Error("nothing to clean up");
          });
          return new Promise(() => {});
        },
      });
    const stage: Stage = await setStage({
      tools: [cleaning("slow.tidy", 200), cleaning("slow.stuck", 1e9)],
      config: { tools: { ...limits?.tools, cancel_grace_ms: 700 } },
    });
    expect((await timed(stage, "slow.tidy")).took).toBe(1200);
    expect(log).toEqual(["slow.tidy is gone"]);
    expect((await timed(stage, "slow.stuck")).took).toBe(1700);
  });

  it("still cleans up what its handler only then got hold of", async () => {
    verifies("PIPE-5");
    const log: string[] = [];
    const spawning = endless({
      async handler(_input: unknown, context: ToolContext) {
        await pause(stage.clock, 1500);
        context.onCancel(() => void log.push("the process is gone"));
        return new Promise(() => {});
      },
    });
    const stage: Stage = await setStage({ tools: [spawning], config: limits });
    const { result } = await timed(stage, "slow.wait");
    expect(result?.status).toBe("timed_out");
    await stage.clock.advance(1000);
    expect(log).toEqual(["the process is gone"]);
  });

  it.each([
    ["in a moment", (value: unknown) => Promise.resolve(value)],
    ["at once", (value: unknown) => value],
  ])("and one that ended %s are over: later progress is not heard", async (_when, answer) => {
    verifies("PIPE-5", "SCHED-7");
    let context: ToolContext | undefined;
    const chatty = endless({
      handler(_input: unknown, given: ToolContext) {
        context = given;
        return answer("done");
      },
    });
    const stage = await setStage({ tools: [chatty] });
    await timed(stage, "slow.wait");
    context?.progress({ message: "still here" });
    await stage.clock.advance(1000);
    expect(stage.facts("tool.progress")).toEqual([]);
    expect(stage.storyOf("c").at(-1)).toBe("tool.yielded");
  });
});

describe("the user's time to answer", () => {
  const HOUR = 3_600_000;

  it("counts for nothing while permission is asked for", async () => {
    verifies("PIPE-6");
    const slow = endless({
      permission: "write",
      async handler() {
        await pause(stage.clock, 900);
        return "done";
      },
    });
    const stage: Stage = await setStage({
      tools: [slow],
      config: limits,
      ask: async () => {
        await pause(stage.clock, HOUR / 2);
        return { decision: "allow_once" };
      },
    });
    const { result, took } = await timed(stage, "slow.wait");
    expect(result).toMatchObject({ status: "succeeded", metadata: { duration_ms: 900 } });
    expect(took).toBe(HOUR / 2 + 900);
  });

  it.each([
    [
      "an elicitation",
      (context: ToolContext) =>
        context.elicit({ mode: "form", message: "which one?", requested_schema: {} }),
    ],
    [
      "anything a handler says is a person's",
      (context: ToolContext, wait: (ms: number) => Promise<void>) =>
        context.waitForUser(wait(HOUR / 2)),
    ],
  ])("counts for nothing in the middle of a call: %s", async (_what, askIn) => {
    verifies("PIPE-6");
    const wait = (ms: number): Promise<void> => pause(stage.clock, ms);
    const slow = endless({
      async handler(_input: unknown, context: ToolContext) {
        await wait(600);
        await askIn(context, wait);
        await wait(300);
        return "done";
      },
    });
    const stage: Stage = await setStage({
      tools: [slow],
      config: limits,
      elicit: async () => {
        await wait(HOUR / 2);
        return { action: "accept" };
      },
    });
    const { result, took } = await timed(stage, "slow.wait");
    expect(result).toMatchObject({ status: "succeeded", metadata: { duration_ms: 900 } });
    expect(took).toBe(HOUR / 2 + 900);
  });

  it("does not win a call more time than it has", async () => {
    verifies("PIPE-5", "PIPE-6");
    const slow = endless({
      async handler(_input: unknown, context: ToolContext) {
        await pause(stage.clock, 600);
        await context.waitForUser(pause(stage.clock, 5000));
        return new Promise(() => {});
      },
    });
    const stage: Stage = await setStage({ tools: [slow], config: limits });
    const { result, took } = await timed(stage, "slow.wait");
    expect(result).toMatchObject({ status: "timed_out", metadata: { duration_ms: 1000 } });
    expect(took).toBe(6000);
  });

  it.each([
    ["the first ends first", 100, 200],
    ["the second ends first", 300, 50],
  ])("is counted once when two questions overlap and %s", async (_which, first, second) => {
    verifies("PIPE-6");
    const slow = endless({
      async handler(_input: unknown, context: ToolContext) {
        const one = context.waitForUser(pause(stage.clock, first));
        await pause(stage.clock, 40);
        const two = context.waitForUser(pause(stage.clock, second));
        await Promise.all([one, two]);
        await pause(stage.clock, 25);
        return "done";
      },
    });
    const stage: Stage = await setStage({ tools: [slow], config: limits });
    const { result } = await timed(stage, "slow.wait");
    expect(result?.metadata.duration_ms).toBe(25);
  });
});

describe("a turn", () => {
  it("has no results of its own before each of its calls has one", async () => {
    verifies("PIPE-4");
    const held = heldTool("slow.wait");
    const stage = await setStage({ tools: [held.tool], policy: allowAll });
    const turn = stage.run.openTurn();
    for (const id of ["1", "2", "3"]) turn.push({ id, name: "slow.wait", arguments: "{}" });
    turn.end();
    let settled = false;
    const waiting = turn.settled().then((results) => {
      settled = true;
      return results;
    });
    await stage.clock.settle();
    for (const i of [2, 0]) {
      held.calls[i]?.finish(i);
      await stage.clock.advance(10_000);
      expect(settled).toBe(false);
    }
    held.calls[1]?.finish(1);
    const results = await drive(stage.clock, waiting);
    expect(results.map(({ data }) => data)).toEqual([0, 1, 2]);
  });

  it("that no one ended is not over, though all its calls are", async () => {
    verifies("PIPE-4");
    const held = heldTool("slow.wait");
    const stage = await setStage({ tools: [held.tool] });
    const turn = stage.run.openTurn();
    turn.push({ id: "1", name: "slow.wait", arguments: "{}" });
    let settled = false;
    const waiting = turn.settled().then(() => {
      settled = true;
    });
    await stage.clock.settle();
    held.calls[0]?.finish("done");
    await stage.clock.advance(10_000);
    expect(settled).toBe(false);
    turn.end();
    await drive(stage.clock, waiting);
    expect(settled).toBe(true);
  });
});
