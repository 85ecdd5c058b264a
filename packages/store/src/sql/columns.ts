// Text from outside as a value of a column. SQLite ends a text at NUL, PostgreSQL refuses it, and neither knows half of a
// character; so what is not plain is kept as JSON, which spells both out.

import { isJsonObject, type JsonObject, type JsonValue } from "@soong/schema";

export function asColumn(text: string): string;
export function asColumn(text: string | undefined): string | null;
export function asColumn(text: string | undefined): string | null {
  if (text === undefined) return null;
  return isPlain(text) && !text.startsWith('"') ? text : JSON.stringify(text);
}

export function fromColumn(value: string): string;
export function fromColumn(value: string | null): string | null;
export function fromColumn(value: string | null): string | null {
  return value?.startsWith('"') === true ? readText(value) : value;
}

/** As it is, where it was written there by hand. */
function readText(column: string): string {
  try {
    return String(JSON.parse(column));
  } catch {
    return column;
  }
}

/** Undefined for what was written there by hand, so that other rows can still be read. */
export function readObject(column: string | null): JsonObject | undefined {
  if (column === null) return undefined;
  try {
    const value = JSON.parse(column) as JsonValue;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

type NonNull<Row> = {
  [Name in keyof Row as null extends Row[Name] ? never : Name]: Row[Name];
} & { [Name in keyof Row as null extends Row[Name] ? Name : never]?: NonNullable<Row[Name]> };

/** A column without a value is a field that is not there. */
export function omitNulls<Row extends object>(row: Row): NonNull<Row> {
  return Object.fromEntries(
    Object.entries(row).filter(([, value]) => value !== null),
  ) as NonNull<Row>;
}

/** Every Node we support has it; the library of types we build with does not yet. */
type WellFormed = string & { isWellFormed(): boolean };

/** Whether a column gives the text back as it was. */
export function isPlain(text: string): boolean {
  return !text.includes("\0") && (text as WellFormed).isWellFormed();
}
