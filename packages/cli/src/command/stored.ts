// Reading what is stored: the store of the home, and sessions, runs and facts in it.

import { lstatSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Fact, Redactor } from "@soong/core";
import type {
  RunRecord,
  SessionPage,
  SessionReader,
  SessionRecord,
  Store,
  StoreOptions,
} from "@soong/store";
import { CommandError, describeAge, fit, visibleLine } from "../output/index.ts";
import { findStoreOptions, openHomeStore, type StorePlace } from "../runtime/home.ts";
import { resolveHome, createHomeRedactor } from "./context.ts";
import type { CommandContext } from "./handler.ts";
import { ambiguousId, filterById, unknownId, type IdSubject } from "./match-id.ts";

/**
 * Runs with the store open for reading. `none`: where nothing was ever stored; a text is what there is none of. What is printed is
 * redacted anyway; `redactor` is for what is cut before: half a secret is not recognised.
 */
export async function withReadOnlyStore<T>(
  context: CommandContext,
  none: string | (() => T),
  work: (store: Store, redactor: Redactor) => Promise<T>,
): Promise<T> {
  const place = findPlace(context);
  const opened = await openForReading(place);
  if (opened === undefined) return typeof none === "string" ? refuseNothingStored(none) : none();
  return using(opened, async (store) => {
    const redactor = await hideSecrets(context, place.home);
    await finishRemovals(store, place);
    return work(store, redactor);
  });
}

/** Undefined where nothing was ever stored. */
export async function openForReading(
  place: StorePlace,
  more: Partial<StoreOptions> = {},
): Promise<Store | undefined> {
  const options = await findStoreOptions(place);
  if (options.url === undefined && !hasStore(place.home)) return undefined;
  const { openStore, StoreError } = await import("@soong/store");
  try {
    return await openStore({ ...options, ...more, readOnly: true });
  } catch (error) {
    const isAbsent = error instanceof StoreError && error.code === "store_absent";
    if (isAbsent && options.url !== undefined) return undefined;
    throw error;
  }
}

/** Whether the store is a database that other machines may use. */
export async function isStoreShared(context: CommandContext): Promise<boolean> {
  return (await findStoreOptions(findPlace(context))).url !== undefined;
}

/** A process that was killed while it removed a session left files: any command clears them away. */
async function finishRemovals(store: Store, place: StorePlace): Promise<void> {
  if ((await store.unfinishedRemovals()).length === 0) return;
  try {
    await (await openHomeStore(place)).close();
  } catch {
    // It can only be read: there is nothing to do but to look.
  }
}

/** Whether there is a database in the home. Throws where that is not known: a store no one may enter is not an empty one. */
export function hasStore(home: string): boolean {
  return lstatSync(join(home, "store", "soong.db"), { throwIfNoEntry: false }) !== undefined;
}

/** The same for writing. */
export async function withStore<T>(
  context: CommandContext,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const place = findPlace(context);
  await hideSecrets(context, place.home);
  return using(await openHomeStore(place), work);
}

function findPlace(context: CommandContext): StorePlace {
  const { env, output } = context;
  return { home: resolveHome(context), env, note: (line) => output.note(line) };
}

