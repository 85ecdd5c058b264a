// How long a server that failed is left alone: a second, then twice as long each time, up to a minute.

const FIRST_MS = 1000;
const LONGEST_MS = 60_000;

/** `failures` in a row, this one counted. */
export function backoffMs(failures: number): number {
  return Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 20), LONGEST_MS);
}
