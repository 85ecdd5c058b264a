import { describe, expect, it } from "vitest";
import type { FactRows } from "../../wire/session-records.ts";
import { createFactPages, PAGE_SIZE } from "./fact-pages.ts";

describe("pages of facts", () => {
  it("are asked for when they come into sight, and once", async () => {
    const list = listOf(1_000);
    list.pages.need({ first: 190, end: 230 });
    list.pages.need({ first: 195, end: 235 });
    expect(list.asked).toEqual([0, 200]);
    await list.answer(0);
    await list.answer(200);
    expect(list.pages.row(199)?.seq).toBe(200);
    expect(list.pages.row(200)?.seq).toBe(201);
    expect(list.pages.row(400)).toBeUndefined();
    list.pages.need({ first: 0, end: 230 });
    expect(list.asked).toEqual([0, 200]);
    expect(list.totals).toEqual([1_000, 1_000]);
  });

  it("are dropped when no one looks at them any more", async () => {
    const list = listOf(100_000);
    list.pages.need({ first: 0, end: 40 });
    list.pages.need({ first: 50_000, end: 50_040 });
    expect(list.open()).toEqual([50_000]);
    await list.answer(0);
    expect(list.pages.row(0)).toBeUndefined();
    await list.answer(50_000);
    expect(list.pages.row(50_000)?.seq).toBe(50_001);
  });

  it("are asked for again when the last one has grown, and no others", async () => {
    const list = listOf(250);
    list.pages.need({ first: 180, end: 250 });
    await list.answer(0);
    await list.answer(200);
    list.grow(10);
    list.pages.grew();
    expect(list.asked).toEqual([0, 200, 200]);
    expect(list.pages.row(249)?.seq).toBe(250);
    await list.answer(200);
    expect(list.pages.row(259)?.seq).toBe(260);
    list.pages.need({ first: 180, end: 260 });
    expect(list.asked).toHaveLength(3);
  });

  it("are asked for again after a failure, when they are still in sight", async () => {
    const list = listOf(10);
    list.pages.need({ first: 0, end: 10 });
    await list.fail(0);
    expect(list.problems).toEqual(["no"]);
    list.pages.need({ first: 0, end: 10 });
    await list.answer(0);
    expect(list.pages.row(9)?.seq).toBe(10);
  });

  it("are forgotten when there are many, those in sight last", async () => {
    const list = listOf(100_000);
    for (let page = 0; page < 80; page += 1) {
      list.pages.need({ first: page * PAGE_SIZE, end: page * PAGE_SIZE + 1 });
      // Each answer is for the page that is in sight then.
      await list.answer(page * PAGE_SIZE);
    }
    expect(list.pages.row(0)).toBeUndefined();
    expect(list.pages.row(79 * PAGE_SIZE)).toBeDefined();
  });

  it("ask for nothing more when the list is gone", () => {
    const list = listOf(1_000);
    list.pages.need({ first: 0, end: 10 });
    list.pages.stop();
    expect(list.open()).toEqual([]);
  });
});

function listOf(count: number) {
  let total = count;
  const asked: number[] = [];
  const problems: string[] = [];
  const totals: number[] = [];
  const waiting = new Map<number, Waiting>();
  const pages = createFactPages({
    ask: (offset, limit, signal) =>
      new Promise<FactRows>((resolve, reject) => {
        asked.push(offset);
        waiting.set(offset, { limit, signal, resolve, reject });
      }),
    onRows: (total) => totals.push(total),
    onProblem: (message) => problems.push(message),
  });
  async function end(offset: number, act: (waiting: Waiting) => void): Promise<void> {
    const one = waiting.get(offset);
    waiting.delete(offset);
    if (one !== undefined) act(one);
    await Promise.resolve();
    await Promise.resolve();
  }
  return {
    pages,
    asked,
    problems,
    totals,
    grow: (by: number) => {
      total += by;
    },
    open: () => [...waiting].filter(([, { signal }]) => !signal.aborted).map(([offset]) => offset),
    answer: (offset: number) =>
      end(offset, ({ limit, resolve }) =>
        resolve(rows(offset, Math.min(limit, total - offset), total)),
      ),
    fail: (offset: number) => end(offset, ({ reject }) => reject(new Error("no"))),
  };
}

interface Waiting {
  limit: number;
  signal: AbortSignal;
  resolve: (rows: FactRows) => void;
  reject: (error: Error) => void;
}

function rows(offset: number, count: number, total: number): FactRows {
  return {
    total,
    offset,
    rows: Array.from({ length: count }, (_, at) => ({
      seq: offset + at + 1,
      time: "2026-01-01T00:00:00.000Z",
      type: "tool.requested",
      level: "info",
      text: "",
    })),
  };
}
