// Time and identity as ports, so that a test can hold them both, and waiting for code that is not ours: it may throw, hang,
// or answer with a thenable that does either.

import { messageOf } from "../tool/index.ts";

export interface Clock {
  /** Milliseconds since the epoch, for users and records. It may be set forward or back at any time. */
  now(): number;
  /** Whole milliseconds since some moment, never set: only the difference of two readings means something. */
  monotonic(): number;
  /** Calls back once; the returned function takes it back. */
  after(ms: number, callback: () => void): () => void;
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

export type Waited<T> =
  | { kind: "answered"; value: T }
  | { kind: "threw"; error: unknown }
  | { kind: "timed_out"; ms: number };

/** The caller stopped waiting; any later answer is ignored. */
export type GivenUp = { kind: "given_up" };

/** What code did that gave no answer, to go behind its name. */
export function describeNoAnswer(waited: Exclude<Waited<unknown>, { kind: "answered" }>): string {
  return waited.kind === "threw"
    ? `threw: ${messageOf(waited.error)}`
    : `did not answer within ${waited.ms} ms`;
}

export interface Waiting<T> {
  readonly done: Promise<Waited<T> | GivenUp>;
  readonly giveUp: () => void;
}

/** Never rejects and never waits longer than `ms` (undefined: as long as it takes). */
export async function within<T>(
  clock: Clock,
  ms: number | undefined,
  work: () => T | PromiseLike<T>,
): Promise<Waited<T>> {
  // No one else has the handle, so no one gives up.
  return (await beginWaiting(clock, ms, work).done) as Waited<T>;
}

export function beginWaiting<T>(
  clock: Clock,
  ms: number | undefined,
  work: () => T | PromiseLike<T>,
): Waiting<T> {
  let giveUp = (): void => {};
  const done = new Promise<Waited<T> | GivenUp>((resolve) => {
    let forget: (() => void) | undefined;
    const settle = (waited: Waited<T> | GivenUp): void => {
      forget?.();
      resolve(waited);
    };
    giveUp = () => settle({ kind: "given_up" });
    // A promise of our own, because a foreign `then` may call back twice or throw. Begun before the timer is set: timers
    // that the work sets for the same moment fire first.
    new Promise<T>((take) => {
      take(work());
    }).then(
      (value) => settle({ kind: "answered", value }),
      (error: unknown) => settle({ kind: "threw", error }),
    );
    if (ms !== undefined) forget = clock.after(ms, () => resolve({ kind: "timed_out", ms }));
  });
  return { done, giveUp };
}

/**
 * A clock that does not advance until it is moved, so that a test of time takes none. Part of the package because those who
 * build on the kernel have the same tests to write.
 */
export interface HeldClock extends Clock {
  /** Moves time on, firing what comes due in order, and lets what follows from it happen. */
  advance(ms: number): Promise<void>;
  /** Sets the time of day, as someone does by hand: nothing comes due, and no time has passed. */
  set(now: number): void;
  /** Lets everything happen that needs no time. */
  settle(): Promise<void>;
  /** Timers that have not fired: none may be left when a run has ended. */
  readonly pending: number;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/** Longer than any chain of promises between two timers in the kernel. */
const MICROTASKS = 200;

/** A clock for tests: time passes only by `advance`. */
export function createHeldClock(start = 0): HeldClock {
  let now = start;
  /** How far the time of day is from `now`. */
  let offset = 0;
  let order = 0;
  const timers = new Set<Timer>();

  return {
    now: () => now + offset,
    monotonic: () => now,
    set(time) {
      offset = time - now;
    },
    after(ms, callback) {
      order += 1;
      const timer: Timer = { at: now + Math.max(0, ms), order, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(ms) {
      const target = now + ms;
      await settle();
      for (let timer = nextDue(target); timer !== undefined; timer = nextDue(target)) {
        timers.delete(timer);
        now = timer.at;
        timer.callback();
        await settle();
      }
      now = target;
    },
    settle,
    get pending() {
      return timers.size;
    },
  };

  function nextDue(target: number): Timer | undefined {
    let due: Timer | undefined;
    for (const timer of timers) {
      if (timer.at > target) continue;
      if (
        due === undefined ||
        timer.at < due.at ||
        (timer.at === due.at && timer.order < due.order)
      ) {
        due = timer;
      }
    }
    return due;
  }

  async function settle(): Promise<void> {
    for (let i = 0; i < MICROTASKS; i += 1) await Promise.resolve();
  }
}

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
  for (let i = 0; i < length; i += 1) text += ALPHABET[nextRandomByte() % 32];
  return text;
}

/** Fetched many at a time: asking the platform costs 10 µs, however few they are. */
const randomBytes = new Uint8Array(1_020);
let bytesUsed = randomBytes.length;

function nextRandomByte(): number {
  if (bytesUsed === randomBytes.length) {
    crypto.getRandomValues(randomBytes);
    bytesUsed = 0;
  }
  const byte = randomBytes[bytesUsed] as number;
  bytesUsed += 1;
  return byte;
}
