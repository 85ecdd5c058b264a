// PIPE-3, EVENT-1 and RESULT-1 on a journal that fails: nothing is executed unrecorded, and every call
// still has its one result.

import {
  createHeldClock,
  defineHook,
  type AnyTool,
  type JournalEntry,
  type ToolContext,
  type ToolResult,
} from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { atOnce, drive, setStage, type Stage, type StageOptions } from "./drive.ts";
import { createSpyJournal, type SpyJournal, type SpyOptions } from "./spy-journal.ts";
import { allowAll, pause, reader, writer } from "./world.ts";

interface Executed {
  readonly name: string;
  /** What was on record of this call when its handler began. */
  readonly started: boolean;
  readonly durable: boolean;
}

/** A stage whose tools note, when they run, whether that is on record. */
async function noting(
  spyOptions: SpyOptions,
  options: StageOptions = {},
): Promise<{ stage: Stage; spy: SpyJournal; executed: Executed[] }> {
  const executed: Executed[] = [];
  const spy = createSpyJournal(spyOptions);
  const clock = createHeldClock();
  const note = (then: (context: ToolContext) => unknown): Partial<AnyTool> => ({
    handler(_input: unknown, context: ToolContext) {
      const fact = spy.facts.find(
        ({ type, tool_call_id }) => type === "tool.started" && tool_call_id === context.toolCallId,
      );
      const durable = fact !== undefined && fact.seq <= spy.durable;
      executed.push({ name: context.toolName, started: fact !== undefined, durable });
      return then(context);
    },
  });
  const stage = await setStage({
    clock,
    spy,
    policy: allowAll,
    tools: [
      reader(
        "a.read",
        0,
        note(() => "read"),
      ),
      reader(
        "a.slow",
        0,
        note(async () => pause(clock, 100)),
      ),
      reader(
        "a.chatty",
        0,
        note(async (context) => {
          for (let i = 0; i < 130; i += 1) context.progress({ message: `step ${i}` });
          await pause(clock, 10);
          return "said";
        }),
      ),
      reader(
        "a.yields",
        0,
        note(async function* () {
          yield { message: "one" };
          yield { message: "two" };
          return "done";
        }),
      ),
      reader("a.hangs", 0, { timeout_ms: 50, ...note(() => new Promise(() => {})) }),
      reader(
        "a.big",
        0,
        note(() => "x".repeat(70_000)),
      ),
      writer(
        "a.write",
        0,
        note(() => "written"),
      ),
      writer(
        "a.asks",
        0,
        note(() => "written"),
      ),
    ],
    hooks: [
      defineHook({ id: "pre", event: "PreToolUse", tool: "a.write", run: () => undefined }),
      defineHook({ id: "post", event: "PostToolUse", tool: "a.write", run: () => undefined }),
    ],
    ...options,
  });
  return { stage, spy, executed };
}

const NAMES = [
  "a.read",
  "a.chatty",
  "a.yields",
  "a.hangs",
  "a.big",
  "a.unknown",
  "a.slow",
  "a.write",
  "a.read",
  "a.asks",
  "a.read",
];

function callAll(stage: Stage): Promise<ToolResult[]> {
  return drive(
    stage.clock,
    stage.run.execute(NAMES.map((name, i) => ({ id: `${i}`, name, arguments: "{}" }))),
  );
}

const policy = {
  rules: ["a.read", "a.chatty", "a.yields", "a.hangs", "a.big", "a.slow", "a.write"].map(
    (tool) => ({
      tool,
      decision: "allow" as const,
    }),
  ),
};
const ask: StageOptions["ask"] = () => ({ decision: "allow_for_session" });

/** How many entries the same turn leaves in a journal that works, and where the turn begins. */
async function span(): Promise<{ from: number; to: number }> {
  const { stage, spy } = await noting({}, { policy, ask });
  const from = spy.entries.length;
  const results = await callAll(stage);
  expect(results.filter(({ is_error }) => is_error).map(({ status }) => status)).toEqual([
    "timed_out",
    "denied",
  ]);
  return { from, to: spy.entries.length };
}

function expectOneEach(results: readonly ToolResult[]): void {
  expect(results.map(({ tool_call_id }) => tool_call_id)).toEqual(NAMES.map((_, i) => `${i}`));
  for (const { is_error, error, content } of results) {
    if (!is_error) continue;
    expect(error?.message).toBeTruthy();
    expect(content.length).toBeGreaterThan(0);
  }
}

