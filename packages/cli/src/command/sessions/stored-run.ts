// A run that is kept, by its id. Whoever gives a session instead is told which runs it has.

import type { RunRecord, SessionReader, Store } from "@soong/store";
import { CommandError, visibleLine } from "../../output/index.ts";

export async function findStoredRun(store: Store, run_id: string): Promise<RunRecord> {
  const run = await store.findRun(run_id);
  if (run !== undefined) return run;
  const runs = await listRuns(store, run_id);
  if (runs.length === 0) {
    throw new CommandError(
      `There is no run ${visibleLine(run_id)}. \`soong call --json\` names the run it made; the folders in runs/ of the home have their names.`,
    );
  }
  const last = runs.slice(-SHOWN).map((one) => visibleLine(one.run_id));
  const which = runs.length > SHOWN ? `Its last runs are` : "It has";
  throw new CommandError(
    `${visibleLine(run_id)} is a session, and a run is expected here. ${which} ${last.join(", ")}.`,
  );
}

const SHOWN = 5;

/** None where there is no such session. */
async function listRuns(store: Store, session_id: string): Promise<readonly RunRecord[]> {
  try {
    return await (await store.readSession(session_id)).runs();
  } catch {
    return [];
  }
}

/** The session of a run, verified first: what was edited since says nothing about the run. */
export async function openVerifiedSession(store: Store, run_id: string): Promise<SessionReader> {
  const { session_id } = await findStoredRun(store, run_id);
  const verified = await store.verify(session_id);
  if (!verified.ok) {
    throw new CommandError(
      `The session ${visibleLine(session_id)} is not as it was recorded, so its runs are not replayed: ${verified.problem.message} \`soong verify ${visibleLine(session_id)}\` tells more.`,
    );
  }
  return store.readSession(session_id);
}
