// What any journal must do, durable or not: the kernel's interface alone, without a store around it.

import assert from "node:assert/strict";
import type { Journal } from "@soong/core";
import type { Check } from "./check.ts";
import { allFacts, expectFacts, range, seqsOf } from "./expect.ts";
import { createFactWriter } from "./fact-writer.ts";

/** An empty journal and the session it is of. */
export interface JournalUnderTest {
  readonly session_id: string;
  readonly journal: Journal;
}

export const journalChecks: readonly Check<JournalUnderTest>[] = [
  {
    name: "an empty journal has nothing to read and nothing to wait for",
    laws: ["EVENT-1"],
    async run({ journal }) {
      assert.deepEqual(await journal.read(0, 10), []);
      await journal.flush();
      assert.deepEqual(await journal.read(0, 10), []);
    },
  },
  {
    name: "what is appended can be read at once, and reads the same after a flush",
    laws: ["EVENT-1"],
    async run(session) {
      const writer = createFactWriter(session);
      const written = [
        writer.add({ data: { text: "one" } }),
        writer.add({ run_id: "run_1", run_seq: 1 }),
      ];
      expectFacts(await allFacts(session.journal), written);
      await session.journal.flush();
      expectFacts(await allFacts(session.journal), written);
    },
  },
  {
    name: "facts come in the order of their seq, before and after a flush, also against their times",
    laws: ["EVENT-1"],
    async run(session) {
      const writer = createFactWriter(session);
      for (let i = 0; i < 20; i += 1) {
        writer.add({ time: new Date(Date.UTC(2026, 0, 1) - i * 1000).toISOString() });
        if (i % 7 === 3) await session.journal.flush();
      }
      assert.deepEqual(seqsOf(await allFacts(session.journal)), range(1, 20));
    },
  },
  {
    name: "a page begins after a seq, ends at its limit, and is empty beyond the end",
    laws: ["EVENT-1"],
    async run(session) {
      const { journal } = session;
      const writer = createFactWriter(session);
      for (let i = 0; i < 10; i += 1) {
        writer.add();
        if (i === 5) await journal.flush();
      }
      const page = async (after: number, limit: number): Promise<number[]> =>
        seqsOf(await journal.read(after, limit));
      assert.deepEqual(await page(0, 3), [1, 2, 3]);
      assert.deepEqual(await page(3, 3), [4, 5, 6]);
      // One page over the border of what is durable and what is not yet.
      assert.deepEqual(await page(4, 4), [5, 6, 7, 8]);
      assert.deepEqual(await page(8, 100), [9, 10]);
      assert.deepEqual(await page(10, 5), []);
      assert.deepEqual(await page(1_000_000, 5), []);
      assert.deepEqual(await page(0, 0), []);
      assert.deepEqual(await page(-5, 2), [1, 2]);
      assert.deepEqual(await page(0, Number.MAX_SAFE_INTEGER), range(1, 10));
      assert.deepEqual(await page(2, Number.POSITIVE_INFINITY), range(3, 10));
    },
  },
  {
    name: "the facts of one entry keep their order, with the nodes beside them",
    laws: ["EVENT-1", "PIPE-3"],
    async run(session) {
      const writer = createFactWriter(session);
      const facts = [writer.fact(), writer.fact(), writer.fact()];
      session.journal.append({ facts, nodes: [writer.node({ node_id: "n1" })] });
      await session.journal.flush();
      expectFacts(await allFacts(session.journal), facts);
    },
  },
  {
    name: "several flushes at once all settle",
    laws: ["EVENT-1"],
    async run(session) {
      const { journal } = session;
      const writer = createFactWriter(session);
      const flushes: unknown[] = [];
      for (let i = 0; i < 20; i += 1) {
        writer.add();
        flushes.push(journal.flush(), journal.flush());
      }
      await Promise.all(flushes);
      assert.deepEqual(seqsOf(await allFacts(journal)), range(1, 20));
    },
  },
];
