import type { Run, Session } from "@soong/core";

/** The run that a bridge works on, with its session: what `kernel.startRun()` returns. */
export type BridgeRun = Run & { readonly session: Session };
