// How what sessions have taken gets into the tables. A database has its own way.

import type { StoreError } from "../contract/store-error.ts";
import type { Batch } from "./write-rows.ts";

/** A session with something to commit. */
export interface Pending {
  /** It has something that must survive a loss of power (STORE-6). */
  readonly mustSync: boolean;
  /** What it has. It keeps that until it is committed or put back. */
  take(): Batch;
  /** The tables have it. */
  committed(batch: Batch): void;
  /** They do not, and it is tried again. */
  putBack(): void;
  /** What it has can never be committed: someone else has taken one of its ids. */
  refused(error: StoreError): void;
}

export interface Committer {
  /** There is something new; it is committed soon, or now when it grew large. */
  note(pending: Pending, bytes: number): void;
  /** Settles when all that was noted is on disk; nothing to wait for when it is. `only`: what a session has suffices. */
  flush(only?: Pending): void | Promise<void>;
  /** All of it, now. Throws when the store cannot, and then everything is still there to be tried again. */
  commit(): void | Promise<void>;
  /** After an attempt that failed: throws if another one fails, too. */
  refuseFailed(): void;
  /** Throws when what was committed is not at its place any more. */
  check(): void;
  /** Gives up what it has: its session is let go without having been committed. */
  drop(pending: Pending): void;
  stop(): void;
}
