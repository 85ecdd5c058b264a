// A live session somebody is attached to, and what shows it: a terminal, or records for a program.

import type { ControlClient, ControlEvent, LiveRuntime } from "../control/index.ts";

export interface Attached {
  readonly runtime: LiveRuntime;
  readonly client: ControlClient;
  /** Aborted when somebody leaves. */
  readonly left: AbortSignal;
}

export interface AttachedView {
  event(event: ControlEvent): void;
  /** The session has ended, or we leave it. */
  end(how: "ended" | "left"): void;
}