async function hideSecrets({ env, output }: CommandContext, home: string): Promise<Redactor> {
  const redactor = await createHomeRedactor(home, env);
  output.hide(redactor);
  return redactor;
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

/** Opens the store to find a session; see `resolveSession`. */
export function findSession(
  context: CommandContext,
  given?: string,
  options?: NewestOptions,
): Promise<SessionRecord> {
  const missing = given === undefined ? "session" : `session ${given}`;
  return withReadOnlyStore(context, missing, (store) =>
    resolveSession(context, store, given, options),
  );
}

export interface NewestOptions {
  /** By default the newest of any kind; with this, the newest in which something was said. */
  readonly isConversation?: boolean;
}

/** By its id, a unique prefix, or a run of it; default: the newest session of this project. */
export async function resolveSession(
  { cwd }: Pick<CommandContext, "cwd">,
  store: Store,
  given?: string,
  options: NewestOptions = {},
): Promise<SessionRecord> {
  if (given === undefined) return findNewestSession(cwd, store, options);
  const found = await findSessions(store, given);
  if (found.length > 1) throw ambiguousId(given, found, SESSION);
  const [session] = found;
  if (session !== undefined) return session;
  const ofRuns = new Set((await findRuns(store, given)).map(({ session_id }) => session_id));
  const [only, ...others] = await Promise.all([...ofRuns].map((id) => readRecord(store, id)));
  if (only === undefined) return refuseUnknownSession(store, given);
  if (others.length > 0) throw ambiguousId(given, [only, ...others], SESSION);
  return only;
}

/** What there is none of, where nothing is stored. */
export function describeRun(given: string | undefined): string {
  return given === undefined ? "run" : `run ${given}`;
}

/** By its id, a unique prefix, or its session, whose newest it is then; default: the newest run of this project. */
export async function resolveRun(
  { cwd }: Pick<CommandContext, "cwd">,
  store: Store,
  given?: string,
): Promise<RunRecord> {
  if (given === undefined) return findNewestRun(cwd, store);
  const runs = await findRuns(store, given);
  const [only] = runs;
  if (only !== undefined && runs.length === 1) return only;
  // Ids of one process begin alike: `0abc` may begin its session and every run of it.
  const sessions = await findSessions(store, given);
  const [session] = sessions;
  if (session !== undefined && sessions.length === 1) {
    const newest = await readNewestRun(store, session.session_id);
    if (newest !== undefined) return newest;
    throw new CommandError(
      `Session ${visibleLine(session.session_id)} has no runs yet: nothing was asked in it.`,
    );
  }
  if (runs.length > 0) throw ambiguousId(given, runs, RUN);
  if (sessions.length > 0) throw ambiguousId(given, sessions, SESSION);
  throw unknownId(given, (await store.findRuns({ idPrefix: "", limit: 1000 })).map(RUN.id), RUN);
}

const SESSION: IdSubject<SessionRecord> = {
  kind: "session",
  id: ({ session_id }) => session_id,
  describe: ({ title = "", updated_at }) =>
    `${fit(visibleLine(title), TITLE_CHARS)}  ${describeAge(updated_at, Date.now())}`.trimStart(),
  hint: "`soong sessions --all` lists them.",
};
const TITLE_CHARS = 60;

const RUN: IdSubject<RunRecord> = {
  kind: "run",
  id: ({ run_id }) => run_id,
  describe: ({ session_id, status, started_at }) =>
    `${status} in ${visibleLine(session_id)}  ${describeAge(started_at, Date.now())}`,
  hint: "Without an id the newest run of this project is meant; `soong sessions` lists sessions, whose id means their newest run.",
};

const MOST_FOUND = 100;

async function findSessions(store: Store, given: string): Promise<SessionRecord[]> {
  if (given === "") return [];
  const pages = [given, `session_${given}`].map((idPrefix) =>
    store.sessions({ idPrefix, limit: MOST_FOUND }),
  );
  return filterById(given, (await Promise.all(pages)).flat(), SESSION);
}

const SHORT_CHARS = 8;

/** As little of each id of ours as means this session alone. */
export async function shortenSessionIds(
  store: Store,
  session_ids: readonly string[],
): Promise<string[]> {
  const counts = new Map<string, number>();
  for (const id of session_ids) counts.set(cutId(id), (counts.get(cutId(id)) ?? 0) + 1);
  return Promise.all(
    session_ids.map(async (id) => {
      const short = cutId(id);
      // Of one process many ids begin alike: those need no look at the store.
      const isAlone = counts.get(short) === 1 && (await findSessions(store, short)).length === 1;
      return isAlone ? short : id.replace(OWN_ID, "$1");
    }),
  );
}

const OWN_ID = /^session_([0-9a-z]{17})$/;

function cutId(session_id: string): string {
  return OWN_ID.exec(session_id)?.[1]?.slice(0, SHORT_CHARS) ?? session_id;
}

async function findRuns(store: Store, given: string): Promise<RunRecord[]> {
  if (given === "") return [];
  const exact = await store.findRun(given);
  if (exact !== undefined) return [exact];
  const pages = [given, `run_${given}`].map((idPrefix) =>
    store.findRuns({ idPrefix, limit: MOST_FOUND }),
  );
  return (await Promise.all(pages)).flat();
}

/** A removed one says so. */
async function refuseUnknownSession(store: Store, given: string): Promise<never> {
  const removed = await store.tombstones();
  const [was] = filterById(given, removed, {
    kind: SESSION.kind,
    id: ({ session_id }) => session_id,
  });
  if (was !== undefined) await store.readSession(was.session_id);
  throw unknownId(given, (await store.sessions({ limit: 1000 })).map(SESSION.id), SESSION);
}

async function readRecord(store: Store, session_id: string): Promise<SessionRecord> {
  return (await store.readSession(session_id)).record();
}

async function findNewestSession(
  cwd: string,
  store: Store,
  { isConversation = false }: NewestOptions,
): Promise<SessionRecord> {
  const project = await resolveProjectPath(cwd);
  for await (const session of iterateSessions(store, { project })) {
    if (!isConversation || (await hasMessages(store, session))) return session;
  }
  const what = isConversation ? "conversation" : "session";
  throw new CommandError(
    `There is no ${what} of ${visibleLine(project)} yet. \`soong sessions --all\` lists those of other projects.`,
  );
}

async function findNewestRun(cwd: string, store: Store): Promise<RunRecord> {
  const project = await resolveProjectPath(cwd);
  for await (const { session_id } of iterateSessions(store, { project })) {
    const run = await readNewestRun(store, session_id);
    if (run !== undefined) return run;
  }
  throw new CommandError(
    `There is no run of ${visibleLine(project)} yet. \`soong sessions --all\` lists the sessions of other projects.`,
  );
}

/** As sessions name it. A directory that is gone still has the name we came in by. */
export function resolveProjectPath(cwd: string): Promise<string> {
  return realpath(cwd).catch(() => cwd);
}

/** Of those that no other run started. */
async function readNewestRun(store: Store, session_id: string): Promise<RunRecord | undefined> {
  const runs = await (await store.readSession(session_id)).runs();
  return selectRootRuns(runs).at(-1);
}

/** Of the runs of one session. The parent of a worker's run may be in another one, on another machine. */
export function selectRootRuns<
  Run extends { readonly run_id?: string; readonly parent_run_id?: string },
>(runs: readonly Run[]): Run[] {
  const here = new Set(runs.map(({ run_id }) => run_id));
  return runs.filter(({ parent_run_id: id }) => id === undefined || !here.has(id));
}

/** `soong call` records what a tool answered, and no one said anything. */
export async function hasMessages(store: Store, { session_id }: SessionRecord): Promise<boolean> {
  const roots = await (await store.readSession(session_id)).children();
  return roots.some(({ kind }) => kind !== "tool_result");
}

/** The session of a run, verified first: what was edited since says nothing about the run. */
export async function openVerifiedSession(
  store: Store,
  { session_id }: Pick<RunRecord, "session_id">,
): Promise<SessionReader> {
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
export async function* iterateSessions(
  store: Store,
  of: Pick<SessionPage, "project"> = {},
): AsyncGenerator<SessionRecord, undefined> {
  for await (const page of readSessionPages(store, of)) yield* page;
  return undefined;
}

export function readSessionPages(
  store: Store,
  of: Pick<SessionPage, "project"> = {},
): AsyncGenerator<readonly SessionRecord[], undefined> {
  return readPages<SessionRecord>(SESSIONS_PAGE, (after) =>
    store.sessions({ ...of, limit: SESSIONS_PAGE, after }),
  );
}

export function readFactPages(
  reader: SessionReader,
  { run_id, after = 0 }: { readonly run_id?: string; readonly after?: number } = {},
): AsyncGenerator<readonly Fact[], undefined> {
  return readPages<Fact>(FACTS_PAGE, (last) =>
    reader.facts({ run_id, after: last?.seq ?? after, limit: FACTS_PAGE }),
  );
}
