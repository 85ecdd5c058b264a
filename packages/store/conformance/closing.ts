// Letting go: what is open is committed, a second close is nothing, and use after it is refused in words.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { artifactOf } from "./artifact-checks.ts";
import { storeCheck, type ConformanceCheck } from "./check.ts";
import { expectFacts, expectRefusal } from "./expect.ts";
import { createFactWriter } from "./fact-writer.ts";

export const closing: readonly ConformanceCheck[] = [
  storeCheck("closing a session commits what was appended", ["STORE-3"], async (place) => {
    const store = await place.open();
    const session = await store.createSession();
    const written = [createFactWriter(session).add()];
    await session.close();
    await session.close();
    expectFacts(await (await store.readSession(session.session_id)).facts(), written);
  }),
  storeCheck(
    "closing a store commits and frees every session it holds",
    ["STORE-3"],
    async (place) => {
      const store = await place.open();
      const sessions = [await store.createSession(), await store.createSession()];
      const written = sessions.map((session) => createFactWriter(session).add());
      await Promise.all([store.close(), store.close()]);
      await store.close();
      const other = await place.open();
      for (const [index, { session_id }] of sessions.entries()) {
        const again = await other.openSession(session_id);
        expectFacts(await again.reader.facts(), written.slice(index, index + 1));
      }
      for (const session of sessions) await session.close();
    },
  ),
  storeCheck(
    "a closed session takes nothing more, and its store continues",
    ["STORE-3"],
    async (place) => {
      const store = await place.open();
      const session = await store.createSession();
      const writer = createFactWriter(session);
      writer.add({}, [writer.node({ node_id: "n1" })]);
      const sink = session.artifacts.open(artifactOf(session.session_id));
      await sink.write("half");
      await session.close();
      await expectRefusal("session_closed", () =>
        session.journal.append({ facts: [writer.fact()] }),
      );
      await expectRefusal("session_closed", () => session.rewind(writer.recorder, "n1"));
      await expectRefusal("session_closed", () => session.describe({ title: "late" }));
      await expectRefusal("session_closed", () =>
        session.artifacts.write("late", artifactOf(session.session_id)),
      );
      await assert.rejects(async () => {
        await sink.write("late");
        await sink.close();
      });
      const again = await store.openSession(session.session_id);
      // The one who let go does not come back through the one who took over.
      await expectRefusal("session_closed", () =>
        session.journal.append({ facts: [writer.fact()] }),
      );
      assert.equal((await again.reader.record()).last_seq, 1);
      assert.deepEqual(await again.reader.artifacts(), []);
    },
  ),
  storeCheck("a closed store says so to every request", ["STORE-3"], async (place) => {
    const store = await place.open();
    const session = await store.createSession();
    const reader = await store.readSession(session.session_id);
    const writer = createFactWriter(session);
    await store.close();
    const asked: (() => unknown)[] = [
      () => store.createSession(),
      () => store.openSession(session.session_id),
      () => store.readSession(session.session_id),
      () => store.sessions(),
      () => store.findRun("run_1"),
      () => store.verify(session.session_id),
      () => store.removeSession(session.session_id),
      () => store.tombstones(),
      () => store.applyRetention({ max_bytes: 0 }),
      () => store.rebuildRunFolder("run_1"),
      () => reader.record(),
      () => reader.facts(),
      () => reader.node("n1"),
    ];
    for (const ask of asked) await expectRefusal("store_closed", ask);
    await expectRefusal(["store_closed", "session_closed"], () =>
      session.journal.append({ facts: [writer.fact()] }),
    );
  }),
  storeCheck("a reader outlives the session's holder", ["STORE-3"], async (place) => {
    const session = await (await place.open()).createSession();
    const written = [createFactWriter(session).add()];
    const { reader } = session;
    await session.close();
    expectFacts(await reader.facts(), written);
  }),
  storeCheck("the folder of a run is written again from its facts", ["EVENT-5"], async (place) => {
    const store = await place.open();
    const session = await store.createSession();
    const writer = createFactWriter(session);
    const ids = { run_id: "run_1", agent_id: "agent_1" };
    for (const [index, type] of (
      ["run.started", "task.noted", "run.completed"] as const
    ).entries()) {
      writer.add({ ...ids, type, run_seq: index + 1 });
      writer.add();
    }
    await session.journal.flush();
    const folder = await store.rebuildRunFolder("run_1");
    const lines = (await readFile(join(folder, "events.jsonl"), "utf8")).trimEnd().split("\n");
    const seqs = lines.map((line) => (JSON.parse(line) as { seq: number }).seq);
    assert.deepEqual(seqs, [1, 3, 5]);
    await expectRefusal("run_unknown", () => store.rebuildRunFolder("nowhere"));
  }),
];
