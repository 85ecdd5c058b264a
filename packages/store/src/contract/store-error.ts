// Why a store cannot do what it was asked, in words for the user, with a code for a program.

import { SoongError } from "@soong/core";

export type StoreErrorCode =
  /** No room on the disk, or a bound on the database's size. */
  | "store_full"
  | "store_read_only"
  /** Another process holds the database for longer than we wait. */
  | "store_locked"
  /** What is on disk is not what was written. Nothing more is written to it. */
  | "store_corrupted"
  /** It was removed, moved, replaced or cut short while it was open. Nothing more is written. */
  | "store_lost"
  /** A newer Soong made it. */
  | "store_too_new"
  /** There is something, and it is not a store. */
  | "not_a_store"
  /** None was made there yet. */
  | "store_absent"
  | "store_unavailable"
  | "store_closed"
  | "session_in_use"
  /** Another process has taken it over, or may have: this one was cut off for too long. Nothing more is written. */
  | "session_lost"
  | "session_exists"
  | "session_unknown"
  | "session_removed"
  | "session_closed"
  | "run_exists"
  | "run_unknown"
  | "node_unknown"
  /** Out of order, a seq or a node taken twice, data that is not JSON: a fault of the caller. */
  | "entry_refused";

export class StoreError extends SoongError<StoreErrorCode> {
  override readonly name = "StoreError";
}

// The labelled instants at which a crash would hurt most. A test kills the process there; a program that
// gives no `at` pays one comparison.

export const CRASH_POINTS = [
  "create.file",
  "create.wal",
  "create.tables",
  "session.locked",
  "session.held",
  "recovery.before",
  "recovery.after",
  "entry.taken",
  "commit.before",
  "commit.written",
  "commit.after",
  "artifact.written",
  "artifact.renamed",
  "artifact.kept",
  "folder.before",
  "folder.events",
  "folder.after",
  "remove.marked",
  "remove.files",
  "remove.after",
] as const;

export type CrashPoint = (typeof CRASH_POINTS)[number];

export type AtCrashPoint = (point: CrashPoint) => void;
