// A store on PostgreSQL against bare statements that move the same bytes with the same care for the disk; opening a session
// against SQLite.

import { join } from "node:path";
import { paired } from "../paired.mjs";
import { askNumber, withPostgres } from "../store-pg.mjs";
import { turnsOn } from "../store.mjs";

/**
 * @import { Fact } from "@soong/core"
 * @import { OpenSession, Store } from "@soong/store"
 * @import { Client } from "pg"
 * @import { Database } from "../store-pg.mjs"
 * @import { Report, ReportRow } from "./index.mjs"
 */

const SESSIONS = 8;
/** As many as the store has. */
const CONNECTIONS = 3;
const FACTS = 10_000;
const PAGE = 1_000;
/** Entries of a round that several connections or sessions share. */
const SHARED = CONNECTIONS * SESSIONS * 5;
const session_id = "read";

const SYNCED = "append and flush, synced";
const BARE_SYNCED = "bare INSERT, synced";
const SYNCED_IN_SESSIONS = `append and flush, synced, in ${SESSIONS} sessions`;
const BARE_ON_CONNECTIONS = `bare INSERT, synced, on ${CONNECTIONS} connections`;

/** @type {Report} */
export const storePg = {
  id: "store-pg",
  title: "A store on PostgreSQL: entries of one fact, and 10 000 facts read and opened",
  rows: [BARE_SYNCED, SYNCED, BARE_ON_CONNECTIONS, SYNCED_IN_SESSIONS],
  report: ({ quick }) =>
    withPostgres(async (database) => {
      const store = await database.open();
      return [
        ...(await appends(database, store, quick)),
        ...(await commitsOfCalls(database, store)),
        ...(await reads(database, store, quick)),
        ...(await openings(database, store, quick)),
      ];
    }),
};

/** @param {Database} database @param {Store} store @param {boolean} quick */
async function appends({ connect }, store, quick) {
  const per = 50;
  const options = /** @type {const} */ ({ rounds: quick ? 5 : 20, unit: "µs", per });
  const one = await appender(await store.createSession());
  const synced = await bareInserts(await connect());
  const unsynced = await bareInserts(await connect(), "off");
  const several = [];
  const clients = [];
  for (let i = 0; i < SESSIONS; i += 1) several.push(await appender(await store.createSession()));
  for (let i = 0; i < CONNECTIONS; i += 1) clients.push(await bareInserts(await connect()));
  /** @param {{ add: (count: number) => Promise<void> }[]} adders */
  const together = (adders) => () =>
    Promise.all(adders.map((adder) => adder.add(SHARED / adders.length)));
  return [
    ...(await paired(
      [
        { name: BARE_SYNCED, run: () => synced.add(per) },
        { name: SYNCED, run: () => one.add(per, "permission.resolved") },
      ],
      options,
    )),
    ...(await paired(
      [
        { name: "bare INSERT, synchronous_commit = off", run: () => unsynced.add(per) },
        {
          name: "append and flush, what a call that reads leaves",
          run: () => one.add(per, "tool.progress"),
        },
      ],
      options,
    )),
    ...(await paired(
      [
        { name: BARE_ON_CONNECTIONS, run: together(clients) },
        { name: SYNCED_IN_SESSIONS, run: together(several) },
      ],
      { ...options, per: SHARED },
    )),
  ];
}

/** One entry of one fact after the other, each committed before the next. @param {OpenSession} session */
async function appender({ session_id: id, journal }) {
  let seq = 0;
  /** @param {Fact["type"]} type */
  const append = (type) => {
    seq += 1;
    journal.append({ facts: [factOf(id, type, seq)] });
    return journal.flush();
  };
  await append("run.started");
  return {
    /** @param {number} count @param {Fact["type"]} [type] */
    async add(count, type = "permission.resolved") {
      for (let i = 0; i < count; i += 1) await append(type);
    },
  };
}

/** @param {string} id @param {Fact["type"]} type @param {number} seq @returns {Fact} */
function factOf(id, type, seq) {
  // Of the size of real facts; the store does not read their data.
  return /** @type {Fact} */ ({
    id: `f${seq}`,
    seq,
    run_seq: seq,
    type,
    time: new Date(1_700_000_000_000 + seq).toISOString(),
    level: "info",
    session_id: id,
    run_id: `run_of_${id}`,
    agent_id: "agent_1",
    data: { index: seq, path: `src/file-${seq}.ts`, text: "x".repeat(200) },
  });
}

