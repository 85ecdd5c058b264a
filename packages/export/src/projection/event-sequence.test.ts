import { expect, test } from "vitest";
import { EventSequence } from "./event-sequence.ts";

function count(...seqs: readonly unknown[]): number[] {
  const sequence = new EventSequence();
  return seqs.flatMap((seq) => {
    sequence.begin(seq);
    return [sequence.take(), sequence.take()];
  });
}

test("an event is counted by its fact, and by its place among the events of it", () => {
  expect(count(1, 2, 10)).toEqual([
    1_000_000, 1_000_001, 2_000_000, 2_000_001, 10_000_000, 10_000_001,
  ]);
  expect(count(10)).toEqual([10_000_000, 10_000_001]);
});

test("a place can stay empty", () => {
  const sequence = new EventSequence();
  sequence.begin(3);
  sequence.skip();
  expect(sequence.take()).toBe(3_000_001);
});

test("it rises and stays exact, with any count of a damaged journal", () => {
  const all = count(5, 4, undefined, -1, Number.NaN, 0.5, 1e308, 2 ** 53, "7", 2 ** 32, 1);
  expect(all).toEqual([...new Set(all)].toSorted((a, b) => a - b));
  expect(all.every(Number.isSafeInteger)).toBe(true);
});
