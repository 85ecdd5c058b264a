// Steps on SQLite: each statement is prepared once, and they run to their end at once.

import { StoreError } from "../contract/store-error.ts";
import {
  isLookup,
  isUnfindable,
  SqlPart,
  writeSql,
  type SqlDatabase,
  type SqlRows,
  type SqlStatement,
  type SqlValue,
  type Steps,
} from "../sql/sql.ts";
import type { Database, Statement } from "./driver.ts";
import { asStoreError } from "./sqlite-error.ts";

export interface SqliteRunner extends SqlDatabase {
  runNow<T>(steps: Steps<T>): T;
  /** A connection is only gone when its statements are. */
  close(): void;
}

export function createSqliteRunner(database: Database, path: string): SqliteRunner {
  /** By their text, of which there are a few dozen. */
  const statements = new Map<string, Prepared>();
  /** By their place in the code, for those whose text is always the same. */
  let sites = new WeakMap<readonly string[], Prepared>();
  let isOpen = true;
  return {
    name: path,
    run,
    runNow: run,
    snapshot(steps) {
      execute(BEGIN);
      try {
        return run(steps());
      } finally {
        execute(COMMIT);
      }
    },
    refuseClosed,
    close() {
      isOpen = false;
      statements.clear();
      sites = new WeakMap();
      database.close();
    },
  };

  function run<T>(steps: Steps<T>): T {
    let step = steps.next([]);
    while (step.done !== true) {
      let rows: readonly SqlRows[];
      try {
        rows = step.value.map(execute);
      } catch (error) {
        // So that it can let go of what it holds.
        step = steps.throw(error);
        continue;
      }
      step = steps.next(rows);
    }
    return step.value;
  }

  function execute(statement: SqlStatement): SqlRows {
    refuseClosed();
    const { texts, values } = statement;
    try {
      const known = sites.get(texts);
      // Its values are the same in number and kind each time.
      if (known !== undefined) return find(known, values as readonly SqlValue[]);
      const { text, parameters } = writeSql(statement, "sqlite", () => "?");
      const prepared = statements.get(text) ?? prepare(text);
      statements.set(text, prepared);
      if (!values.some((value) => value instanceof SqlPart)) sites.set(texts, prepared);
      return find(prepared, parameters);
    } catch (error) {
      throw asStoreError(error, path);
    }
  }

  function prepare(text: string): Prepared {
    const statement = database.prepare(text);
    return { statement, isLookup: isLookup(text), hasRows: HAS_ROWS.test(text) };
  }

  function refuseClosed(): void {
    if (isOpen) return;
    throw new StoreError("store_closed", `The store ${path} is closed; open it again.`);
  }
}

interface Prepared {
  readonly statement: Statement;
  readonly isLookup: boolean;
  readonly hasRows: boolean;
}

const HAS_ROWS = /^\s*(SELECT|WITH|PRAGMA)\b|\bRETURNING\b/;
const NO_ROWS: SqlRows = [];

function find(prepared: Prepared, values: readonly SqlValue[]): SqlRows {
  const { statement, isLookup, hasRows } = prepared;
  if (isLookup && values.some(isUnfindable)) return NO_ROWS;
  if (hasRows) return statement.all(...values) as object[];
  statement.run(...values);
  return NO_ROWS;
}

const BEGIN: SqlStatement = { texts: ["BEGIN"], values: [] };
const COMMIT: SqlStatement = { texts: ["COMMIT"], values: [] };
