// How a transaction whose COMMIT was not answered is found to have ended. It leaves a mark, a row that commits with it. The number
// that PostgreSQL gives a transaction does not tell: after a crash the numbers of those that were lost are given out again.

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
  /** It is there: the next one on this connection replaces it. */
  committed(): void;
  /** Settles the question for good: a transaction that was not committed cannot be any more. */
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
        // A connection has one mark: a transaction begins on it only where the end of the last one is known.
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

/** Waits for a transaction that has written this mark and has not ended. One that comes later meets ours, and fails. */
const CLAIM = `INSERT INTO commit_marks (mark, is_refused) VALUES ($1, true) ON CONFLICT DO NOTHING`;

const READ = `SELECT is_refused FROM commit_marks WHERE mark = $1`;

async function wasCommitted(
  mark: string,
  connections: Connections,
  retry: RetryWhileAway,
): Promise<boolean> {
  await retry(() => connections.query({ text: CLAIM, values: [mark] }));
  // The first of these may have been executed and not answered: whose mark it is tells only this.
  const { rows } = await retry(() => connections.query({ text: READ, values: [mark] }));
  return (rows[0] as { is_refused: boolean } | undefined)?.is_refused === false;
}
