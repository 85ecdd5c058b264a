// Time and identity as ports, so that a test can hold them both.

export interface Clock {
  /** Milliseconds since the epoch, for people and records. Someone may set it forward or back at any time. */
  now(): number;
  /** Whole milliseconds since some moment, never set: only the difference of two readings means something. */
  monotonic(): number;
  /** Calls back once; the returned function takes it back. */
  after(ms: number, callback: () => void): () => void;
}

export interface IdSource {
  /** A new identifier, unique across sessions, such as `run_…`. */
  next(prefix: string): string;
}

/** The longest delay a platform's timer takes; a longer one would fire at once. */
const LONGEST_DELAY = 2 ** 31 - 1;

/** The platform's clock and timers. */
export function systemClock(): Clock {
  return {
    now: Date.now,
    monotonic: () => Math.floor(performance.now()),
    after(ms, callback) {
      const timer = setTimeout(callback, Math.min(Math.max(0, ms), LONGEST_DELAY));
      return () => clearTimeout(timer);
    },
  };
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
  const bytes = crypto.getRandomValues(new Uint8Array(length));
  return Array.from(bytes, (byte) => ALPHABET[byte % 32]).join("");
}
