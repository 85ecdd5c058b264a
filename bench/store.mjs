// What the benchmarks of the store share: a home directory of their own, a run of the real kernel on a
// journal, and the bare SQLite to compare with.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * @import { Journal } from "@soong/core"
 * @import { OpenSession } from "@soong/store"
 *
 * @typedef {"write" | "read"} Shape  a turn of one write call, or of four readonly calls
 * @typedef {object} Turns
 * @property {(count: number) => Promise<void>} run  so many turns, one after the other
 * @property {() => Promise<void>} end
 *
 * @typedef {object} BareStatement
 * @property {(...values: (string | number)[]) => unknown} run
 * @property {(...values: (string | number)[]) => unknown[]} all
 * @typedef {object} BareDatabase
 * @property {(sql: string) => void} exec
 * @property {(sql: string) => BareStatement} prepare
 * @property {() => void} close
 *
 * @typedef {string[][]} Batches  the texts of each transaction
 */

/** @type {Record<Shape, { tool: string, calls: number, title: string }>} */
export const SHAPES = {
  write: { tool: "bench.write", calls: 1, title: "turns of one write call" },
  read: { tool: "bench.read", calls: 4, title: "turns of four readonly calls" },
};

export const ALL_SHAPES = /** @type {const} */ (["write", "read"]);

/**
 * @template T
 * @param {(home: string) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withHome(work) {
  const home = await mkdtemp(join(tmpdir(), "soong-bench-"));
  try {
    return await work(home);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/**
 * A run whose turns all have the same shape, on a journal in memory or on a session of a store.
 *
 * @param {Shape} shape
 * @param {{ journal: Journal } | Pick<OpenSession, "session_id" | "journal" | "artifacts">} where
 * @returns {Promise<Turns>}
 */
export async function turnsOn(shape, where) {
  // Only now: the run that measures builds our packages first.
  const { createKernel, defineTool, randomIds } = await import("@soong/core");
  const { tool, calls } = SHAPES[shape];
  const ids = randomIds();
  /** @type {string | undefined} */
  let lastNode;
  const kernel = createKernel({
    ids: {
      next(kind) {
        const id = ids.next(kind);
        if (kind === "node") lastNode = id;
        return id;
      },
    },
    tools: [
      defineTool({
        name: tool,
        description: "Answers at once, with a small result.",
        input_schema: {
          type: "object",
          properties: { path: { type: "string" }, limit: { type: "integer" } },
          required: ["path", "limit"],
          additionalProperties: false,
        },
        permission: shape === "write" ? "write" : "readonly",
        concurrency_safe: shape === "read",
        handler: async (/** @type {{ path: string, limit: number }} */ { path, limit }) => ({
          note: `looked into ${path} once`,
          count: limit + 1,
          more: false,
        }),
      }),
    ],
  });
  const session = await kernel.openSession({
    ...where,
    policy: { rules: [{ tool: "bench.*", decision: "allow" }] },
  });
  const run = await session.startRun();
  let turn = 0;
  return {
    async run(count) {
      for (let i = 0; i < count; i += 1) {
        turn += 1;
        // The conversation goes on where the turn before has ended.
        const open = run.openTurn(lastNode === undefined ? {} : { parentNodeId: lastNode });
        for (let index = 0; index < calls; index += 1) {
          open.push({
            id: `call_${turn}_${index}`,
            name: tool,
            arguments: JSON.stringify({ path: `src/file-${turn}.ts`, limit: index }),
          });
        }
        open.end();
        for (const { status, summary } of await open.settled()) {
          if (status !== "succeeded") throw new Error(`${tool}: ${status} ${summary}`);
        }
      }
    },
    async end() {
      run.end("completed");
      await session.close();
    },
  };
}

/**
 * The driver the store uses, on a file of one's own, with the same care for the disk.
 *
 * @param {string} path @returns {Promise<BareDatabase>}
 */
export async function openBare(path) {
  const isBuiltIn = Number.parseInt(process.versions.node, 10) >= 24;
  const name = isBuiltIn ? "node:sqlite" : "@photostructure/sqlite";
  const sqlite = /** @type {{ DatabaseSync: new (path: string) => BareDatabase }} */ (
    await import(name)
  );
  const database = new sqlite.DatabaseSync(path);
  database.exec(
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000",
  );
  return database;
}

/**
 * The texts of the facts and nodes that so many turns leave in a store, transaction by transaction: one text for each.
 *
 * @param {string} home @param {Shape} shape @param {number} turns
 * @returns {Promise<Batches>}
 */
export async function recordBatches(home, shape, turns) {
  const { openStore } = await import("@soong/store");
  /** @type {string[]} */
  let waiting = [];
  /** @type {Batches} */
  const batches = [];
  const store = await openStore({
    directory: home,
    at(point) {
      if (point !== "commit.written" || waiting.length === 0) return;
      batches.push(waiting);
      waiting = [];
    },
  });
  const opened = await store.createSession();
  /** @type {Journal} */
  const noting = {
    ...opened.journal,
    append(entry) {
      opened.journal.append(entry);
      for (const part of [...entry.facts, ...(entry.nodes ?? [])]) {
        waiting.push(JSON.stringify(part));
      }
    },
  };
  const { run } = await turnsOn(shape, { ...opened, journal: noting });
  await opened.journal.flush();
  batches.length = 0;
  await run(turns);
  await store.close();
  return batches;
}
