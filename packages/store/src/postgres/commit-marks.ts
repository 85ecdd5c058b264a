// Finds out whether a transaction whose COMMIT got no answer was committed. Each one inserts a mark, a row that commits with it.
// The transaction id of PostgreSQL is no evidence: after a crash the ids of lost transactions are assigned again.

import { randomUUID } from "node:crypto";
import type { PoolClient, QueryConfig } from "pg";
import type { Connections } from "./connection.ts";
import type { RetryWhileAway } from "./retry-while-away.ts";

export interface CommitMarks {
  /** The last statement of a transaction on this connection, before COMMIT. */
  next(client: PoolClient): CommitMark;
}

export interface CommitMark {
  readonly statement: QueryConfig;
  /** Call it after COMMIT: the next mark on this connection then replaces this one. */
  committed(): void;
  /** The answer is final: a transaction that was not committed can no longer be. */
  wasCommitted(connections: Connections, retry: RetryWhileAway): Promise<boolean>;
}

interface Written {
  readonly id: string;
  count: number;
  last: string;
}

export function createCommitMarks(): CommitMarks {
  const written = new WeakMap<PoolClient, Written>();
  return {
    next(client) {
      const own = written.get(client) ?? { id: randomUUID(), count: 0, last: "" };
      written.set(client, own);
      own.count += 1;
      const mark = `${own.id}/${own.count}`;
      return {
        // A connection has one mark: it begins a transaction only when the end of the last one is known.
        statement: { name: "mark", text: WRITE, values: [own.last, mark] },
        committed() {
          own.last = mark;
        },
        wasCommitted: (connections, retry) => wasCommitted(mark, connections, retry),
      };
    },
  };
}

const WRITE = `WITH last AS (DELETE FROM commit_marks WHERE mark = $1)
  INSERT INTO commit_marks (mark) VALUES ($2)`;

/** Waits for an open transaction with this mark. A transaction that inserts the mark later fails. */
const CLAIM = `INSERT INTO commit_marks (mark, is_refused) VALUES ($1, true) ON CONFLICT DO NOTHING`;

const READ = `SELECT is_refused FROM commit_marks WHERE mark = $1`;

async function wasCommitted(
  mark: string,
  connections: Connections,
  retry: RetryWhileAway,
): Promise<boolean> {
  await retry(() => connections.query({ text: CLAIM, values: [mark] }));
  // The row says whose mark it is. The insert does not: an attempt without an answer may have been executed.
  const { rows } = await retry(() => connections.query({ text: READ, values: [mark] }));
  return (rows[0] as { is_refused: boolean } | undefined)?.is_refused === false;
}
