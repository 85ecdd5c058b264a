// Text from outside as a value of a column. SQLite ends a text at NUL and knows no half of a character, so
// what is not plain is kept as JSON, which spells both out.

export function asColumn(text: string): string {
  return isPlain(text) && !text.startsWith('"') ? text : JSON.stringify(text);
}

export function fromColumn(value: string): string {
  return value.startsWith('"') ? (JSON.parse(value) as string) : value;
}

/** Every Node we support has it; the library of types we build with does not yet. */
type WellFormed = string & { isWellFormed(): boolean };

/** Whether a column gives the text back as it was. */
export function isPlain(text: string): boolean {
  return !text.includes("\0") && (text as WellFormed).isWellFormed();
}
