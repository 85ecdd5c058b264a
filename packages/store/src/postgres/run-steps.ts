// Steps on PostgreSQL. While the database is away they are tried again, within a bound; a transaction whose end is unknown is
// looked up before.

import { setTimeout as delay } from "node:timers/promises";
import type { PoolClient, QueryResult } from "pg";
import { StoreError } from "../contract/store-error.ts";
import {
  isLookup,
  isUnfindable,
  writeSql,
  type SqlDatabase,
  type SqlStatement,
  type SqlWriter,
  type Steps,
} from "../sql/sql.ts";
import type { RetryWhileAway } from "./retry-while-away.ts";
import type { Connections } from "./connection.ts";
import { asPostgresError, isAway, isTaken, isUndone } from "./postgres-error.ts";

export interface PostgresRunner extends SqlDatabase, SqlWriter {
  run<T>(steps: Steps<T>): Promise<T>;
  readonly patiently: RetryWhileAway;
}

export interface RunnerOptions {
  readonly connections: Connections;
  readonly retry: RetryWhileAway;
  /** What sessions have taken goes first, to keep the order of things. */
  readonly beforeWriting: () => Promise<void>;
}

/** Claims and answers that met another one at the same row. */
const MOST_ATTEMPTS = 20;

export function createPostgresRunner(options: RunnerOptions): PostgresRunner {
  const { connections, retry, beforeWriting } = options;
  const { name } = connections;
  return {
    name,
    run: (steps) => play(steps, (statement) => retry(() => executeAnywhere(statement))),
    snapshot: (steps) =>
      retry(() =>
        connections.with(async (client) => {
          await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
          const done = await play(steps(), (statement) => execute(client, statement));
          await client.query("COMMIT");
          return done;
        }),
      ),
    // Always synced: an epoch that a crash of the server takes back would be given out twice.
    transaction: transact,
    patientTransaction: transact,
    patiently: retry,
    refuseClosed() {},
  };

  async function executeAnywhere(statement: SqlStatement): Promise<readonly object[]> {
    const query = toQuery(statement);
    return query === undefined ? [] : takeRows(await connections.query(query));
  }

  async function execute(client: PoolClient, statement: SqlStatement): Promise<readonly object[]> {
    const query = toQuery(statement);
    try {
      return query === undefined ? [] : takeRows(await client.query<object>(query));
    } catch (error) {
      throw asPostgresError(error, name);
    }
  }

  /** All of it or nothing, once. */
  async function transact<T>(steps: () => Steps<T>): Promise<T> {
    await beforeWriting();
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await retry(() => attemptOnce(steps));
      if ("done" in outcome) return outcome.done;
      if (attempt >= MOST_ATTEMPTS) throw outcome.conflict;
    }
  }

  async function attemptOnce<T>(
    steps: () => Steps<T>,
  ): Promise<{ readonly done: T } | { readonly conflict: unknown }> {
    let xid = "";
    let done: { readonly done: T } | undefined;
    try {
      return await connections.with(async (client) => {
        const begun = (await client.query(BEGIN)) as unknown;
        const { rows } = (begun as QueryResult<{ xid: string }>[]).at(-1) ?? { rows: [] };
        const value = await play(steps(), (statement) => execute(client, statement));
        xid = rows[0]?.xid ?? "";
        done = { done: value };
        await client.query("COMMIT");
        return done;
      });
    } catch (error) {
      if (isUndone(error) || isTaken(error)) return { conflict: error };
      if (done === undefined || !isAway(error)) throw error;
      // Its end is unknown.
      if (await wasCommitted(xid)) return done;
      throw error;
    }
  }

  async function wasCommitted(xid: string): Promise<boolean> {
    const statement = { text: "SELECT txid_status(CAST($1 AS bigint)) AS status", values: [xid] };
    for (;;) {
      const { rows } = await retry(() => connections.query(statement));
      const { status } = rows[0] as { status: string | null };
      if (status !== "in progress") return status === "committed";
      await delay(100);
    }
  }
}

/** In one message, with the number by which its end can be looked up. */
const BEGIN = "BEGIN; SELECT CAST(txid_current() AS text) AS xid";

async function play<T>(
  steps: Steps<T>,
  execute: (statement: SqlStatement) => Promise<readonly object[]>,
): Promise<T> {
  let step = steps.next();
  while (step.done !== true) {
    let rows: readonly object[];
    try {
      rows = await execute(step.value);
    } catch (error) {
      // So that it can let go of what it holds.
      step = steps.throw(error);
      continue;
    }
    step = steps.next(rows);
  }
  return step.value;
}

interface Query {
  readonly text: string;
  readonly values: unknown[];
}

/** Undefined where nothing can be found. */
function toQuery(statement: SqlStatement): Query | undefined {
  const { text, parameters } = writeSql(statement, "postgres", (place) => `$${place}`);
  if (isLookup(text) && parameters.some(isUnfindable)) return undefined;
  const unkept = parameters.find(isUnfindable);
  if (unkept === undefined) return { text, values: [...parameters] };
  throw new StoreError("entry_refused", "A text holds NUL or half a character.");
}

function takeRows({ rows }: QueryResult<object>): readonly object[] {
  return rows;
}
