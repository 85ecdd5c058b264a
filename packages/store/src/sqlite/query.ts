// SQL as a tagged template. Each value is a parameter of a prepared statement; text goes into the statement only as `raw`.

import { StoreError } from "../contract/store-error.ts";
import type { Database, SqlValue, Statement } from "./driver.ts";
import { asStoreError, isPlain } from "./sqlite-error.ts";

/** Runs a statement, with the store's errors instead of the database's. */
export type Query = <Row extends object = object>(
  sql: TemplateStringsArray,
  ...values: (SqlValue | RawSql)[]
) => Row[];

class RawSql {
  constructor(readonly text: string) {}
}

/** Part of the statement itself: a name or a keyword of ours, never text from outside. */
export function raw(text: string): RawSql {
  return new RawSql(text);
}

export interface QueryRunner {
  readonly query: Query;
  refuseClosed(): void;
  /** A connection is only gone when its statements are. */
  close(): void;
}

export function createQuery(database: Database, path: string): QueryRunner {
  /** By their text, of which there are a few dozen. */
  const statements = new Map<string, Statement>();
  let isOpen = true;
  return {
    query<Row extends object>(sql: TemplateStringsArray, ...values: (SqlValue | RawSql)[]): Row[] {
      refuseClosed();
      const parameters = values.filter((value): value is SqlValue => !(value instanceof RawSql));
      const texts = values.map((value) => (value instanceof RawSql ? value.text : "?"));
      const text = String.raw({ raw: sql }, ...texts);
      // SQLite would look for another text; and nothing is ever kept under one that it cannot hold.
      const isLookup = /^\s*(SELECT|WITH)\b/.test(text);
      const isKeepable = (value: SqlValue): boolean => typeof value !== "string" || isPlain(value);
      if (isLookup && !parameters.every(isKeepable)) return [];
      try {
        const statement = statements.get(text) ?? database.prepare(text);
        statements.set(text, statement);
        return statement.all(...parameters) as Row[];
      } catch (error) {
        throw asStoreError(error, path);
      }
    },
    refuseClosed,
    close() {
      isOpen = false;
      statements.clear();
      database.close();
    },
  };

  function refuseClosed(): void {
    if (isOpen) return;
    throw new StoreError("store_closed", `The store ${path} is closed; open it again.`);
  }
}