describe("a journal that refuses its n-th entry", () => {
  it("stops the calls at that place, whichever it is, and each of them says so", async () => {
    verifies("PIPE-3", "RESULT-1", "EVENT-1");
    const { from, to } = await span();
    expect(to - from).toBeGreaterThan(150);
    for (let n = from; n < to; n += 1) {
      const refused: JournalEntry[] = [];
      const { stage, spy, executed } = await noting(
        {
          onAppend(entry, index) {
            if (index < n) return;
            refused.push(entry);
            throw new Error("the disk is full");
          },
        },
        { policy, ask },
      );
      const results = await callAll(stage);
      expectOneEach(results);
      const where = `entry ${n}, ${refused[0]?.facts.map(({ type }) => type).join()}`;
      for (const one of executed) expect(one.started, `${where}: ${one.name}`).toBe(true);
      // Nothing more is tried after the first refusal, and nothing was taken of it.
      expect(refused, where).toHaveLength(1);
      expect(spy.entries).toHaveLength(n);
      for (const result of results) {
        const ended = spy.facts.some(
          ({ type, tool_call_id, data }) =>
            tool_call_id === result.tool_call_id && type.startsWith("tool.") && "result" in data,
        );
        // A call whose end is not on record must not look as if it were.
        if (!ended)
          expect(result.error?.code, `${where}: ${result.tool_name}`).toBe("journal_unavailable");
        if (!ended) expect(["failed", "unknown"]).toContain(result.status);
      }
      expect(stage.clock.pending, where).toBe(0);
    }
  });

  it("says of a call that ran that it may have happened", async () => {
    verifies("PIPE-3", "RESULT-1");
    const { stage, executed } = await noting({
      onAppend({ facts }) {
        if (facts.some(({ type }) => type === "tool.completed"))
          throw new Error("the disk is full");
      },
    });
    const result = await drive(stage.clock, stage.run.call("a.write", {}));
    expect(executed).toHaveLength(1);
    expect(result).toMatchObject({
      status: "unknown",
      is_error: true,
      error: { code: "journal_unavailable" },
    });
    expect(result.error?.message).toContain("the disk is full");
    const next = await drive(stage.clock, stage.run.call("a.read", {}));
    expect(next.error?.code).toBe("journal_unavailable");
    expect(executed).toHaveLength(1);
  });

  it("does not keep an abort, an interrupt or a discard from ending a turn", async () => {
    verifies("PIPE-7", "RESULT-1");
    for (const end of ["abort", "interrupt", "discard"] as const) {
      let failing = false;
      const { stage } = await noting({
        onAppend() {
          if (failing) throw new Error("the disk is full");
        },
      });
      const turn = stage.run.openTurn();
      for (const name of ["a.chatty", "a.slow", "a.hangs"]) turn.push({ name, arguments: "{}" });
      await stage.clock.settle();
      failing = true;
      void turn[end]("enough");
      turn.end();
      const results = await drive(stage.clock, turn.settled());
      expect(results.map(({ is_error }) => is_error)).toEqual([true, true, true]);
      // What the handlers themselves still waited for.
      await stage.clock.advance(100);
      expect(stage.clock.pending).toBe(0);
    }
  });

  it.each(["openSession", "startRun"])("lets %s fail clearly", async (when) => {
    verifies("EVENT-1");
    const spyOptions: SpyOptions = {
      onAppend(_entry, index) {
        if (index >= (when === "openSession" ? 0 : 1)) throw new Error("the disk is full");
      },
    };
    await expect(noting(spyOptions)).rejects.toThrow(/journal.*the disk is full/);
  });
});

describe("a journal that cannot make its entries durable", () => {
  const ways: { how: string; fail: () => void | Promise<void> }[] = [
    { how: "rejects", fail: () => Promise.reject(new Error("the disk is gone")) },
    {
      how: "throws",
      fail() {
        throw new Error("the disk is gone");
      },
    },
  ];

  it.each(ways)("lets no write happen when its flush $how, from then on", async ({ fail }) => {
    verifies("PIPE-3", "RESULT-1");
    let failing = false;
    const { stage, executed } = await noting(
      { onFlush: () => (failing ? fail() : undefined) },
      { policy, ask },
    );
    failing = true;
    const results = await callAll(stage);
    expectOneEach(results);
    expect(executed.map(({ name }) => name)).not.toContain("a.write");
    expect(executed.map(({ name }) => name)).not.toContain("a.asks");
    const write = results.find(({ tool_name }) => tool_name === "a.write");
    expect(write?.error?.code).toBe("journal_unavailable");
    expect(write?.error?.message).toContain("the disk is gone");

    const before = executed.length;
    failing = false;
    const next = await drive(stage.clock, stage.run.call("a.read", {}));
    expect(next.error?.code).toBe("journal_unavailable");
    expect(executed).toHaveLength(before);
    expect(stage.clock.pending).toBe(0);
  });

  it("holds a write back, and only the write, while it takes its time", async () => {
    verifies("PIPE-3");
    const { stage, executed } = await noting({ onFlush: () => pause(stage.clock, 500) });
    const reading = stage.run.call("a.read", {});
    const writing = stage.run.call("a.write", {});
    await stage.clock.advance(499);
    expect(executed.map(({ name }) => name)).toEqual(["a.read"]);
    await stage.clock.advance(1);
    expect(executed.map(({ name, durable }) => [name, durable])).toEqual([
      ["a.read", false],
      ["a.write", true],
    ]);
    await drive(stage.clock, Promise.all([reading, writing]));
  });

  it("lets an abort end a write that is still being held back, unexecuted", async () => {
    verifies("PIPE-3", "PIPE-7");
    const { stage, executed } = await noting({ onFlush: () => pause(stage.clock, 500) });
    const turn = stage.run.openTurn();
    turn.push({ name: "a.write", arguments: "{}" });
    turn.end();
    await stage.clock.settle();
    const aborting = turn.abort("enough");
    const [result] = await drive(stage.clock, aborting);
    expect(result?.status).toBe("aborted");
    expect(executed).toEqual([]);
    await atOnce(stage.clock, Promise.resolve());
  });
});
