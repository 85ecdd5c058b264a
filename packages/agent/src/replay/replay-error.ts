// Why a run cannot be replayed, in words for a person, with a code for a program.

export type ReplayErrorCode =
  | "run_unknown"
  /** It was refused, or given up while it waited for its turn: nothing was decided. */
  | "run_never_started"
  /** By a version that did not keep what a replay needs, or where it could not be kept. */
  | "definitions_not_kept"
  /** A fact or an artifact is not what was recorded. */
  | "damaged";

export class ReplayError extends Error {
  readonly code: ReplayErrorCode;

  constructor(code: ReplayErrorCode, message: string) {
    super(message);
    this.name = "ReplayError";
    this.code = code;
  }
}
