// EVENT-4: the live stream of facts. No one who reads, however badly, is noticed by the run.

import type { Fact, ToolContext } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { atOnce, drive, setStage, type Stage } from "./drive.ts";
import { createSpyJournal } from "./spy-journal.ts";
import { pause, reader } from "./world.ts";

const seqs = (facts: readonly Fact[]): number[] => facts.map(({ seq }) => seq);

async function readers(): Promise<Stage> {
  return setStage({ tools: [reader("a.read")] });
}

async function callMany(stage: Stage, count: number): Promise<void> {
  const calls = Array.from({ length: count }, () => ({ name: "a.read", arguments: "{}" }));
  const results = await atOnce(stage.clock, stage.run.execute(calls));
  expect(results.every(({ status }) => status === "succeeded")).toBe(true);
}

async function collect(facts: AsyncIterable<Fact>): Promise<Fact[]> {
  const all: Fact[] = [];
  for await (const fact of facts) all.push(fact);
  return all;
}

describe("a reader of the live stream", () => {
  it("sees every fact once, in order, as it happens", async () => {
    verifies("EVENT-4");
    const stage = await readers();
    const seen: Fact[] = [];
    const reading = (async () => {
      for await (const fact of stage.session.facts()) seen.push(fact);
    })();
    await stage.clock.settle();
    expect(seqs(seen)).toEqual(seqs(stage.facts()));
    await callMany(stage, 3);
    await stage.clock.settle();
    expect(seqs(seen)).toEqual(seqs(stage.facts()));
    await stage.session.close();
    await atOnce(stage.clock, reading);
    expect(seen).toEqual(stage.facts());
  });

  it("sees nothing before it is committed", async () => {
    verifies("EVENT-4");
    const listeners = new Set<() => void>();
    const committed = {
      seq: 0,
      subscribe(listener: () => void) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    };
    const spy = { ...createSpyJournal(), committed };
    const stage = await setStage({ spy, tools: [reader("a.read")] });
    const seen: Fact[] = [];
    const reading = (async () => {
      for await (const fact of stage.session.facts()) seen.push(fact);
    })();
    await callMany(stage, 3);
    await stage.clock.settle();
    expect(seen).toEqual([]);
    committed.seq = 5;
    for (const listener of listeners) listener();
    await stage.clock.settle();
    expect(seqs(seen)).toEqual([1, 2, 3, 4, 5]);
    // What could never be committed is not shown when it ends either.
    await stage.session.close();
    await atOnce(stage.clock, reading);
    expect(seqs(seen)).toEqual([1, 2, 3, 4, 5]);
    expect(listeners.size).toBe(0);
  });

  it("who is never there, or asks for the stream and never reads it, is not missed", async () => {
    verifies("EVENT-4");
    const stage = await readers();
    stage.session.facts();
    const idle = stage.session.facts();
    await idle.next();
    await callMany(stage, 500);
    await stage.session.close();
    expect(stage.clock.pending).toBe(0);
  });

  it("who comes late reads from the start, or from where it says", async () => {
    verifies("EVENT-4");
    const stage = await readers();
    await callMany(stage, 200);
    await stage.session.close();
    const facts = stage.facts();
    expect(facts.length).toBeGreaterThan(1000);
    expect(await collect(stage.session.facts())).toEqual(facts);
    expect(await collect(stage.session.facts({ after: 700 }))).toEqual(facts.slice(700));
    expect(await collect(stage.session.facts({ after: 1e9 }))).toEqual([]);
  });

  it("who wants one run gets the facts of that run", async () => {
    verifies("EVENT-4");
    const stage = await readers();
    const other = await stage.session.startRun();
    await callMany(stage, 2);
    const { run_id } = other.identity;
    const reading = collect(stage.session.facts({ run_id }));
    await other.call("a.read", {});
    await callMany(stage, 2);
    await stage.session.close();
    const own = stage.facts().filter((fact) => fact.run_id === run_id);
    expect(await atOnce(stage.clock, reading)).toEqual(own);
    expect(own.length).toBeGreaterThan(5);
  });

  it("who is slow holds nothing up and misses nothing", async () => {
    verifies("EVENT-4");
    const stage = await readers();
    const seen: Fact[] = [];
    const reading = (async () => {
      for await (const fact of stage.session.facts()) {
        seen.push(fact);
        await pause(stage.clock, 1000);
      }
    })();
    await stage.clock.settle();
    await callMany(stage, 20);
    expect(seen).toHaveLength(1);
    await stage.session.close();
    await drive(stage.clock, reading);
    expect(seqs(seen)).toEqual(seqs(stage.facts()));
  });

  it("is one of several, each at its own pace", async () => {
    verifies("EVENT-4");
    const stage = await readers();
    const quick = collect(stage.session.facts());
    const slow = (async () => {
      const all: Fact[] = [];
      for await (const fact of stage.session.facts()) {
        all.push(fact);
        await pause(stage.clock, 10);
      }
      return all;
    })();
    await callMany(stage, 5);
    await stage.session.close();
    const expected = seqs(stage.facts());
    expect(seqs(await drive(stage.clock, quick))).toEqual(expected);
    expect(seqs(await drive(stage.clock, slow))).toEqual(expected);
  });

  it("a listener that leaves early, or throws, affects no other", async () => {
    verifies("EVENT-4");
    const stage = await readers();
    const staying = collect(stage.session.facts());
    for await (const { seq } of stage.session.facts()) if (seq === 2) break;
    const throwing = (async () => {
      for await (const { type } of stage.session.facts()) {
        if (type === "tool.started") throw new Error("the screen is gone");
      }
    })();
    const failed = throwing.catch((error: unknown) => error);
    await callMany(stage, 3);
    expect(await failed).toMatchObject({ message: "the screen is gone" });
    await callMany(stage, 3);
    await stage.session.close();
    expect(seqs(await atOnce(stage.clock, staying))).toEqual(seqs(stage.facts()));
  });

  it("a waiting reader that is asked to return ends", async () => {
    verifies("EVENT-4");
    const stage = await readers();
    const facts = stage.session.facts({ after: 1e9 });
    const waiting = [facts.next(), facts.next()];
    await stage.clock.settle();
    await facts.return?.();
    for (const next of waiting) expect((await atOnce(stage.clock, next)).done).toBe(true);
    expect((await facts.next()).done).toBe(true);
  });

  it("who asks for several facts at once gets each of them once, in order", async () => {
    verifies("EVENT-4");
    const stage = await readers();
    const facts = stage.session.facts();
    const count = stage.facts().length + 4;
    const asked = Array.from({ length: count }, () => facts.next());
    await stage.clock.settle();
    await callMany(stage, 1);
    const got = await atOnce(stage.clock, Promise.all(asked));
    expect(got.map(({ value }) => (value as Fact).seq)).toEqual(
      Array.from({ length: count }, (_, i) => i + 1),
    );
  });

  it("whose journal cannot be read gets an error, and the run does not", async () => {
    verifies("EVENT-4");
    const spy = createSpyJournal({ onRead: () => Promise.reject(new Error("the disk is gone")) });
    const stage = await setStage({ spy, tools: [reader("a.read")] });
    await expect(stage.session.facts().next()).rejects.toThrow("the disk is gone");
    await callMany(stage, 3);
  });
});

