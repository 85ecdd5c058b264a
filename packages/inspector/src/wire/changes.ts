// What is new since the page last asked. One request at a time: it is held open until there is news, or a while is over.
// A slow page asks later and misses nothing; no one waits for it (EVENT-4).

import type { GrantRow, Question } from "./questions.ts";
import type { SessionRow } from "./sessions.ts";
import type { Lane, RunRow } from "./timeline.ts";

export interface Changes {
  /** Sent back with the next request. */
  cursor: string;
  /** All there are now; omitted when nothing of it changed. */
  home?: HomeState;
  /** Of the requested session; omitted when nothing of it changed. */
  session?: SessionChanges;
  /** Why the requested session cannot be read, though there is one. */
  session_problem?: string;
}

export interface HomeState {
  /** Those used last. */
  sessions: SessionRow[];
  questions: Question[];
  grants: GrantRow[];
  /** Runtimes that are there and do not answer, each as a sentence. */
  problems: string[];
  /** Counts up when a task changed. */
  tasks_version: number;
}

export interface SessionChanges {
  session: SessionRow;
  /** Read so far; less than `session.last_seq` while a long journal is being read. */
  read_seq: number;
  /** New ones, and those that changed. */
  runs: RunRow[];
  lanes: Lane[];
  /** There is more right now: ask again at once. */
  more: boolean;
}
