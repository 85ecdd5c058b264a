// SQL for either database. What reads or writes is a generator: it yields statements and gets their rows, so that the same code
// runs to its end at once on SQLite, and waits for each answer on PostgreSQL.

import { isPlain } from "./columns.ts";

export type SqlValue = string | number | null | Uint8Array;

export interface SqlStatement {
  readonly texts: readonly string[];
  readonly values: readonly (SqlValue | SqlPart)[];
}

/** Yields statements, and answers with what came of them. */
export type Steps<T> = Generator<SqlStatement, T, readonly object[]>;

export type DialectName = "sqlite" | "postgres";

/** Text of the statement itself: ours, never from outside. May have one value of its own, where it says `?`. */
export class SqlPart {
  constructor(
    private readonly words: Readonly<Record<DialectName, string>>,
    readonly value?: SqlValue,
  ) {}

  text(dialect: DialectName): string {
    return this.words[dialect];
  }
}

/** Each value is a parameter of the statement. */
export function* sql<Row extends object = object>(
  texts: TemplateStringsArray,
  ...values: (SqlValue | SqlPart)[]
): Steps<Row[]> {
  return (yield { texts, values }) as Row[];
}

/** The first row. */
export function* sqlRow<Row extends object = object>(
  texts: TemplateStringsArray,
  ...values: (SqlValue | SqlPart)[]
): Steps<Row | undefined> {
  const rows = yield { texts, values };
  return rows[0] as Row | undefined;
}

/** A name or a keyword. */
export function raw(text: string): SqlPart {
  return new SqlPart({ sqlite: text, postgres: text });
}

/** A table with one column, `value`. What no column holds is left out: it is not to be found. */
export function listed(values: readonly string[]): SqlPart {
  const words = {
    sqlite: "json_each(?)",
    postgres: "json_array_elements_text(CAST(? AS json)) AS listed (value)",
  };
  return new SqlPart(words, JSON.stringify(values.filter(isPlain)));
}

/** Where a text begins in another; 0 when it does not. */
export const POSITION_IN = new SqlPart({ sqlite: "instr", postgres: "strpos" });

/** After a text: compared and lowered byte by byte, as SQLite always does. */
export const BYTEWISE = new SqlPart({ sqlite: "", postgres: 'COLLATE "C"' });

/** At the end of a SELECT: no one else changes these rows before the transaction ends. On SQLite no one does anyway. */
export const FOR_UPDATE = new SqlPart({ sqlite: "", postgres: "FOR UPDATE" });

export interface SqlText {
  readonly text: string;
  readonly parameters: readonly SqlValue[];
}

/** The statement in the words of a database. `mark` names the nth parameter, from 1 on. */
export function writeSql(
  { texts, values }: SqlStatement,
  dialect: DialectName,
  mark: (place: number) => string,
): SqlText {
  const parameters: SqlValue[] = [];
  let text = texts[0] ?? "";
  values.forEach((value, index) => {
    text += value instanceof SqlPart ? writePart(value) : addParameter(value);
    text += texts[index + 1] ?? "";
  });
  return { text, parameters };

  function addParameter(value: SqlValue): string {
    parameters.push(value);
    return mark(parameters.length);
  }

  function writePart(part: SqlPart): string {
    const { value } = part;
    const words = part.text(dialect);
    return value === undefined ? words : words.replace("?", () => addParameter(value));
  }
}

export function isLookup(text: string): boolean {
  return /^\s*(SELECT|WITH)\b/.test(text);
}

/** Neither database keeps such a text, so it need not be looked for; one would look for another text, the other refuse. */
export function isUnfindable(value: SqlValue): boolean {
  return typeof value === "string" && !isPlain(value);
}

/** What the store does with its database, whichever that is. */
export interface SqlDatabase {
  /** For messages: its path, or its address without credentials. */
  readonly name: string;
  /** One statement after the other. */
  run<T>(steps: Steps<T>): T | Promise<T>;
  /** The same, where nothing has to be waited for. */
  readonly runNow?: <T>(steps: Steps<T>) => T;
  /** The same, and all of them see the tables of one moment. */
  snapshot<T>(steps: () => Steps<T>): T | Promise<T>;
  refuseClosed(): void;
}

export interface SqlWriter {
  /** All of it or nothing. Waits for others who write. `unsynced`: as facts of reading (STORE-6). */
  transaction<T>(steps: () => Steps<T>, sync?: "synced" | "unsynced"): T | Promise<T>;
  /** The same, without holding up the process while it waits. */
  patientTransaction<T>(steps: () => Steps<T>): Promise<T>;
}
