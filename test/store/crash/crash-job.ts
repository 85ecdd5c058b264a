// What a runtime that is going to be killed is told, and what it tells: the lines of its report are written
// one by one with a plain write, so that none is lost when the process is.

import type { CrashPoint } from "@soong/store";

export interface CrashJob {
  readonly home: string;
  /** Where the tools work. */
  readonly project: string;
  readonly session_id: string;
  /** A file of its own for this process. */
  readonly report: string;
  /** Every call id of this process begins with it; no two processes share one. */
  readonly mark: string;
  readonly task: CrashTask;
  readonly kill?: Kill;
}

export const TURN_NAMES = [
  "reads",
  "changes",
  "commands",
  "keeps",
  "questions",
  "child",
  "streaming",
] as const;

export type TurnName = (typeof TURN_NAMES)[number];

export type CrashTask =
  /** Opens the session, works, and ends in the middle of calls that never end. */
  | { readonly kind: "work"; readonly turns: readonly TurnName[] }
  /** Works, ends its run, closes everything and exits. */
  | { readonly kind: "work_to_the_end"; readonly turns: readonly TurnName[] }
  /** Opens the session, which recovers it, and waits. */
  | { readonly kind: "open" }
  | { readonly kind: "remove" }
  /** One write after the other; each handler tells that it has begun and holds everything up until told to continue. */
  | { readonly kind: "hold_in_handler"; readonly calls: number };

/** The labelled instants of the store, and two of our own: around what a write changes outside. */
export type Instant = CrashPoint | "effect.before" | "effect.after";

export type Kill =
  /** By itself, the n-th time it is there. */
  | { readonly kind: "at"; readonly instant: Instant; readonly occurrence: number }
  /** By itself, at the n-th labelled instant, whichever it is. */
  | { readonly kind: "count"; readonly instants: number }
  /** By the one who started it, who is told that the n-th commit is being made. */
  | { readonly kind: "in_commit"; readonly commit: number };

export type ReportLine =
  /** Flushed: these facts are there for good, with these hashes of their text as they were appended. */
  | { readonly kind: "durable"; readonly facts: readonly (readonly [seq: number, hash: string])[] }
  /** The hash of the newest of them in the chain. */
  | { readonly kind: "head"; readonly hash: string }
  /** A result that was delivered. */
  | { readonly kind: "result"; readonly tool_call_id: string; readonly status: string }
  | { readonly kind: "at"; readonly instant: Instant }
  | { readonly kind: "failed"; readonly message: string };

/** What it says on its standard output, one character each. */
export const SAYS = {
  /** Loaded; the job begins. */
  begun: "b",
  /** The last turn is under way, or the task is done. */
  ready: "r",
  /** Kill me. */
  kill: "k",
  /** A handler has begun and waits. */
  held: "h",
} as const;
