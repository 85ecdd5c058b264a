// Whether the time of a fact is one that other standards accept.

const TIMESTAMP =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/u;

/** RFC 3339 with a zone, and a day that exists. */
export function isTimestamp(value: unknown): value is string {
  if (typeof value !== "string" || value.length > MAX_CHARS) return false;
  const found = TIMESTAMP.exec(value);
  if (found === null) return false;
  const [, year, month, day] = found;
  const date = Number(day);
  return date <= 28 || date <= daysIn(Number(year), Number(month));
}

const MAX_CHARS = 40;

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
