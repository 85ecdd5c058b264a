// A call's way back to the scheduler while it runs: waiting for people, becoming something else,
// ending the run. The turn implements it.

import type { CallClass } from "../schedule/index.ts";

export interface Gate {
  /**
   * Waits for a person: no slot is held, no clock runs (PERM-13, PIPE-6). Comes back when there is an
   * answer and the call may go on.
   */
  waitForPerson<T>(answer: Promise<T>): Promise<T>;
  /** The call is of another class now; comes back when it may go on as that. */
  reclassify(to: CallClass): Promise<void>;
  /** A hook asked for the run to end. */
  stopRun(reason: string, hook: string): void;
}
