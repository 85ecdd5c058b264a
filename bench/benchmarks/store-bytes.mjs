// What a call takes on disk: the database by table once the log is folded in, and the run folder.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { ALL_SHAPES, openBare, SHAPES, turnsOn, withHome } from "../store.mjs";

/**
 * @import { Shape } from "../store.mjs"
 * @import { Report, ReportRow } from "./index.mjs"
 */

/** @type {Report} */
export const storeBytes = {
  id: "store-bytes",
  title: "Bytes on disk per call",
  report: ({ quick }) =>
    withHome(async (home) => {
      const rows = [];
      for (const shape of ALL_SHAPES) {
        rows.push(...(await measure(join(home, shape), shape, quick ? 300 : 2000)));
      }
      return rows;
    }),
};

/** @param {string} home @param {Shape} shape @param {number} turns @returns {Promise<ReportRow[]>} */
async function measure(home, shape, turns) {
  const { openStore } = await import("@soong/store");
  const { calls, title } = SHAPES[shape];
  const store = await openStore({ directory: home });
  const durable = await turnsOn(shape, await store.createSession());
  await durable.run(turns);
  await durable.end();
  await store.close();

  const path = join(home, "store", "soong.db");
  const database = await openBare(path);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  /** @param {string} sql */
  const sum = (sql) => {
    const [row] = /** @type {{ bytes: number }[]} */ (database.prepare(sql).all());
    return (row?.bytes ?? 0) / (turns * calls);
  };
  const texts = {
    facts: sum("SELECT sum(length(CAST(line AS BLOB))) AS bytes FROM facts"),
    nodes: sum("SELECT sum(length(CAST(text AS BLOB))) AS bytes FROM nodes"),
  };
  /** @param {string} where */
  const pages = (where) => sum(`SELECT sum(pgsize) AS bytes FROM dbstat WHERE ${where}`);
  const facts = pages("name = 'facts'");
  const nodes = pages("name = 'nodes'");
  const indices = pages("name IN (SELECT name FROM sqlite_schema WHERE type = 'index')");
  database.close();
  const whole = statSync(path).size / (turns * calls);
  const others = whole - facts - nodes - indices;
  /** @param {string} name @param {number} value @param {string} note */
  const row = (name, value, note) => ({ name: `${name}, ${title}`, value, unit: "bytes", note });
  return [
    row(
      "database",
      whole,
      `${(whole / (texts.facts + texts.nodes)).toFixed(2)} × the texts; indices ${indices.toFixed(0)}, other tables ${others.toFixed(0)}`,
    ),
    row("facts", facts, `texts ${texts.facts.toFixed(0)}`),
    row("conversation", nodes, `texts ${texts.nodes.toFixed(0)}`),
    row("run folder", bytesBelow(join(home, "runs")) / (turns * calls), "can be made again"),
  ];
}

/** @param {string} folder */
function bytesBelow(folder) {
  let bytes = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).size;
  }
  return bytes;
}
