// Runs steps on PostgreSQL. While the database is unreachable they are retried, within a bound; if the end of a transaction is
// unknown, it is looked up before. Statements that need no answer yet are sent together: a claim waits twice, not ten times.

import type { PoolClient, QueryConfig, QueryResult } from "pg";
import { StoreError } from "../contract/store-error.ts";
import {
  isLookup,
  isUnfindable,
  writeSql,
  type SqlDatabase,
  type SqlRows,
  type SqlStatement,
  type SqlWriter,
  type Steps,
} from "../sql/sql.ts";
import type { RetryWhileAway } from "./retry-while-away.ts";
import { createCommitMarks, type CommitMark } from "./commit-marks.ts";
import type { Connections } from "./connection.ts";
import { asPostgresError, isAway, isTaken, isUndone } from "./postgres-error.ts";

export interface PostgresRunner extends SqlDatabase, SqlWriter {
  run<T>(steps: Steps<T>): Promise<T>;
  readonly patiently: RetryWhileAway;
}

export interface RunnerOptions {
  readonly connections: Connections;
  readonly retry: RetryWhileAway;
  /** Commits what sessions have taken, to keep the order. */
  readonly beforeWriting: () => Promise<void>;
}

/** For claims and answers that conflict with others on the same row. */
const MOST_ATTEMPTS = 20;

export function createPostgresRunner(options: RunnerOptions): PostgresRunner {
  const { connections, retry, beforeWriting } = options;
  const { name } = connections;
  const marks = createCommitMarks();
  return {
    name,
    run: (steps) => play(steps, executeAnywhere),
    snapshot: (steps) =>
      retry(() =>
        connections.with(async (client) => {
          const pipeline = createPipeline(client, name);
          void pipeline.send({ text: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" });
          const done = await play(steps(), (statements) => execute(pipeline, statements));
          void pipeline.send({ text: "COMMIT" });
          await pipeline.settle();
          return done;
        }),
      ),
    // Always synced: after a crash of the server, the holder of a session or a step would be ahead of it and could not continue.
    transaction: transact,
    patientTransaction: transact,
    patiently: retry,
    refuseClosed() {},
  };

  async function executeAnywhere(statements: readonly SqlStatement[]): Promise<SqlRows[]> {
    const answers: SqlRows[] = [];
    for (const query of statements.map(toQuery)) {
      const result = query && (await retry(() => connections.query(query)));
      answers.push(result?.rows ?? []);
    }
    return answers;
  }

  /** Runs the steps atomically, and exactly once. */
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
    let mark: CommitMark | undefined;
    let done: { readonly done: T } | undefined;
    try {
      return await connections.with(async (client) => {
        const pipeline = createPipeline(client, name);
        void pipeline.send({ text: "BEGIN" });
        const value = await play(steps(), async (statements) => {
          if (mark === undefined && !statements.every(isSelect)) {
            // Only lookups are sent before BEGIN was answered.
            await pipeline.settle();
            mark = marks.next(client);
          }
          return execute(pipeline, statements);
        });
        done = { done: value };
        if (mark !== undefined) void pipeline.send(mark.statement);
        const ended = pipeline.send({ text: "COMMIT" });
        await pipeline.settle();
        if ((await ended).command !== "COMMIT") throw new Error("the transaction was rolled back");
        mark?.committed();
        return done;
      });
    } catch (error) {
      if (isUndone(error) || isTaken(error)) return { conflict: error };
      if (done === undefined || !isAway(error)) throw error;
      // The end is unknown. It does not matter if the transaction has changed nothing.
      if (mark === undefined || (await mark.wasCommitted(connections, retry))) return done;
      throw error;
    }
  }
}

async function play<T>(
  steps: Steps<T>,
  execute: (statements: readonly SqlStatement[]) => Promise<readonly SqlRows[]>,
): Promise<T> {
  let step = steps.next([]);
  while (step.done !== true) {
    let rows: readonly SqlRows[];
    try {
      rows = await execute(step.value);
    } catch (error) {
      // The generator can then release what it holds.
      step = steps.throw(error);
      continue;
    }
    step = steps.next(rows);
  }
  return step.value;
}

/** Sends a statement before the ones ahead of it are answered. */
interface Pipeline {
  send(query: QueryConfig): Promise<QueryResult<object>>;
  /** Waits for all that was sent; rejects with the first failure. */
  settle(): Promise<void>;
}

function createPipeline(client: PoolClient, name: string): Pipeline {
  let sent: Promise<unknown>[] = [];
  return {
    send(query) {
      gather(client);
      const answer = client.query<object>(query);
      // `settle` rejects with the error.
      answer.catch(() => {});
      sent.push(answer);
      return answer;
    },
    async settle() {
      const all = sent;
      sent = [];
      try {
        await Promise.all(all);
      } catch (error) {
        throw asPostgresError(error, name);
      }
    },
  };
}

/** Sends all statements of this turn in one write: a write for each took a seventh of the time of a claim. */
function gather({ connection: { stream } }: PoolClient): void {
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/** Sends statements of a transaction. Does not wait if no one reads the answers. */
async function execute(
  pipeline: Pipeline,
  statements: readonly SqlStatement[],
): Promise<readonly SqlRows[]> {
  const queries = statements.map(toQuery);
  const answers = queries.map((query) => query && pipeline.send(prepare(query)));
  if (statements.every(({ isUnread }) => isUnread === true)) return statements.map(() => []);
  await pipeline.settle();
  return Promise.all(answers.map(async (answer) => (await answer)?.rows ?? []));
}

/** Names of statements by their text: each is parsed and planned once for a connection. */
const names = new Map<string, string>();
/** A few dozen exist; the bound is for safety. */
const MOST_NAMES = 500;

function prepare(query: Query): QueryConfig {
  let name = names.get(query.text);
  if (name === undefined && names.size < MOST_NAMES) {
    name = `step ${names.size}`;
    names.set(query.text, name);
  }
  return name === undefined ? query : { ...query, name };
}

interface Query {
  readonly text: string;
  readonly values: unknown[];
}

/** Undefined if the statement cannot find anything: a parameter cannot be in the database. */
function toQuery(statement: SqlStatement): Query | undefined {
  const { text, parameters } = writeSql(statement, "postgres", (place) => `$${place}`);
  if (isLookup(text) && parameters.some(isUnfindable)) return undefined;
  const unkept = parameters.find(isUnfindable);
  if (unkept === undefined) return { text, values: [...parameters] };
  throw new StoreError("entry_refused", "A text holds NUL or half a character.");
}

function isSelect(statement: SqlStatement): boolean {
  return /^\s*SELECT\b/.test(writeSql(statement, "postgres", () => "").text);
}
