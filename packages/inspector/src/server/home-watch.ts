// What every page shows whichever session it looks at: the sessions used last, what waits for the user, what was granted,
// and whether tasks changed. Has another version whenever it is another one.

import type { SessionRecord, Store } from "@soong/store";
import type { HomeState } from "../wire/home-records.ts";
import type { SessionRow } from "../wire/session-records.ts";
import { toInspectorError } from "./answer.ts";
import type { HomeStore } from "./home-store.ts";
import type { InspectorPorts, LiveState } from "./ports.ts";
import type { SessionSummaries } from "./session-summaries.ts";

export type HomeWatch = ReturnType<typeof createHomeWatch>;

/** The list of sessions changes with every fact of any of them; so often it is read again. */
const LIST_MS = 500;
/** Of a store that machines share: who begins and ends is notified, and makes the list be read at once. */
const SHARED_LIST_MS = 2_000;
const MOST_LISTED = 100;

export function createHomeWatch(
  store: HomeStore,
  summaries: SessionSummaries,
  { live, tasks }: Pick<InspectorPorts, "live" | "tasks">,
) {
  let version = 0;
  let known = "";
  let state: HomeState = {
    sessions: [],
    questions: [],
    grants: [],
    problems: [],
    tasks_version: 0,
  };
  let listed: readonly SessionRow[] = [];
  let listedAt = Number.NEGATIVE_INFINITY;
  let listedWith: LiveState | undefined;
  let tasksText: string | undefined;
  let tasksVersion = 0;
  let looking: Promise<void> | undefined;

  return {
    look(): Promise<void> {
      looking ??= lookAgain().finally(() => {
        looking = undefined;
      });
      return looking;
    },
    version: (): number => version,
    state: (): HomeState => state,
  };

  async function lookAgain(): Promise<void> {
    const now = live?.state();
    const problems = [...(now?.problems ?? [])];
    const attempt = async (work: () => Promise<void>): Promise<void> => {
      try {
        await work();
      } catch (error) {
        problems.push(toInspectorError(error).message);
      }
    };
    await attempt(() => list(now));
    await attempt(followTasks);
    const unopened = store.problem();
    if (unopened !== undefined) problems.push(unopened);
    state = {
      sessions: listed.map((row) => ({ ...row, live: now?.sessions.get(row.session_id) })),
      questions: [...(now?.questions ?? [])],
      grants: [...(now?.grants ?? [])],
      // The same may be wrong with several of them.
      problems: [...new Set(problems)],
      tasks_version: tasksVersion,
    };
    const text = JSON.stringify(state);
    if (text === known) return;
    known = text;
    version += 1;
  }

  async function list(now: LiveState | undefined): Promise<void> {
    const opened = await store.find();
    const listMs = opened?.cluster === undefined ? LIST_MS : SHARED_LIST_MS;
    if (now?.sessions === listedWith?.sessions && performance.now() - listedAt < listMs) return;
    listedAt = performance.now();
    listedWith = now;
    const records = opened === undefined ? [] : await sessionsUsedLast(opened, now, MOST_LISTED);
    // Every page gets all of them with each change: in short.
    listed = (await summaries.rows(records, true)).map(({ summary: _summary, ...row }) => row);
  }

  async function followTasks(): Promise<void> {
    const text = await tasks?.version();
    if (text === tasksText) return;
    tasksText = text;
    tasksVersion += 1;
  }
}

/** Those used last, and all that are live however long ago their last fact is. */
async function sessionsUsedLast(
  store: Store,
  live: LiveState | undefined,
  limit: number,
): Promise<SessionRecord[]> {
  const records = await store.sessions({ limit });
  const listed = new Set(records.map(({ session_id }) => session_id));
  for (const session_id of live?.sessions.keys() ?? []) {
    if (listed.has(session_id)) continue;
    try {
      records.push(await (await store.readSession(session_id)).record());
    } catch {
      // Live, and not kept: there is nothing of it to look at.
    }
  }
  return records;
}
