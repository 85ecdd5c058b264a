import { expect, test } from "vitest";
import { verifies } from "#laws";
import type { Fact } from "./fact.ts";
import { liveFacts } from "./live-facts.ts";

test("a reader asks the journal for committed facts only, each of them once", async () => {
  verifies("EVENT-4");
  const facts: Fact[] = [];
  const listeners = new Set<() => void>();
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const committed = { seq: 0, subscribe };
  let read = 0;
  const journal = {
    committed,
    read: async (after: number, limit: number) => {
      const page = facts.slice(after, after + limit);
      read += page.length;
      return page;
    },
  };
  const recorder = { closed: false, subscribe };
  const reader = liveFacts(journal, recorder);
  const seen: number[] = [];
  const reading = (async () => {
    for await (const { seq } of reader) seen.push(seq);
  })();
  for (let seq = 1; seq <= 100; seq++) {
    facts.push({ seq } as Fact);
    if (seq % 20 === 0) committed.seq = seq - 5;
    for (const ring of listeners) ring();
    await new Promise(setImmediate);
  }
  expect(seen).toEqual(Array.from({ length: 95 }, (_, at) => at + 1));
  expect(read).toBe(95);
  recorder.closed = true;
  for (const ring of listeners) ring();
  await reading;
});
