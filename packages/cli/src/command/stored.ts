// Reading what is stored: the store of the home, and sessions, runs and facts in it.

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { nearestName } from "@soong/schema";
import type { Fact } from "@soong/core";
import type { RunRecord, SessionReader, SessionRecord, Store } from "@soong/store";
import { CommandError, visibleLine } from "../output/index.ts";
import { openHomeStore } from "../runtime/home.ts";
import { resolveHome, createHomeRedactor } from "./context.ts";
import type { CommandContext } from "./handler.ts";

/** Runs with the store open for reading. `none`: where nothing was ever stored; a text is what there is none of. */
export async function withReadOnlyStore<T>(
  context: CommandContext,
  none: string | (() => T),
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const home = resolveHome(context);
  if (!hasStore(home)) return typeof none === "string" ? refuseNothingStored(none) : none();
  await hideSecrets(context, home);
  return using(await openHomeStore(home, { readOnly: true }), async (store) => {
    await finishRemovals(store, home);
    return work(store);
  });
}

/** A process that was killed while it removed a session left files: any command clears them away. */
async function finishRemovals(store: Store, home: string): Promise<void> {
  if ((await store.unfinishedRemovals()).length === 0) return;
  try {
    await (await openHomeStore(home)).close();
  } catch {
    // It can only be read: there is nothing to do but to look.
  }
}

/** Whether anything was ever stored. Throws where that is not known: a store no one may enter is not an empty one. */
export function hasStore(home: string): boolean {
  return lstatSync(join(home, "store", "soong.db"), { throwIfNoEntry: false }) !== undefined;
}

/** The same for writing. */
export async function withStore<T>(
  context: CommandContext,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const home = resolveHome(context);
  await hideSecrets(context, home);
  return using(await openHomeStore(home), work);
}

async function hideSecrets({ env, output }: CommandContext, home: string): Promise<void> {
  output.hide(await createHomeRedactor(home, env));
}

async function using<T>(store: Store, work: (store: Store) => Promise<T>): Promise<T> {
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

export function refuseNothingStored(what: string): never {
  throw new CommandError(
    `There is no ${visibleLine(what)}: nothing is kept in this home yet. \`soong sessions\` lists what is there.`,
  );
}

/** Before anything else is looked for. */
export async function refuseUnknownSession(
  context: CommandContext,
  session_id: string,
): Promise<void> {
  const ids = await withReadOnlyStore(context, `session ${session_id}`, async (store) =>
    (await store.sessions({ limit: 1000 })).map((session) => session.session_id),
  );
  if (ids.includes(session_id)) return;
  const near =
    ids.find((id) => id.startsWith(session_id) || id.startsWith(`session_${session_id}`)) ??
    nearestName(session_id, ids);
  const hint = near === undefined ? "" : ` Did you mean ${visibleLine(near)}?`;
  throw new CommandError(
    `There is no session ${visibleLine(session_id)}.${hint} \`soong sessions\` lists what is there.`,
  );
}

const RUNS_SHOWN = 5;

/** By its id. Where that is the id of a session, its runs are named. */
export async function findStoredRun(store: Store, run_id: string): Promise<RunRecord> {
  const run = await store.findRun(run_id);
  if (run !== undefined) return run;
  const reader = await store.readSession(run_id).catch(() => undefined);
  const runs = (await reader?.runs()) ?? [];
  if (runs.length === 0) {
    throw new CommandError(
      `There is no run ${visibleLine(run_id)}. \`soong call --json\` names the run it made; the folders in runs/ of the home have their names.`,
    );
  }
  const last = runs.slice(-RUNS_SHOWN).map((one) => visibleLine(one.run_id));
  const which = runs.length > RUNS_SHOWN ? `Its last runs are` : "It has";
  throw new CommandError(
    `${visibleLine(run_id)} is a session, and a run is expected here. ${which} ${last.join(", ")}.`,
  );
}

/** The session of a run, verified first: what was edited since says nothing about the run. */
export async function openVerifiedSession(store: Store, run_id: string): Promise<SessionReader> {
  const { session_id } = await findStoredRun(store, run_id);
  const verified = await store.verify(session_id);
  if (verified.ok) return store.readSession(session_id);
  throw new CommandError(
    `The session ${visibleLine(session_id)} is not as it was recorded, so its runs are not replayed: ${verified.problem.message} \`soong verify ${visibleLine(session_id)}\` says more.`,
  );
}

/** Page by page; `fetch` is given the last item of the page before. */
export async function* readPages<T>(
  size: number,
  fetch: (last: T | undefined) => Promise<readonly T[]>,
): AsyncGenerator<readonly T[], undefined> {
  for (let last: T | undefined; ;) {
    const page = await fetch(last);
    if (page.length > 0) yield page;
    if (page.length < size) return undefined;
    last = page.at(-1);
  }
}

const SESSIONS_PAGE = 200;
const FACTS_PAGE = 500;

/** Last used first. */
export function readSessionPages(
  store: Store,
): AsyncGenerator<readonly SessionRecord[], undefined> {
  return readPages<SessionRecord>(SESSIONS_PAGE, (after) =>
    store.sessions({ limit: SESSIONS_PAGE, after }),
  );
}

export async function* iterateSessions(store: Store): AsyncGenerator<SessionRecord, undefined> {
  for await (const page of readSessionPages(store)) yield* page;
  return undefined;
}

export function readFactPages(
  reader: SessionReader,
  { run_id, after = 0 }: { readonly run_id?: string; readonly after?: number } = {},
): AsyncGenerator<readonly Fact[], undefined> {
  return readPages<Fact>(FACTS_PAGE, (last) =>
    reader.facts({ run_id, after: last?.seq ?? after, limit: FACTS_PAGE }),
  );
}
