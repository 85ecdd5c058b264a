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

interface Platform {
  performance?: { now(): number };
  setTimeout?: (callback: () => void, ms: number) => unknown;
  clearTimeout?: (timer: unknown) => void;
  crypto?: { getRandomValues<T extends Uint8Array>(into: T): T };
}

/** The longest delay a platform's timer takes; a longer one would fire at once. */
const LONGEST_DELAY = 2 ** 31 - 1;

export function systemClock(): Clock {
  return { now: Date.now, monotonic, after };

  function monotonic(): number {
    // Every current platform has `performance`; a bare one has only the time of day.
    const { performance = Date } = globalThis as Platform;
    return Math.floor(performance.now());
  }

  function after(ms: number, callback: () => void): () => void {
    // Looked up when used: a test may have put its own timers in place.
    const { setTimeout, clearTimeout } = globalThis as Platform;
    if (setTimeout === undefined || clearTimeout === undefined) {
      throw new Error("this platform has no timers: pass a clock to createKernel({ clock })");
    }
    const timer = setTimeout(callback, Math.min(Math.max(0, ms), LONGEST_DELAY));
    return () => clearTimeout(timer);
  }
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
  const { crypto } = globalThis as Platform;
  const bytes = new Uint8Array(length);
  if (crypto === undefined) {
    for (let i = 0; i < length; i += 1) bytes[i] = Math.floor(Math.random() * 256);
  } else {
    crypto.getRandomValues(bytes);
  }
  return Array.from(bytes, (byte) => ALPHABET[byte % 32]).join("");
}
