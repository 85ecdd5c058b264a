// Identifiers as a port, so that a test can choose them.

export interface IdSource {
  /** A new identifier, unique across sessions, such as `run_…`. */
  next(prefix: string): string;
}

/**
 * Random prefix, then a counter: unique across processes and cheap to make. The counter keeps its length
 * for sixty million ids, so that they sort as they were made: an index of them grows at its end.
 */
export function randomIds(): IdSource {
  const prefix = randomText(12);
  let count = 0;
  return {
    next(kind) {
      count += 1;
      return `${kind}_${prefix}${count.toString(36).padStart(5, "0")}`;
    },
  };
}

const ALPHABET = "0123456789abcdefghijklmnopqrstuv";

function randomText(length: number): string {
  let text = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(length))) text += ALPHABET[byte % 32];
  return text;
}
