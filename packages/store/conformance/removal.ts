// Removing sessions, by hand and by age or size: everything of them goes but a tombstone, which keeps a copy
// of the journal checkable (ART-4).

import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { StoreError, type OpenSession, type Store } from "@soong/store";
import { artifactOf } from "./artifact-checks.ts";
import { storeCheck, type ConformanceCheck } from "./check.ts";
import { expectRefusal } from "./expect.ts";
import { createFactWriter } from "./fact-writer.ts";
import { stepOf, taskOf } from "./task-storage.ts";

const DAY = 24 * 60 * 60 * 1000;

export const removal: readonly ConformanceCheck[] = [
  storeCheck("a removed session is gone but for its tombstone", ["ART-4"], async (place) => {
    const store = await place.open();
    const session = await filled(store, "gone", 3);
    const kept = await filled(store, "kept", 2);
    const { artifact_id } = await session.artifacts.write("bytes", artifactOf("gone"));
    await Promise.all([session.close(), kept.close()]);
    const record = await (await store.readSession("gone")).record();
    const before = Date.now();
    const tombstone = await store.removeSession("gone", "tidying up");
    const { removed_at, ...rest } = tombstone;
    assert.deepEqual(rest, {
      session_id: "gone",
      created_at: record.created_at,
      reason: "tidying up",
      last_seq: 3,
      head_hash: record.head_hash,
    });
    assert.ok(Math.abs(Date.parse(removed_at) - before) < DAY);
    const other = await place.open();
    for (const someone of [store, other]) {
      assert.deepEqual(
        (await someone.sessions()).map(({ session_id }) => session_id),
        ["kept"],
      );
      assert.deepEqual(await someone.tombstones(), [tombstone]);
      await expectRefusal("session_removed", () => someone.openSession("gone"));
      await expectRefusal("session_removed", () => someone.readSession("gone"));
      await expectRefusal("session_exists", () => someone.createSession({ session_id: "gone" }));
      assert.equal(await someone.findRun("run_gone"), undefined);
      await expectRefusal("run_unknown", () => someone.rebuildRunFolder("run_gone"));
      const reader = await someone.readSession("kept");
      assert.equal(await reader.readArtifact(artifact_id), undefined);
      assert.equal((await reader.facts()).length, 2);
    }
    await expectRefusal("session_removed", () => store.removeSession("gone"));
    assert.deepEqual(await store.tombstones(), [tombstone]);
  }),
  storeCheck(
    "what is left of a removed session verifies against its tombstone",
    ["ART-4", "EVENT-6"],
    async (place) => {
      const store = await place.open();
      await (await filled(store, "gone", 4)).close();
      const removed = await store.removeSession("gone");
      assert.ok(!("reason" in removed));
      const { head_hash } = removed;
      assert.deepEqual(await store.verify("gone"), {
        ok: true,
        facts: 0,
        head_hash,
        removed,
      });
      assert.ok((await store.verify("gone", { head: head_hash })).ok);
    },
  ),
  storeCheck("a session someone holds is not removed", ["ART-4"], async (place) => {
    const store = await place.open();
    const other = await place.open();
    const session = await filled(store, "held", 2);
    for (const someone of [store, other]) {
      await expectRefusal("session_in_use", () => someone.removeSession("held"));
    }
    createFactWriter({ ...session, lastSeq: 2 }).add();
    await session.journal.flush();
    assert.equal((await session.reader.facts()).length, 3);
    assert.deepEqual(await store.tombstones(), []);
    await session.close();
    await other.removeSession("held");
    await expectRefusal("session_removed", () => store.openSession("held"));
  }),
  storeCheck(
    "a session is not removed while a worker on another machine is at one of its steps",
    ["ART-4", "TASK-4"],
    async (place) => {
      const store = await place.open();
      await (await filled(store, "driven", 1, 99)).close();
      const lease = (lease_expires_at: number) =>
        store.tasks().change({ task_id: "t" }, () => ({
          answer: undefined,
          task: taskOf("t", "driven"),
          steps: [stepOf("t", "one", { run_id: "run_of_worker", lease_expires_at })],
        }));
      await lease(Date.now() + DAY);
      if (store.cluster === undefined) {
        // Its workers were in the process that held it.
        await store.removeSession("driven");
        return;
      }
      await expectRefusal("session_in_use", () => store.removeSession("driven"));
      for (const retention of [{ max_age_days: 30 }, { max_bytes: 0 }]) {
        const report = await store.applyRetention(retention);
        assert.deepEqual([report.removed, report.held], [[], ["driven"]]);
      }
      assert.equal((await store.tasks().read({ task_id: "t" })).task?.task_id, "t");
      // The worker is gone, and its lease has ended.
      await lease(Date.now() - DAY);
      await store.removeSession("driven");
      assert.equal((await store.tasks().read({ task_id: "t" })).task, undefined);
    },
  ),
  storeCheck("tombstones are listed oldest first", ["ART-4"], async (place) => {
    const store = await place.open();
    for (const id of ["z", "a", "m"]) await (await filled(store, id, 1)).close();
    for (const id of ["m", "z", "a"]) {
      const { removed_at } = await store.removeSession(id);
      // The next one is of a later millisecond.
      while (Date.now() <= Date.parse(removed_at)) await nextTurn();
    }
    assert.deepEqual(
      (await store.tombstones()).map(({ session_id }) => session_id),
      ["m", "z", "a"],
    );
  }),
  storeCheck(
    "a reader of a removed session does not read the one made after it",
    ["ART-4"],
    async (place) => {
      const store = await place.open();
      const gone = await filled(store, "gone", 2);
      await gone.close();
      const reader = await (await place.open()).readSession("gone");
      await store.removeSession("gone");
      const next = await filled(store, "next", 3);
      await next.artifacts.write("of the next", artifactOf("next"));
      await next.journal.flush();
      for (const ask of ["record", "facts", "runs", "agents", "children", "artifacts"] as const) {
        const answer = await reader[ask]().catch((error: unknown) => error);
        const isNothing = Array.isArray(answer) && answer.length === 0;
        assert.ok(isNothing || answer instanceof StoreError, `${ask}: ${JSON.stringify(answer)}`);
      }
    },
  ),
  storeCheck(
    "an empty session and one a crash left open can be removed",
    ["ART-4", "STORE-3"],
    async (place) => {
      const first = await place.open();
      await (await first.createSession({ session_id: "empty" })).close();
      const open = await first.createSession({ session_id: "open" });
      const ids = { run_id: "run_1", agent_id: "agent_1", run_seq: 1 };
      createFactWriter(open).add({ ...ids, type: "run.started" });
      await open.journal.flush();
      await place.crash(first);
      const store = await place.open();
      for (const id of ["empty", "open"]) await store.removeSession(id);
      assert.deepEqual(await store.sessions(), []);
      assert.equal((await store.tombstones()).length, 2);
    },
  ),
  storeCheck(
    "sessions not used for longer than the age go, oldest first",
    ["ART-4"],
    async (place) => {
      const store = await place.open();
      const ages = { young: 1, older: 40, oldest: 90, old: 31, kept: 29 };
      for (const [id, days] of Object.entries(ages))
        await (await filled(store, id, 1, days)).close();
      const report = await store.applyRetention({ max_age_days: 30 });
      assert.deepEqual(
        report.removed.map(({ session_id }) => session_id),
        ["oldest", "older", "old"],
      );
      assert.deepEqual(report.held, []);
      assert.deepEqual(
        (await store.sessions()).map(({ session_id }) => session_id),
        ["young", "kept"],
      );
      assert.ok(report.bytes > 0);
      const again = await store.applyRetention({ max_age_days: 30 });
      assert.deepEqual(again, { removed: [], bytes: report.bytes, held: [] });
    },
  ),
  storeCheck(
    "what is in use stays, however old, and the report says so",
    ["ART-4"],
    async (place) => {
      const store = await place.open();
      const held = await filled(await place.open(), "held", 1, 99);
      const own = await filled(store, "own", 1, 98);
      await (await filled(store, "free", 1, 97)).close();
      const report = await store.applyRetention({ max_age_days: 30 });
      assert.deepEqual(
        report.removed.map(({ session_id }) => session_id),
        ["free"],
      );
      assert.deepEqual(new Set(report.held), new Set(["held", "own"]));
      assert.equal((await held.reader.facts()).length + (await own.reader.facts()).length, 2);
      const all = await store.applyRetention({ max_bytes: 0 });
      assert.deepEqual(all.removed, []);
      assert.deepEqual(new Set(all.held), new Set(["held", "own"]));
    },
  ),
  storeCheck("bytes are bytes, not characters", ["ART-4"], async (place) => {
    const store = await place.open();
    const session = await store.createSession();
    createFactWriter(session).add({ data: { text: "ä".repeat(100_000) } });
    await session.close();
    const { bytes } = await store.applyRetention({});
    assert.ok(bytes >= 200_000 && bytes < 210_000, `${bytes} bytes`);
  }),
  storeCheck("a bound that is no bound removes nothing", ["ART-4"], async (place) => {
    const store = await place.open();
    await (await filled(store, "kept", 1, 1000)).close();
    for (const bound of [Number.NaN, Number.POSITIVE_INFINITY, -1]) {
      for (const retention of [{ max_age_days: bound }, { max_bytes: bound }]) {
        const answer = await store.applyRetention(retention).catch((error: unknown) => error);
        if (answer instanceof Error) assert.ok(answer instanceof StoreError, String(answer));
        const left = (await store.sessions()).length;
        assert.equal(left, 1, `${Object.keys(retention).join("")} ${bound}`);
      }
    }
  }),
  storeCheck(
    "over the size the oldest go until the rest is within it",
    ["ART-4"],
    async (place) => {
      const store = await place.open();
      for (const [index, id] of ["c", "a", "d", "b"].entries()) {
        const session = await filled(store, id, 1, 40 - index);
        await session.artifacts.write(Buffer.alloc(100_000), artifactOf(id));
        await session.close();
      }
      const nothing = await store.applyRetention({});
      assert.deepEqual(nothing.removed, []);
      assert.ok(nothing.bytes >= 400_000, `${nothing.bytes} bytes`);
      const report = await store.applyRetention({ max_bytes: 250_000 });
      assert.deepEqual(
        report.removed.map(({ session_id }) => session_id),
        ["c", "a"],
      );
      assert.ok(report.bytes >= 200_000 && report.bytes <= 250_000, `${report.bytes} bytes`);
      const rest = await store.applyRetention({ max_bytes: 0 });
      assert.deepEqual(
        rest.removed.map(({ session_id }) => session_id),
        ["d", "b"],
      );
      assert.equal(rest.bytes, 0);
      assert.deepEqual(await store.sessions(), []);
    },
  ),
];

/** A session with facts so many days old, held. */
async function filled(
  store: Store,
  session_id: string,
  facts: number,
  days = 0,
): Promise<OpenSession> {
  const session = await store.createSession({ session_id });
  const writer = createFactWriter(session, new Date(Date.now() - days * DAY).toISOString());
  const ids = { run_id: `run_${session_id}`, agent_id: "agent_1" };
  for (let i = 0; i < facts; i += 1) {
    const type = i === 0 ? "run.completed" : "task.noted";
    writer.add({ ...ids, type, run_seq: i + 1 }, [writer.node({ node_id: `n${i}`, ...ids })]);
  }
  await session.journal.flush();
  return session;
}
