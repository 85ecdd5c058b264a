// Keys that were pressed while nothing was read. A question must not be answered by what was meant for
// something else: it waits until the typing pauses. What was typed for the next line is kept for it.

import type { Key } from "./key-decoder.ts";

export interface StrayKeys {
  /** A key came while nothing was read. */
  add(key: Key): void;
  /** A key went into a line. */
  typing(): void;
  /** That line is done. */
  sent(): void;
  /** A question was answered; further keys at once belong to that answer. */
  answered(): void;
  /** For the next line. */
  take(): Key[];
  forget(): void;
  /** How long until a question may be put; 0: now. */
  msUntilQuiet(): number;
}

export function createStrayKeys(now: () => number = Date.now): StrayKeys {
  let kept: Key[] = [];
  let last: { readonly of: "answer" | "line"; readonly at: number } | undefined;

  return {
    add(key) {
      const of = last?.of === "answer" && msUntilQuiet() > 0 ? "answer" : "line";
      last = { of, at: now() };
      if (of === "line" && kept.length < MOST_KEPT) kept.push(key);
    },
    typing() {
      last = { of: "line", at: now() };
    },
    sent() {
      last = undefined;
    },
    answered() {
      last = { of: "answer", at: now() };
    },
    take() {
      const keys = kept;
      kept = [];
      return keys;
    },
    forget() {
      kept = [];
      last = undefined;
    },
    msUntilQuiet,
  };

  function msUntilQuiet(): number {
    return last === undefined ? 0 : Math.max(0, last.at + QUIET_MS - now());
  }
}

const QUIET_MS = 300;
const MOST_KEPT = 1000;
