// Sessions: made, listed, held by one writer at a time, and taken up again where they were (STORE-3).

import assert from "node:assert/strict";
import type { SessionPage, SessionRecord, StoreError } from "@soong/store";
import { storeCheck, type ConformanceCheck } from "./check.ts";
import { allFacts, expectFacts, expectRefusal } from "./expect.ts";
import { createFactWriter, WRITTEN_AT } from "./fact-writer.ts";

export const sessions: readonly ConformanceCheck[] = [
  storeCheck("a new session is empty, and has an id of its own", ["STORE-2"], async (place) => {
    const store = await place.open();
    const one = await store.createSession({ title: "One", project: "/project" });
    const two = await store.createSession();
    assert.notEqual(one.session_id, two.session_id);
    assert.equal(one.lastSeq, undefined);
    assert.deepEqual(one.recovered, { unknown: [], skipped: [], runs: [] });
    assert.equal(one.reader.session_id, one.session_id);
    assert.deepEqual(await allFacts(one.journal), []);
    for (const ask of ["facts", "agents", "runs", "calls", "children", "artifacts"] as const) {
      assert.deepEqual(await one.reader[ask](), [], ask);
    }
    const record = await one.reader.record();
    assert.equal(new Date(record.created_at).toISOString(), record.created_at);
    assert.match(record.head_hash, /^[0-9a-f]{64}$/);
    assert.deepEqual(record, {
      session_id: one.session_id,
      created_at: record.created_at,
      updated_at: record.created_at,
      title: "One",
      project: "/project",
      last_seq: 0,
      head_hash: record.head_hash,
    });
    const bare = await two.reader.record();
    assert.ok(!("title" in bare) && !("project" in bare));
  }),
  storeCheck("an id that is taken is not given to a second session", ["STORE-3"], async (place) => {
    const store = await place.open();
    const session = await store.createSession({ session_id: "mine", title: "first" });
    assert.equal(session.session_id, "mine");
    await expectRefusal("session_exists", () => store.createSession({ session_id: "mine" }));
    await session.close();
    await expectRefusal("session_exists", () => store.createSession({ session_id: "mine" }));
    const other = await place.open();
    await expectRefusal("session_exists", () => other.createSession({ session_id: "mine" }));
    assert.equal((await (await store.readSession("mine")).record()).title, "first");
    await (await store.openSession("mine")).close();
  }),
  storeCheck("a session that is not there cannot be opened", ["STORE-3"], async (place) => {
    const store = await place.open();
    for (const id of ["nowhere", "", "../x", "\0"]) {
      await expectRefusal("session_unknown", () => store.openSession(id));
      await expectRefusal("session_unknown", () => store.readSession(id));
      await expectRefusal("session_unknown", () => store.verify(id));
      await expectRefusal("session_unknown", () => store.removeSession(id));
    }
    assert.deepEqual(await store.sessions(), []);
    assert.deepEqual(await store.tombstones(), []);
  }),
  storeCheck(
    "a session in use is refused to everyone else, and free when it is closed",
    ["STORE-3"],
    async (place) => {
      const store = await place.open();
      const other = await place.open();
      const session = await store.createSession();
      const { session_id } = session;
      const first = createFactWriter(session).add();
      for (const someone of [store, other]) {
        await expectRefusal("session_in_use", () => someone.openSession(session_id));
      }
      // Who was refused has disturbed nothing.
      await session.journal.flush();
      expectFacts(await (await other.readSession(session_id)).facts(), [first]);
      await session.close();
      const taken = await other.openSession(session_id);
      await expectRefusal("session_in_use", () => store.openSession(session_id));
      const second = createFactWriter(taken).add();
      await other.close();
      const back = await store.openSession(session_id);
      expectFacts(await allFacts(back.journal), [first, second]);
    },
  ),
  storeCheck("of two that open a session at once one gets it", ["STORE-3"], async (place) => {
    const [one, two] = [await place.open(), await place.open()];
    await (await one.createSession({ session_id: "wanted" })).close();
    const both = await Promise.allSettled([
      one.openSession("wanted"),
      two.openSession("wanted"),
      one.openSession("wanted"),
    ]);
    const refused = both.flatMap((end) =>
      end.status === "rejected" ? [end.reason as StoreError] : [],
    );
    assert.deepEqual(
      refused.map(({ code }) => code),
      ["session_in_use", "session_in_use"],
    );
    const made = await Promise.allSettled([
      one.createSession({ session_id: "new" }),
      two.createSession({ session_id: "new" }),
    ]);
    assert.equal(made.filter(({ status }) => status === "fulfilled").length, 1);
  }),
  storeCheck(
    "a session that was closed continues with the next seq",
    ["STORE-3", "EVENT-1"],
    async (place) => {
      const store = await place.open();
      const session = await store.createSession();
      const pen = createFactWriter(session);
      const written = [pen.add(), pen.add(), pen.add()];
      await session.close();
      const again = await (await place.open()).openSession(session.session_id);
      assert.equal(again.lastSeq, 3);
      assert.deepEqual(again.recovered, { unknown: [], skipped: [], runs: [] });
      const late = createFactWriter(session);
      await expectRefusal("entry_refused", () => again.journal.append({ facts: [late.fact()] }));
      written.push(createFactWriter(again).add());
      await again.journal.flush();
      expectFacts(await again.reader.facts(), written);
      assert.equal((await again.reader.record()).last_seq, 4);
    },
  ),
  storeCheck(
    "a session that never had a fact is still new when it is opened again",
    ["STORE-3"],
    async (place) => {
      const store = await place.open();
      const session = await store.createSession();
      await session.close();
      const again = await store.openSession(session.session_id);
      assert.equal(again.lastSeq, undefined);
      createFactWriter(again).add();
      await again.journal.flush();
      assert.equal((await again.reader.record()).last_seq, 1);
    },
  ),
  storeCheck(
    "sessions are listed last used first, page by page, each once",
    ["STORE-2"],
    async (place) => {
      const store = await place.open();
      const days = [3, 1, 4, 1, 5, 9, 2, 6];
      for (const [index, day] of days.entries()) {
        const session = await store.createSession({ session_id: `s${index}`, title: `day ${day}` });
        createFactWriter(session, `2026-03-0${day}T00:00:00.000Z`).add();
        await session.close();
      }
      const all = await store.sessions();
      const keys = all.map(({ updated_at, session_id }) => `${updated_at} ${session_id}`);
      assert.equal(new Set(keys).size, days.length);
      assert.deepEqual(
        all.map(({ updated_at }) => updated_at.slice(8, 10)),
        ["09", "06", "05", "04", "03", "02", "01", "01"],
      );
      assert.deepEqual(await (await store.readSession("s5")).record(), all[0]);
      for (const limit of [1, 3, 8, 100]) {
        const seen: SessionRecord[] = [];
        for (let after: SessionRecord | undefined; ; after = seen.at(-1)) {
          const page = await store.sessions(after === undefined ? { limit } : { limit, after });
          assert.ok(page.length <= limit);
          if (page.length === 0) break;
          seen.push(...page);
        }
        assert.deepEqual(seen, all);
      }
      assert.deepEqual(await store.sessions({ limit: 0 }), []);
      for (const limit of [Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER]) {
        assert.deepEqual(await store.sessions({ limit }), all);
      }
    },
  ),
  storeCheck(
    "sessions are found by their project and by the beginning of their id, and so are runs",
    ["STORE-2"],
    async (place) => {
      const store = await place.open();
      const made = [
        ["ab1", "/one"],
        ["ab2", "/two"],
        ["b_%", "/one"],
        ["ac", '"quoted"'],
      ] as const;
      for (const [at, [session_id, project]] of made.entries()) {
        const session = await store.createSession({ session_id, project });
        const pen = createFactWriter(session, `2026-03-0${at + 1}T00:00:00.000Z`);
        pen.add({ type: "run.started", run_id: `run_${session_id}`, agent_id: "a", data: {} });
        if (session_id !== "ac") await session.close();
        else await session.journal.flush();
      }
      const list = async (page: SessionPage): Promise<string[]> =>
        (await store.sessions(page)).map(({ session_id }) => session_id);
      assert.deepEqual(await list({ project: "/one" }), ["b_%", "ab1"]);
      assert.deepEqual(await list({ project: '"quoted"' }), ["ac"]);
      assert.deepEqual(await list({ project: "/o" }), []);
      assert.deepEqual(await list({ idPrefix: "a" }), ["ac", "ab2", "ab1"]);
      assert.deepEqual(await list({ idPrefix: "a", project: "/two" }), ["ab2"]);
      assert.deepEqual(await list({ idPrefix: "%" }), []);
      const [first] = await store.sessions({ limit: 1 });
      assert.deepEqual(await list({ idPrefix: "a", after: first }), ["ab2", "ab1"]);
      assert.equal(await store.countSessions(), 4);
      assert.equal(await store.countSessions({ project: "/one" }), 2);
      const runs = await store.findRuns({ idPrefix: "run_ab" });
      assert.deepEqual(
        runs.map(({ run_id, session_id }) => [run_id, session_id]),
        [
          ["run_ab2", "ab2"],
          ["run_ab1", "ab1"],
        ],
      );
      assert.equal((await store.findRuns({ idPrefix: "run_", limit: 3 })).length, 3);
      assert.deepEqual(await store.findRuns({ idPrefix: "run_x" }), []);
      assert.deepEqual(await store.heldSessions(["ab1", "ac", "nowhere"]), ["ac"]);
    },
  ),
  storeCheck(
    "a record tells when the last fact was recorded, also to others",
    ["STORE-2"],
    async (place) => {
      const session = await (await place.open()).createSession();
      createFactWriter(session).add();
      await session.journal.flush();
      const reader = await (await place.open()).readSession(session.session_id);
      assert.equal((await reader.record()).updated_at, WRITTEN_AT);
    },
  ),
  storeCheck(
    "title and project may change, one without the other, and no fact does",
    ["STORE-2"],
    async (place) => {
      const session = await (await place.open()).createSession({ title: "old", project: "/old" });
      createFactWriter(session).add();
      await session.journal.flush();
      const before = await session.reader.record();
      await session.describe({ title: "new" });
      const other = await place.open();
      const reader = await other.readSession(session.session_id);
      assert.deepEqual(await reader.record(), { ...before, title: "new" });
      await session.describe({ project: "/new" });
      assert.deepEqual(await reader.record(), { ...before, title: "new", project: "/new" });
      await session.describe({});
      assert.deepEqual(await reader.record(), { ...before, title: "new", project: "/new" });
      assert.ok((await other.verify(session.session_id)).ok);
    },
  ),
];
