// What every page shows whichever session it looks at: the sessions used last, what waits for the user, what was granted,
// and whether tasks changed. Has another version whenever it is another one.

import type { SessionRecord } from "@soong/store";
import type { HomeState } from "../wire/index.ts";
import { toInspectorError } from "./answer.ts";
import type { HomeStore } from "./home-store.ts";
import type { InspectorPorts, LiveState } from "./ports.ts";
import { sessionRow, sessionsUsedLast } from "./session-rows.ts";

export interface HomeWatch {
  look(): Promise<void>;
  version(): number;
  state(): HomeState;
}

/** The list of sessions changes with every fact of any of them; so often it is read again. */
const LIST_MS = 500;
const MOST_LISTED = 100;

export function createHomeWatch(
  store: HomeStore,
  { live, tasks }: Pick<InspectorPorts, "live" | "tasks">,
): HomeWatch {
  let version = 0;
  let known = "";
  let state: HomeState = {
    sessions: [],
    questions: [],
    grants: [],
    problems: [],
    tasks_version: 0,
  };
  let listed: readonly SessionRecord[] = [];
  let listedAt = Number.NEGATIVE_INFINITY;
  let listedWith: LiveState | undefined;
  let tasksText: string | undefined;
  let tasksVersion = 0;
  let looking: Promise<void> | undefined;

  return {
    look() {
      looking ??= lookAgain().finally(() => {
        looking = undefined;
      });
      return looking;
    },
    version: () => version,
    state: () => state,
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
      sessions: listed.map((record) => sessionRow(record, now)),
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
    if (now?.sessions === listedWith?.sessions && performance.now() - listedAt < LIST_MS) return;
    listedAt = performance.now();
    listedWith = now;
    const opened = await store.find();
    listed = opened === undefined ? [] : await sessionsUsedLast(opened, now, MOST_LISTED);
  }

  async function followTasks(): Promise<void> {
    const text = await tasks?.version();
    if (text === tasksText) return;
    tasksText = text;
    tasksVersion += 1;
  }
}
