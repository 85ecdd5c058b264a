import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Fact } from "@soong/core";
import { verifies } from "#laws";
import { createFolderQueue } from "./run-folders.ts";
import type { CommittedFact } from "./line-file.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test("facts of several commits go to their folders soon, together and in order", () => {
  verifies("EVENT-5");
  const { queue, written } = watchedQueue();
  queue.append([fact(1), fact(2)]);
  queue.append([fact(3)]);
  expect(written).toEqual([]);
  vi.advanceTimersByTime(25);
  expect(written).toEqual([[1, 2, 3]]);
  queue.append([fact(4)]);
  vi.advanceTimersByTime(25);
  expect(written).toEqual([[1, 2, 3], [4]]);
});

test("a caller that cannot wait has them written now, and nothing is written twice", () => {
  verifies("EVENT-5");
  const { queue, written } = watchedQueue();
  queue.append([fact(1)]);
  queue.write();
  vi.advanceTimersByTime(100);
  queue.write();
  expect(written).toEqual([[1]]);
});

test("much of it does not wait", () => {
  verifies("EVENT-5");
  const { queue, written } = watchedQueue();
  queue.append([fact(1), fact(2, "x".repeat(1024 * 1024))]);
  expect(written).toEqual([[1, 2]]);
});

function watchedQueue() {
  const written: number[][] = [];
  const queue = createFolderQueue({
    append: (facts) => void written.push(facts.map((one) => one.fact.seq)),
  });
  return { queue, written };
}

function fact(seq: number, line = "{}"): CommittedFact {
  return { fact: { seq } as Fact, line };
}
