// A home as a whole: what became of each session, what runs now, what failed, what was used today, and where a text is.

import type { UsageTotal } from "@soong/agent";
import type { SessionRow } from "./session-records.ts";

/** Single calls, of `soong call` and of the playground, are listed apart from the rest. */
export type SessionGroup = "conversations" | "calls";

export interface HomeOverview {
  /** Those with a run under way that are live, the longest first. */
  running: RunningSession[];
  /** Of the last 24 hours, newest first; at most some. */
  failed: SessionRow[];
  /** What requests used since the time that was asked for; omitted where this inspector cannot tell. */
  used?: UsedSince;
  /** All there are, those used last first. */
  projects: readonly { project?: string; sessions: number }[];
}

export interface RunningSession {
  session: SessionRow;
  /** When the oldest of its runs began. */
  since: string;
  /** What it is at right now; empty where that is not on record. */
  doing: Doing[];
}

export interface Doing {
  what: "model" | "call" | "waiting";
  since: string;
  run_id: string;
  tool_call_id?: string;
  /** A tool, or a model. */
  name: string;
  /** What the call is about, in a line. */
  text?: string;
}

export interface UsedSince {
  total: UsageTotal;
  /** Those that used most first. */
  projects: ProjectUsage[];
  /** There are sessions of that time which were not counted: the sums are lower bounds. */
  is_cut?: boolean;
}

export interface ProjectUsage {
  project?: string;
  sessions: number;
  usage: UsageTotal;
}

/** A page of a search through all conversations, newest first. */
export interface TranscriptSearch {
  hits: TranscriptHit[];
  /** When the oldest message that was looked at was recorded. */
  searched_to?: string;
  /** Where to continue; omitted when everything was searched. */
  next?: string;
}

export interface TranscriptHit {
  session_id: string;
  title?: string;
  project?: string;
  run_id: string;
  node_id: string;
  time: string;
  who: "user" | "model" | "tool" | "context";
  /** Of a result. */
  tool_call_id?: string;
  tool_name?: string;
  /** The line around the text, without secrets. */
  before: string;
  match: string;
  after: string;
}
