// What is kept, and which of it is live.

import type { ArtifactRecord, ContentBlock, Fact, FactLevel, NodeKind } from "@soong/core";

export interface SessionRow {
  session_id: string;
  title?: string;
  project?: string;
  created_at: string;
  updated_at: string;
  last_seq: number;
  /** The process that holds it now, where its socket answers. */
  live?: LiveSession;
}

export interface LiveSession {
  pid: number;
  project: string;
  runs: readonly { run_id: string; agent_id: string; role: string; started_at: string }[];
  questions: number;
}

export interface SessionList {
  sessions: SessionRow[];
  /** More of them, older. */
  next?: string;
}

/** The conversation along the path that an agent continues from: what the model reads, oldest first. */
export interface Conversation {
  agent_id: string;
  items: ConversationItem[];
  /** How many older ones were omitted; ask with `before` = the first item's node_id. */
  older: number;
}

export interface ConversationItem {
  node_id: string;
  run_id: string;
  kind: NodeKind;
  role: "user" | "assistant" | "tool" | "context";
  tool_call_id?: string;
  is_error?: boolean;
  /** Calls that the model asked for in this message. */
  calls?: readonly { tool_call_id?: string; tool_name: string }[];
  /** Long ones are cut; `cut` says by how many characters. */
  content: readonly ContentBlock[];
  cut?: number;
}

export interface ArtifactList {
  artifacts: ArtifactRecord[];
}

/** A page of an artifact as text, in whole characters. Bytes that are no text come as `hex`. */
export interface ArtifactPage {
  artifact: ArtifactRecord;
  offset: number;
  /** Where the next page begins; omitted at the end. */
  next_offset?: number;
  /** Of the first line on this page, from 1; omitted for bytes. */
  line?: number;
  text?: string;
  hex?: string;
}

export interface ArtifactMatches {
  matches: { offset: number; line: number; text: string }[];
  /** There are more than were looked for. */
  is_cut: boolean;
}

/** The journal as a list: a row is one line, the whole fact is asked for by its seq. */
export interface FactRow {
  seq: number;
  time: string;
  type: string;
  level: FactLevel;
  run_id?: string;
  tool_call_id?: string;
  tool_name?: string;
  /** What it says, in a line. */
  text: string;
}

/** `total` facts in the session, or in the run; rows from `offset` on, counted from 0. */
export interface FactRows {
  total: number;
  offset: number;
  rows: FactRow[];
}

export interface WholeFact {
  fact: Fact;
}
