// What a call costs when every fact of it is on disk: kernel and store against bare inserts of the same
// texts in the same transactions, against the kernel on a journal in memory, and what the run folder adds.

import { join } from "node:path";
import { paired } from "../paired.mjs";
import { ALL_SHAPES, openBare, recordBatches, SHAPES, turnsOn, withHome } from "../store.mjs";

/**
 * @import { Batches, Shape } from "../store.mjs"
 * @import { Report, ReportRow } from "./index.mjs"
 */

/** @type {Report} */
export const storeCall = {
  id: "store-call",
  title:
    "Durable calls, per call: bare SQLite inserts of the same texts, synced where the store syncs, and the same in memory",
  rows: ALL_SHAPES.flatMap((shape) => [
    `bare SQLite, ${SHAPES[shape].title}`,
    `durable, ${SHAPES[shape].title}`,
  ]),
  report: ({ quick }) =>
    withHome(async (home) => {
      const rows = [];
      for (const shape of ALL_SHAPES) {
        rows.push(...(await measure(join(home, shape), shape, quick)));
      }
      return rows;
    }),
};

/** @param {string} home @param {Shape} shape @param {boolean} quick @returns {Promise<ReportRow[]>} */
async function measure(home, shape, quick) {
  const { createMemoryJournal } = await import("@soong/core");
  const { openStore } = await import("@soong/store");
  const { calls, title } = SHAPES[shape];
  const turns = quick ? 25 : 50;
  const options = /** @type {const} */ ({
    rounds: quick ? 8 : 25,
    unit: "µs",
    per: turns * calls,
    cpu: true,
  });

  const bare = await bareInserts(
    home,
    shape,
    await recordBatches(join(home, "recorded"), shape, turns),
  );
  const watch = stopwatch();
  const store = await openStore({
    directory: join(home, "durable"),
    at: (point) => watch.at(point),
  });
  const durable = await turnsOn(shape, await store.createSession());
  const inMemory = await turnsOn(shape, { journal: createMemoryJournal() });
  // The compiler needs some thousand calls of the whole path to be done with it.
  for (const { run } of [durable, inMemory]) await run(quick ? 1500 : 3000);

  const rows = await paired(
    [
      { name: `bare SQLite, ${title}`, run: () => bare.run() },
      { name: `in memory, ${title}`, run: () => inMemory.run(turns) },
      { name: `durable, ${title}`, run: () => durable.run(turns) },
    ],
    options,
  );
  const folder = watch.perCommit("folder");
  const transaction = watch.perCommit("commit");
  rows.push({
    name: `run folder, ${title}`,
    value: (folder * bare.transactions) / options.per,
    unit: "µs",
    note: `of each call; ${((100 * folder) / transaction).toFixed(0)} % of its transactions`,
  });
  bare.close();
  await store.close();
  return rows;
}

/** @param {string} home @param {Shape} shape @param {Batches} batches */
async function bareInserts(home, shape, batches) {
  const database = await openBare(join(home, "bare.db"));
  // As the store does: commits of calls that only read do not wait for the disk (STORE-6).
  if (shape === "read") database.exec("PRAGMA synchronous = NORMAL");
  database.exec("CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL)");
  const insert = database.prepare("INSERT INTO texts (text) VALUES (?)");
  return {
    transactions: batches.length,
    async run() {
      for (const batch of batches) {
        database.exec("BEGIN IMMEDIATE");
        for (const text of batch) insert.run(text);
        database.exec("COMMIT");
      }
    },
    close: () => database.close(),
  };
}

/** How long the parts of a commit take: the store says when each begins and ends. */
function stopwatch() {
  let begun = 0;
  let commits = 0;
  const spent = { commit: 0, folder: 0 };
  return {
    /** @param {import("@soong/store").CrashPoint} point */
    at(point) {
      const now = performance.now();
      if (point === "commit.before" || point === "folder.before") begun = now;
      if (point === "folder.after") spent.folder += now - begun;
      if (point !== "commit.after") return;
      spent.commit += now - begun;
      commits += 1;
    },
    /** In microseconds. @param {keyof typeof spent} part */
    perCommit: (part) => (1000 * spent[part]) / commits,
  };
}