describe("the live stream", () => {
  it("ends for everyone when the session is closed, also when nothing happens then", async () => {
    verifies("EVENT-4");
    const stage = await readers();
    const reading = [collect(stage.session.facts()), collect(stage.session.facts({ after: 1e9 }))];
    await stage.clock.settle();
    await stage.session.close();
    const [all, none] = await atOnce(stage.clock, Promise.all(reading));
    expect(seqs(all ?? [])).toEqual(seqs(stage.facts()));
    expect(none).toEqual([]);
    expect(await collect(stage.session.facts())).toEqual(stage.facts());
  });

  it("ends, too, when the session is closed over a journal that fails", async () => {
    verifies("EVENT-4");
    let failing = false;
    const spy = createSpyJournal({
      onFlush: () => (failing ? Promise.reject(new Error("the disk is full")) : undefined),
    });
    const stage = await setStage({ spy, tools: [reader("a.read")] });
    const reading = collect(stage.session.facts());
    failing = true;
    await expect(stage.session.close()).rejects.toThrow("the disk is full");
    expect(seqs(await atOnce(stage.clock, reading))).toEqual(seqs(stage.facts()));
  });

  it("merges a flood of progress, keeps its end, and drops no other fact", async () => {
    verifies("EVENT-4", "SCHED-7");
    const flood = (handler: (context: ToolContext) => unknown): Promise<Stage> =>
      setStage({
        tools: [
          reader("a.flood", 0, {
            handler: (_input: unknown, context: ToolContext) => handler(context),
          }),
        ],
      });
    const report = (context: ToolContext): void => {
      for (let i = 1; i <= 20_000; i += 1) context.progress({ message: `step ${i}`, progress: i });
    };
    for (const handler of [report, (context: ToolContext) => Promise.resolve(report(context))]) {
      const stage = await flood(handler);
      const reading = collect(stage.session.facts());
      await stage.run.execute([{ id: "1", name: "a.flood", arguments: "{}" }]);
      await stage.session.close();
      const seen = await atOnce(stage.clock, reading);
      const progress = seen.filter((fact) => fact.type === "tool.progress");
      expect(progress.length).toBeLessThan(200);
      expect(progress.at(-1)?.data.message).toBe("step 20000");
      const merged = progress.map(({ data }) => data.merged ?? 0);
      expect(progress.length + merged.reduce((sum, n) => sum + n, 0)).toBe(20_000);
      expect(stage.storyOf("1").filter((type) => type !== "tool.progress")).toEqual([
        "tool.requested",
        "tool.validated",
        "tool.queued",
        "permission.evaluated",
        "tool.started",
        "tool.completed",
        "tool.yielded",
      ]);
    }
  });
});
