// SQL for either database. What reads or writes is a generator: it yields statements and gets their rows, so that the same code
// runs to its end at once on SQLite, and waits for the answers on PostgreSQL.

import { isPlain } from "./columns.ts";

export type SqlValue = string | number | bigint | null | Uint8Array;

export interface SqlStatement {
  readonly texts: readonly string[];
  readonly values: readonly (SqlValue | SqlPart)[];
  /** Its rows are not looked at. */
  readonly isUnread?: boolean;
}

export type SqlRows = readonly object[];

/** Yields statements, those of one list without a need for the answer to another, and gets the rows of each. */
export type Steps<T> = Generator<readonly SqlStatement[], T, readonly SqlRows[]>;

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
  const [rows] = yield [{ texts, values }];
  return rows as Row[];
}

/** Changes something, and nothing depends on the answer: in a transaction on PostgreSQL, only its end waits for it, and fails with it. */
export function* sqlWrite(
  texts: TemplateStringsArray,
  ...values: (SqlValue | SqlPart)[]
): Steps<void> {
  yield [{ texts, values, isUnread: true }];
}

/** The first row. */
export function* sqlRow<Row extends object = object>(
  texts: TemplateStringsArray,
  ...values: (SqlValue | SqlPart)[]
): Steps<Row | undefined> {
  const [rows] = yield [{ texts, values }];
  return rows?.[0] as Row | undefined;
}

/** All of them side by side, in as many round trips as the longest has. What they ask in one of them is executed in their order. */
export function* together<Answers extends readonly unknown[]>(
  ...all: { readonly [At in keyof Answers]: Steps<Answers[At]> }
): Steps<Answers> {
  const answers: unknown[] = [];
  let open = all.map((steps: Steps<unknown>, at) => ({ at, steps, step: steps.next([]) }));
  for (;;) {
    for (const { at, step } of open) if (step.done === true) answers[at] = step.value;
    open = open.filter(({ step }) => step.done !== true);
    if (open.length === 0) return answers as readonly unknown[] as Answers;
    const asked = open.map(({ step }) => step.value as readonly SqlStatement[]);
    const rows = yield asked.flat();
    let from = 0;
    for (const [index, one] of open.entries()) {
      const to = from + (asked[index]?.length ?? 0);
      one.step = one.steps.next(rows.slice(from, to));
      from = to;
    }
  }
}

/** A name or a keyword; or a part with a value where it says `?`. */
export function raw(text: string, value?: SqlValue): SqlPart {
  return new SqlPart({ sqlite: text, postgres: text }, value);
}

/** A table with one column, `value`. A text that no column can hold is omitted: it cannot be found. */
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

/** At the end of a SELECT: no one else changes these rows of the table before the transaction ends. On SQLite no one does anyway. */
export function forUpdateOf(table: string): SqlPart {
  return new SqlPart({ sqlite: "", postgres: `FOR UPDATE OF ${table}` });
}

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
