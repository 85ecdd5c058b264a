// A run id belongs to one session. Who takes it a second time is refused, and no one else suffers (EVENT-1).

import assert from "node:assert/strict";
import { StoreError, type Store } from "@soong/store";
import { storeCheck, type ConformanceCheck } from "./check.ts";
import { expectRefusal } from "./expect.ts";
import { createFactWriter } from "./fact-writer.ts";

export const takenRuns: readonly ConformanceCheck[] = [
  storeCheck("a run of one session cannot be begun in another", ["EVENT-1"], async (place) => {
    const store = await place.open();
    for (const [index, second] of [store, await place.open()].entries()) {
      const run_id = `run_${index}`;
      await runTakenTwice(store, second, run_id);
    }
  }),
  storeCheck(
    "of two handles that begin the same run at once one is refused, and its other sessions continue",
    ["EVENT-1", "STORE-1"],
    async (place) => {
      const [store, other] = [await place.open(), await place.open()];
      const [one, two, third] = [
        await store.createSession(),
        await other.createSession(),
        await other.createSession(),
      ];
      const about = {
        type: "run.started",
        run_id: "run_1",
        agent_id: "agent_1",
        run_seq: 1,
      } as const;
      // Both are taken before either is committed.
      createFactWriter(one).add(about);
      createFactWriter(two).add(about);
      const ends = await Promise.allSettled([one.journal.flush(), two.journal.flush()]);
      const refused = ends.flatMap((end) =>
        end.status === "rejected" ? [codeOf(end.reason)] : [],
      );
      assert.deepEqual(refused, ["run_exists"]);
      createFactWriter(third).add();
      await third.journal.flush();
      assert.equal((await third.reader.record()).last_seq, 1);
      const loser = (await one.reader.facts()).length === 0 ? one : two;
      assert.deepEqual(await loser.reader.facts(), []);
      await loser.close().catch(() => {});
      assert.ok((await store.verify(loser.session_id)).ok);
    },
  ),
];

async function runTakenTwice(store: Store, other: Store, run_id: string): Promise<void> {
  const [one, two, third] = [
    await store.createSession(),
    await other.createSession(),
    await other.createSession(),
  ];
  const about = { type: "run.started", run_id, agent_id: "agent_1", run_seq: 1 } as const;
  createFactWriter(one).add(about);
  await one.journal.flush();
  // Whether the store sees it when the entry is taken or when it is committed.
  await expectRefusal("run_exists", async () => {
    createFactWriter(two).add(about);
    await two.journal.flush();
  });
  assert.equal((await store.findRun(run_id))?.session_id, one.session_id);
  assert.deepEqual(await two.reader.facts(), []);
  createFactWriter(third).add();
  await third.journal.flush();
  assert.equal((await third.reader.record()).last_seq, 1);
  await two.close().catch(() => {});
  for (const { session_id } of [one, two]) assert.ok((await store.verify(session_id)).ok);
}

function codeOf(error: unknown): string {
  return error instanceof StoreError ? error.code : String(error);
}
