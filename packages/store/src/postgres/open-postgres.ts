// Opens the parts of a store on PostgreSQL: one database for the sessions of all machines that have its URL. Run folders stay on
// the machine that executes the run.

import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { raw, sql } from "../sql/sql.ts";
import type { StoreParts, StoreSetting } from "../store/create-store.ts";
import { storeTables } from "../store/store-tables.ts";
import { createCluster } from "./cluster.ts";
import { openConnections, type Connections } from "./connection.ts";
import { readAddress } from "./store-address.ts";
import { createDatabaseBytes, uploadFolder } from "./database-bytes.ts";
import { loadTables } from "./loaded-tables.ts";
import { migratePostgres, refuseUnreadable } from "./migrate.ts";
import { createPostgresCommitter } from "./postgres-committer.ts";
import { createRetry, type AwayListener } from "./retry-while-away.ts";
import { createPostgresRunner } from "./run-steps.ts";
import { createFindLeased, createSessionLeases, type SessionLeases } from "./session-leases.ts";

/** A subquery, so that a statement reads the clock once and can use an index. */
const CLOCK = raw("(SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT))");

const DEFAULT_LEASE_MS = 60_000;
const ANSWER_TIMEOUT_MS = 30_000;
/** A URL may be wrong, and the user waits. */
const OPEN_TIMEOUT_MS = 10_000;

export async function openPostgresParts(url: string, setting: StoreSetting): Promise<StoreParts> {
  const { directory: home, readOnly, busyTimeoutMs, clock } = setting;
  const { leaseMs = DEFAULT_LEASE_MS } = setting;
  const address = readAddress(url);
  // Leaves time for a second attempt before a lease ends.
  const answerTimeoutMs = Math.ceil(Math.min(ANSWER_TIMEOUT_MS, leaseMs / 3));
  const connections = await openConnections(address, { readOnly, answerTimeoutMs });
  const reportTo = (boundMs: number): AwayListener => ({
    onAway: () => setting.onAway?.(boundMs),
    onBack: () => setting.onBack?.(),
  });
  let leases: SessionLeases | undefined;
  const committer = createPostgresCommitter({
    connections,
    leases: () => leases as SessionLeases,
    // If the session is lost meanwhile, its lease reports that.
    retry: createRetry(busyTimeoutMs),
    onCommitted: (session_id) => cluster.wake(`facts/${session_id}`),
  });
  // There is no use in waiting after a lease has ended.
  const waitMs = Math.min(busyTimeoutMs, leaseMs);
  const runner = createPostgresRunner({
    connections,
    retry: createRetry(waitMs, reportTo(waitMs)),
    beforeWriting: async () => committer.flush(),
  });
  try {
    const openWithinMs = Math.min(busyTimeoutMs, OPEN_TIMEOUT_MS);
    await createRetry(
      openWithinMs,
      reportTo(openWithinMs),
    )(() =>
      readOnly
        ? refuseUnreadable(connections, address.schema)
        : migratePostgres(connections, address.schema),
    );
  } catch (error) {
    await connections.close();
    throw error;
  }
  const tables = storeTables(runner, createDatabaseBytes(runner, home));
  const cluster = createCluster({
    connections,
    runner,
    schema: address.schema,
    held: () => leases?.held() ?? [],
  });
  const reading = {
    database: runner,
    cluster,
    tables,
    databaseClock: CLOCK,
    heldSessions: createFindLeased(runner),
    async close() {
      leases?.stop();
      await cluster.close();
      await connections.close();
    },
  };
  if (readOnly) return reading;
  mkdirSync(home, { recursive: true, mode: 0o700 });
  leases = createSessionLeases({
    connections,
    runner,
    tables,
    clock,
    leaseMs,
    onHeld: () => cluster.wake("sessions"),
  });
  return {
    ...reading,
    writing: {
      identity: await readIdentity(connections, address.schema),
      writer: runner,
      committer,
      holds: leases,
      files: {
        *removeRows(session_no) {
          yield* sql`DELETE FROM artifact_parts WHERE session_no = ${session_no}`;
          yield* sql`DELETE FROM commands WHERE session_no = ${session_no}`;
        },
        removeArtifacts: (session_id) =>
          rm(uploadFolder(home, session_id), { recursive: true, force: true }),
        forget: async () => {},
      },
      findTables: (row) => runner.run(loadTables(row)),
    },
  };
}

/** Derived from the time at which the tables were created, not from the address: a copy of the database is the same store. */
async function readIdentity(connections: Connections, schema: string): Promise<string> {
  const { rows } = await connections.query({
    text: "SELECT CAST(extract(epoch FROM min(made_at)) AS text) AS made_at FROM soong_store",
  });
  const { made_at } = rows[0] as { made_at: string };
  return createHash("sha256").update(`${schema}\n${made_at}`).digest("hex").slice(0, 16);
}
