// A session while a command works in it: its facts as they come, and what ends the work early.

import { boundFact } from "@soong/core";
import type { Output } from "../output/index.ts";
import type { StoredSession } from "../runtime/index.ts";
import type { CommandContext } from "./handler.ts";
import { onTermination } from "./signals.ts";

/** One a line, for programs. */
export async function printFacts({ session, kept }: StoredSession, output: Output): Promise<void> {
  for await (const fact of session.facts({ after: kept.lastSeq ?? 0 })) {
    output.line(JSON.stringify(boundFact(fact)));
    await output.drained();
    if (output.isClosed) return;
  }
}

/**
 * Ctrl-C, a signal that ends the process (with its exit code), or an abort from another terminal. Returns how to stop
 * listening.
 */
export function onStop(
  { interrupts }: CommandContext,
  held: StoredSession,
  stop: (reason: string, exitCode?: number) => void,
): () => void {
  const listening = [
    interrupts.on(() => stop("interrupted by the user")),
    onTermination((exitCode) => stop("the process was terminated", exitCode)),
    held.onAbort((reason) => stop(reason)),
  ];
  return () => {
    for (const stopListening of listening) stopListening();
  };
}