/** Of the same texts, one a commit, prepared as the store's statements are. @param {Client} client */
async function bareInserts(client, synchronousCommit = "on") {
  await client.query(`SET synchronous_commit = ${synchronousCommit}`);
  await client.query("CREATE TABLE IF NOT EXISTS entries (seq bigserial PRIMARY KEY, text text)");
  const text = "INSERT INTO entries (text) VALUES ($1)";
  let seq = 0;
  return {
    /** @param {number} count */
    async add(count) {
      for (let i = 0; i < count; i += 1) {
        seq += 1;
        const fact = factOf("session_of_a_bare_insert", "permission.resolved", seq);
        await client.query({ name: "insert", text, values: [JSON.stringify(fact)] });
      }
    },
  };
}

/**
 * A transaction that writes takes a number: they are counted by it.
 *
 * @param {Database} database @param {Store} store @returns {Promise<ReportRow[]>}
 */
async function commitsOfCalls({ connect }, store) {
  const client = await connect();
  const transactions = () => askNumber(client, "SELECT txid_current()");
  const session = await store.createSession();
  const turns = await turnsOn("write", session);
  await turns.run(20);
  await session.journal.flush();
  const before = await transactions();
  await turns.run(100);
  await session.journal.flush();
  const commits = (await transactions()) - before - 1;
  await turns.end();
  return [{ name: "transactions of a call that writes", value: commits / 100, unit: "a call" }];
}

/** @param {Database} database @param {Store} store @param {boolean} quick */
async function reads({ connect }, store, quick) {
  const client = await connect();
  await fill(store);
  const reader = await store.readSession(session_id);
  await client.query("CREATE TABLE texts (seq bigint PRIMARY KEY, text text NOT NULL)");
  for (let after = 0; after < FACTS; after += PAGE) {
    const facts = await reader.facts({ after, limit: PAGE });
    await client.query("INSERT INTO texts SELECT * FROM unnest($1::bigint[], $2::text[])", [
      facts.map(({ seq }) => seq),
      facts.map((fact) => JSON.stringify(fact)),
    ]);
  }
  const text = "SELECT text FROM texts WHERE seq > $1 ORDER BY seq LIMIT $2";
  return paired(
    [
      {
        name: "bare SELECT of 10 000 texts, parsed, in pages of 1 000",
        async run() {
          for (let after = 0; after < FACTS; after += PAGE) {
            /** @type {import("pg").QueryResult<{ text: string }>} */
            const { rows } = await client.query({ name: "page", text, values: [after, PAGE] });
            countOf(rows.map((row) => /** @type {unknown} */ (JSON.parse(row.text))));
          }
        },
      },
      {
        name: "10 000 facts, in pages of 1 000",
        async run() {
          for (let after = 0; after < FACTS; after += PAGE) {
            countOf(await reader.facts({ after, limit: PAGE }));
          }
        },
      },
    ],
    { rounds: quick ? 5 : 15, unit: "ms" },
  );
}

/** @param {readonly unknown[]} page */
function countOf({ length }) {
  if (length !== PAGE) throw new Error(`${length} facts on a page of ${PAGE}`);
}

/** Calls that read, by the real kernel, until there are enough facts. @param {Store} store */
async function fill(store) {
  const session = await store.createSession({ session_id });
  const turns = await turnsOn("read", session);
  do {
    await turns.run(20);
    await session.journal.flush();
  } while ((await session.reader.record()).last_seq < FACTS);
  await turns.end();
  await session.close();
}

/** @param {Database} database @param {Store} store @param {boolean} quick */
async function openings({ home }, store, quick) {
  const { openStore } = await import("@soong/store");
  const sqlite = await openStore({ directory: join(home, "sqlite") });
  await fill(sqlite);
  /** @param {Store} from */
  const open = (from) => async () => (await from.openSession(session_id)).close();
  const rows = await paired(
    [
      { name: "SQLite: opening and closing a session of 10 000 facts", run: open(sqlite) },
      { name: "PostgreSQL: the same", run: open(store) },
    ],
    { rounds: quick ? 5 : 20, unit: "ms" },
  );
  await sqlite.close();
  return rows;
}
