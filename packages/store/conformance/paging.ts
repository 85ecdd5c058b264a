// Facts in pages: by seq from either end, by run and by call (EVENT-1).

import assert from "node:assert/strict";
import type { Fact } from "@soong/core";
import type { SessionReader, Store } from "@soong/store";
import { storeCheck, type ConformanceCheck } from "./check.ts";
import { expectRefusal, range, seqsOf } from "./expect.ts";
import { createFactWriter } from "./fact-writer.ts";

export const paging: readonly ConformanceCheck[] = [
  storeCheck("a page is cut by after, before and limit", ["EVENT-1"], async (place) => {
    const reader = await twelveFacts(await place.open());
    const page = async (about: Parameters<SessionReader["facts"]>[0]): Promise<number[]> =>
      seqsOf(await reader.facts(about));
    assert.deepEqual(await page(undefined), range(1, 12));
    assert.deepEqual(await page({}), range(1, 12));
    assert.deepEqual(await page({ limit: 3 }), [1, 2, 3]);
    assert.deepEqual(await page({ after: 0, limit: 2 }), [1, 2]);
    assert.deepEqual(await page({ after: 9 }), [10, 11, 12]);
    assert.deepEqual(await page({ after: 9, limit: 2 }), [10, 11]);
    assert.deepEqual(await page({ after: 12 }), []);
    assert.deepEqual(await page({ after: 1e12 }), []);
    assert.deepEqual(await page({ after: -7, limit: 1 }), [1]);
    assert.deepEqual(await page({ before: 4 }), [1, 2, 3]);
    assert.deepEqual(await page({ before: 10, limit: 3 }), [7, 8, 9]);
    assert.deepEqual(await page({ before: 3, limit: 100 }), [1, 2]);
    assert.deepEqual(await page({ before: 1 }), []);
    assert.deepEqual(await page({ before: 0, limit: 3 }), []);
    assert.deepEqual(await page({ before: 1e12, limit: 2 }), [11, 12]);
  }),
  storeCheck("a page may be of one run or of one call", ["EVENT-1"], async (place) => {
    const reader = await twelveFacts(await place.open());
    const page = async (about: Parameters<SessionReader["facts"]>[0]): Promise<number[]> =>
      seqsOf(await reader.facts(about));
    assert.deepEqual(await page({ run_id: "run_1" }), [2, 5, 8, 11]);
    assert.deepEqual(await page({ run_id: "run_2", after: 3, limit: 2 }), [6, 9]);
    assert.deepEqual(await page({ run_id: "run_2", before: 12, limit: 2 }), [6, 9]);
    assert.deepEqual(await page({ run_id: "run_none" }), []);
    assert.deepEqual(await page({ run_id: "" }), []);
    assert.deepEqual(await page({ tool_call_id: "call_0" }), [2, 3, 8, 9]);
    assert.deepEqual(await page({ run_id: "run_1", tool_call_id: "call_0" }), [2, 8]);
    assert.deepEqual(await page({ tool_call_id: "call_0", before: 9, limit: 2 }), [3, 8]);
    assert.deepEqual(await page({ tool_call_id: "call_none" }), []);
  }),
  storeCheck("without a limit a page has a thousand facts", ["EVENT-1"], async (place) => {
    const session = await (await place.open()).createSession();
    const writer = createFactWriter(session);
    for (let i = 0; i < 1100; i += 1) writer.add();
    await session.journal.flush();
    assert.deepEqual(seqsOf(await session.reader.facts()), range(1, 1000));
    assert.deepEqual(seqsOf(await session.reader.facts({ before: 1100 })), range(100, 1099));
  }),
  storeCheck("no limit makes a page of everything or of nonsense", ["EVENT-1"], async (place) => {
    const reader = await twelveFacts(await place.open());
    assert.deepEqual(await reader.facts({ limit: 0 }), []);
    assert.equal((await reader.facts({ limit: Number.MAX_SAFE_INTEGER })).length, 12);
    assert.equal((await reader.facts({ limit: Number.POSITIVE_INFINITY })).length, 12);
    for (const limit of [-1, Number.NaN, Number.NEGATIVE_INFINITY]) {
      const answer = await reader.facts({ limit }).catch((error: unknown) => error);
      if (!(answer instanceof Error)) assert.deepEqual(answer, [], `limit ${limit}`);
    }
    assert.deepEqual(seqsOf(await reader.facts({ limit: 2.9 })), [1, 2]);
  }),
  storeCheck(
    "facts of many sessions are found by type, and the last ones of runs",
    ["EVENT-1"],
    async (place) => {
      const store = await place.open();
      const ids: string[] = [];
      for (const session_id of ["one", "two", "three"]) {
        const session = await store.createSession({ session_id });
        const writer = createFactWriter(session);
        const run = (run_id: string): object => ({
          run_id: `${session_id}_${run_id}`,
          agent_id: "a",
        });
        writer.add({ ...run("a"), type: "run.started", run_seq: 1 });
        writer.add({ ...run("b"), type: "run.started", run_seq: 1 });
        writer.add({ ...run("a"), type: "tool.progress", run_seq: 2 });
        writer.add({ ...run("b"), type: "artifact.created", run_seq: 2 });
        writer.add({ ...run("a"), type: "run.completed", run_seq: 3 });
        writer.add({ ...run("a"), type: "task.step.released", run_seq: 4 });
        writer.add();
        await session.close();
        ids.push(session_id);
      }
      const shown = (facts: readonly Fact[]): string[] =>
        facts.map(({ session_id, seq }) => `${session_id} ${seq}`).toSorted();
      const found = await store.factsOfTypes(["two", "one"], ["tool.progress", "artifact.created"]);
      assert.deepEqual(shown(found), ["one 3", "one 4", "two 3", "two 4"]);
      const later = await store.factsOfTypes(ids, ["tool.progress", "artifact.created"], 3);
      assert.deepEqual(shown(later), ["one 4", "three 4", "two 4"]);
      assert.deepEqual(await store.factsOfTypes(ids, []), []);
      assert.deepEqual(await store.factsOfTypes(["nowhere", "\0"], ["artifact.created"]), []);
      const last = await store.lastFacts(["one", "three", "nowhere"]);
      const ends = last.filter(({ type }) => type === "run.completed");
      assert.deepEqual(shown(ends), ["one 5", "three 5"]);
      assert.deepEqual(
        new Set(last.map(({ run_id }) => run_id)),
        new Set(["one_a", "one_b", "three_a", "three_b"]),
      );
      assert.deepEqual(await store.lastFacts([]), []);
    },
  ),
  storeCheck("a session that is not there cannot be read", ["STORE-3"], async (place) => {
    const store = await place.open();
    await expectRefusal("session_unknown", () => store.readSession("nowhere"));
    await expectRefusal("session_unknown", () => store.readSession(""));
  }),
];

/** Facts of no run, of run_1 and of run_2 in turn; calls of the same id in both. */
async function twelveFacts(store: Store): Promise<SessionReader> {
  const session = await store.createSession();
  const writer = createFactWriter(session);
  for (let i = 0; i < 12; i += 1) {
    const of = i % 3;
    const call = { tool_call_id: `call_${Math.floor(i / 3) % 2}`, tool_name: "demo.note" };
    const ids = { run_id: `run_${of}`, agent_id: `agent_${of}`, run_seq: Math.floor(i / 3) + 1 };
    writer.add(of === 0 ? {} : { ...ids, ...call });
  }
  await session.journal.flush();
  return session.reader;
}
