// Why a run, or a piece of it, cannot be replayed: in words for the user, and for a run with a code for programs.

import { type Fact, SoongError } from "@soong/core";

export type ReplayErrorCode =
  | "run_unknown"
  /** It was refused, or given up while it waited for its turn: nothing was decided. */
  | "run_never_started"
  /** By a version that did not keep what a replay needs, or where it could not be kept. */
  | "definitions_not_kept"
  /** A fact or an artifact is not what was recorded. */
  | "damaged";

export class ReplayError extends SoongError<ReplayErrorCode> {
  override readonly name = "ReplayError";
}

/** Ends a piece that cannot be compared, and nothing else. */
export class NotComparable extends Error {
  readonly fact: Fact;

  constructor(fact: Fact, why: string) {
    super(why);
    this.fact = fact;
  }
}
