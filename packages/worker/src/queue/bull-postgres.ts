// BullMQ's queues on PostgreSQL: tables in the schema "bullmq" of the same database, NOTIFY to wake a worker.

import { preparePoolEnd } from "@soong/platform";
import type { Pool } from "pg";
import {
  POLL_SECONDS,
  type BackendOptions,
  type Bull,
  type BullBackends,
  type ConnectedBackend,
} from "./bull-backends.ts";
import { loadPackage } from "./load-package.ts";
import { QueueError, type QueueAddress } from "./queue-error.ts";

/** One listens, one is for commands. A third made a worker no faster, and would be opened and closed with each poll. */
const CONNECTIONS_OF_TAKER = 2;
const CONNECTIONS_TO_ADD = 2;
const CONNECT_MS = 5000;
/** If the network drops everything, a command fails after this time instead of never. */
const QUERY_MS = 10_000;
const IDLE_MS = 2000;

/** SQLSTATE of an undefined table, function, schema and object. */
const MISSING = new Set(["42P01", "42883", "3F000", "42704"]);

export async function openPostgresBackends(
  address: QueueAddress,
  bull: Bull,
  report: (error: unknown) => void,
): Promise<BullBackends> {
  const { Pool } = await loadPackage("pg", "8", () => import("pg"));
  const { pool: adding, end: endAdding } = openPool(CONNECTIONS_TO_ADD);
  let repairing: Promise<void> | undefined;
  try {
    await migrate(adding, bull);
  } catch (error) {
    await endAdding();
    throw error;
  }
  return {
    connect: (name, options, { takes }) =>
      takes ? connectTaker(name, options) : connectAdder(name, options),
    async repair(failure) {
      if (!isMissing(failure)) return false;
      repairing ??= migrate(adding, bull).finally(() => {
        repairing = undefined;
      });
      await repairing;
      return true;
    },
    close: endAdding,
  };

  async function connectAdder(name: string, options: BackendOptions): Promise<ConnectedBackend> {
    const backend = bull.createPostgresBackend(name, { ...options, connection: adding });
    backend.on("error", report);
    await backend.waitUntilReady();
    return { backend, connection: adding, close: async () => {} };
  }

  async function connectTaker(name: string, options: BackendOptions): Promise<ConnectedBackend> {
    const { pool: connection, end } = openPool(CONNECTIONS_OF_TAKER);
    const use = { withBlockingConnection: true };
    const backend = bull.createPostgresBackend(name, { ...options, connection }, use);
    backend.on("error", report);
    try {
      // Wait before BullMQ uses the backend: BullMQ would keep a failure forever.
      await backend.waitUntilReady();
    } catch (error) {
      await end();
      throw error;
    }
    // After an error BullMQ would wait an hour for a notification that may have been lost.
    Object.defineProperty(backend, "maximumBlockTimeout", { value: POLL_SECONDS });
    return { backend, connection, close: end };
  }

  function openPool(max: number): { readonly pool: Pool; readonly end: () => Promise<void> } {
    const pool = new Pool({
      connectionString: address.url.href,
      // A statement, because a pooler ignores or refuses unknown startup parameters. The pool waits for it.
      // oxlint-disable-next-line typescript/no-misused-promises
      onConnect: (client) => client.query("SET search_path TO bullmq"),
      max,
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: QUERY_MS,
      idleTimeoutMillis: IDLE_MS,
      application_name: "soong-queue",
    });
    // Each queue listens to the errors of its pool.
    pool.setMaxListeners(0);
    pool.on("error", (error) => report(error));
    // The pool handles errors of idle clients only: an error of a client in use would end the process.
    pool.on("connect", (client) => client.on("error", (error) => report(error)));
    return { pool, end: preparePoolEnd(pool) };
  }
}

async function migrate(pool: Pool, bull: Bull): Promise<void> {
  const client = await pool.connect();
  try {
    await bull.runMigrations(client);
    client.release();
  } catch (error) {
    // The connection may be in a transaction, so it is closed.
    client.release(true);
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: unknown };
  return MISSING.has(String(code)) || name === "SchemaMigrationRequiredError";
}

/** Tables can be missing after a repair: BullMQ skips a migration that its own list has as applied. */
export function refuseIncompleteTables(error: unknown): void {
  if (!isMissing(error)) return;
  throw new QueueError(
    "queue_failed",
    "Some tables of the job queue are missing. Run `drop schema bullmq cascade`: they are created again, and waiting jobs are added again.",
  );
}
