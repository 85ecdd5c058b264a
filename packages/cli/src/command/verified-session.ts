// The session of a run, held against its chain first: what was edited since says nothing about the run.

import type { SessionReader, Store } from "@soong/store";
import { CommandError, visibleLine } from "../output/index.ts";
import { keptRun } from "./kept-run.ts";

export async function verifiedSession(store: Store, run_id: string): Promise<SessionReader> {
  const { session_id } = await keptRun(store, run_id);
  const verified = await store.verify(session_id);
  if (!verified.ok) {
    throw new CommandError(
      `The session ${visibleLine(session_id)} is not as it was recorded, so its runs are not replayed: ${verified.problem.message} \`soong verify ${visibleLine(session_id)}\` tells more.`,
    );
  }
  return store.readSession(session_id);
}
