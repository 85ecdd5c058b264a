// Text in the conversations of all sessions, by pages; and what a list of sessions is made of (RESULT-5, EVENT-1).

import assert from "node:assert/strict";
import type { Store } from "@soong/store";
import { storeCheck, type ConformanceCheck } from "./check.ts";
import { createFactWriter } from "./fact-writer.ts";
import { kernelOn } from "./kernel-run.ts";

export const search: readonly ConformanceCheck[] = [
  storeCheck(
    "text of all sessions is found newest first, A to Z in either case, and only as it was said",
    ["RESULT-5"],
    async (place) => {
      const store = await place.open();
      await say(store, "one", ["The Gold is hidden", 'say "Ä\\b"', "nothing here"]);
      await say(store, "two", ["no GOLD\nin this", "message"]);
      assert.deepEqual(await find(store, "gold"), ["no GOLD\nin this", "The Gold is hidden"]);
      assert.deepEqual(await find(store, "GOLD\nIN"), ["no GOLD\nin this"]);
      assert.deepEqual(await find(store, '"Ä\\B"'), ['say "Ä\\b"']);
      // Names of fields and ids are no text that someone said.
      for (const text of ["node_id", "run_1", "%", "_", "user_said"]) {
        assert.deepEqual(await find(store, text), [], text);
      }
      assert.deepEqual(await find(store, "\0"), []);
      const [hit] = (await store.searchNodes("hidden")).found;
      assert.equal(hit?.session_id, "one");
      assert.equal(hit.node.node_id, "one_0");
      assert.equal(hit.time, "2026-01-02T03:04:05.678Z");
    },
  ),
  storeCheck(
    "a result is found by the view made for it: its tool, its summary and its text",
    ["RESULT-5"],
    async (place) => {
      const store = await place.open();
      const opened = await store.createSession();
      const { session, startRun } = await kernelOn(opened);
      const run = await startRun();
      const [result] = await run.execute([{ id: "c0", name: "demo.read", arguments: {} }]);
      run.end("completed");
      await session.close();
      for (const text of ["DEMO.read", result?.summary ?? "?"]) {
        const [hit] = (await store.searchNodes(text)).found;
        assert.equal(hit?.tool_name, "demo.read", text);
        assert.equal(hit.node.tool_call_id, "c0");
      }
      // What is only in the record of the call is not what it said.
      assert.deepEqual(await find(store, "duration_ms"), []);
    },
  ),
  storeCheck(
    "a page of a search looks at no more nodes than it may, and says where to continue",
    ["RESULT-5"],
    async (place) => {
      const store = await place.open();
      const said = Array.from({ length: 25 }, (_, i) => (i % 10 === 0 ? `rare ${i}` : `say ${i}`));
      await say(store, "many", said);
      const pages: string[][] = [];
      let before: number | undefined;
      do {
        const page = await store.searchNodes("rare", { most: 4, before });
        assert.equal(page.searched_to, "2026-01-02T03:04:05.678Z");
        pages.push(page.found.map(({ text }) => text));
        before = page.next;
      } while (before !== undefined);
      assert.deepEqual(pages, [[], ["rare 20"], [], ["rare 10"], [], [], ["rare 0"]]);
      const first = await store.searchNodes("say", { limit: 2 });
      assert.deepEqual(
        first.found.map(({ text }) => text),
        ["say 24", "say 23"],
      );
      const second = await store.searchNodes("say", { limit: 2, before: first.next });
      assert.deepEqual(
        second.found.map(({ text }) => text),
        ["say 22", "say 21"],
      );
      assert.deepEqual(await store.searchNodes("say", { before: 0 }), { found: [] });
    },
  ),
  storeCheck(
    "a list of sessions has their runs, calls, projects and newest facts at once",
    ["EVENT-1"],
    async (place) => {
      const store = await place.open();
      for (const session_id of ["a", "b"]) {
        const opened = await store.createSession({ session_id, project: `/${session_id}` });
        const { session, startRun } = await kernelOn(opened);
        const run = await startRun();
        const names = ["demo.read", "demo.read", "demo.fail"];
        await run.execute(names.map((name, i) => ({ id: `c${i}`, name, arguments: {} })));
        run.end("completed");
        await startRun();
        await opened.journal.flush();
        if (session_id === "a") await session.close();
      }
      await (await store.createSession({ session_id: "c" })).close();
      const ids = ["b", "a", "c", "nowhere"];
      assert.deepEqual(await store.countCalls(ids), [
        { session_id: "a", tool_name: "demo.fail", status: "failed", count: 1 },
        { session_id: "a", tool_name: "demo.read", status: "succeeded", count: 2 },
        { session_id: "b", tool_name: "demo.fail", status: "failed", count: 1 },
        { session_id: "b", tool_name: "demo.read", status: "succeeded", count: 2 },
      ]);
      const runs = await store.runs(ids);
      const own = await Promise.all(
        ["a", "b"].map(async (id) => (await store.readSession(id)).runs()),
      );
      assert.deepEqual(runs, own.flat());
      const newest = await store.newestFacts(ids, "run.started");
      assert.deepEqual(
        newest.map(({ session_id, run_id }) => [session_id, run_id]),
        [
          ["a", runs[1]?.run_id],
          ["b", runs[3]?.run_id],
        ],
      );
      assert.deepEqual(await store.newestFacts(ids, "tool.late"), []);
      assert.deepEqual(
        new Set((await store.projects()).map((one) => JSON.stringify(one))),
        new Set([
          '{"project":"/a","sessions":1}',
          '{"project":"/b","sessions":1}',
          '{"sessions":1}',
        ]),
      );
      assert.deepEqual([await store.countCalls([]), await store.runs([])], [[], []]);
    },
  ),
];

async function say(store: Store, session_id: string, texts: readonly string[]): Promise<void> {
  const session = await store.createSession({ session_id });
  const writer = createFactWriter(session);
  for (const [i, text] of texts.entries()) {
    writer.add({ type: "user_said" }, [writer.node({ node_id: `${session_id}_${i}` }, text)]);
  }
  await session.close();
}

async function find(store: Store, text: string): Promise<string[]> {
  return (await store.searchNodes(text)).found.map((hit) => hit.text);
}
