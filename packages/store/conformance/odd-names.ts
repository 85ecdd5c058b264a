// Names users and programs give to sessions: kept to the letter, or refused in words; never taken for another.

import assert from "node:assert/strict";
import { StoreError } from "@soong/store";
import { storeCheck, type ConformanceCheck } from "./check.ts";
import { expectRefusal } from "./expect.ts";
import { createFactWriter } from "./fact-writer.ts";

/** Some are no file name, some are no table's key, some are one to a careless file system. */
const ODD_IDS = [
  "a b",
  "ä😀",
  "x".repeat(200),
  "x".repeat(3000),
  "",
  ".",
  "..",
  "../outside",
  "/tmp/outside",
  "a/b",
  "a\\b",
  "nul\0inside",
  "line\nbreak",
  "CON",
  "case",
  "CASE",
  "\ud800",
  "\ufffd",
  "nul",
  "__proto__",
  "%2e%2e",
  "-rf",
];

export const oddNames: readonly ConformanceCheck[] = [
  storeCheck(
    "a title, a project and a reason are kept as they are, with any characters",
    ["STORE-2", "ART-4"],
    async (place) => {
      const store = await place.open();
      // A title is often cut from a message, and the cut may go through a character.
      const odd = ["", "a\0b", "cut \ud83d", "'; --", "line\nbreak", "ä😀", "x".repeat(100_000)];
      for (const [index, text] of odd.entries()) {
        const session_id = `s${index}`;
        const session = await store.createSession({ session_id, title: text, project: text });
        const { title, project } = await session.reader.record();
        assert.deepEqual([title, project], [text, text]);
        await session.describe({ title: `${text}!` });
        assert.equal((await session.reader.record()).title, `${text}!`);
        await session.close();
        await store.removeSession(session_id, text);
        const removed = (await store.tombstones()).find((one) => one.session_id === session_id);
        assert.equal(removed?.reason, text);
      }
    },
  ),
  storeCheck(
    "an odd session id is refused in words or works as any other",
    ["STORE-3"],
    async (place) => {
      const store = await place.open();
      const taken: string[] = [];
      for (const session_id of ODD_IDS) {
        try {
          const session = await store.createSession({ session_id });
          createFactWriter(session).add({ data: { session_id } });
          await session.close();
          taken.push(session_id);
        } catch (error) {
          assert.ok(
            error instanceof StoreError,
            `${JSON.stringify(session_id.slice(0, 20))}: ${String(error)}`,
          );
        }
      }
      const listed = await store.sessions();
      assert.deepEqual(new Set(listed.map(({ session_id }) => session_id)), new Set(taken));
      for (const session_id of ODD_IDS.filter((one) => !taken.includes(one))) {
        await expectRefusal("session_unknown", () => store.readSession(session_id));
      }
      for (const session_id of taken) {
        const session = await store.openSession(session_id);
        const [fact] = await session.reader.facts();
        assert.deepEqual(fact?.data, JSON.parse(JSON.stringify({ session_id })));
      }
      assert.ok(taken.includes("case") && taken.includes("CASE"), "plain names are taken");
    },
  ),
];
