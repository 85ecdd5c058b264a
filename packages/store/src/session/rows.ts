// What the tables of a session hold, as the session keeps it in memory until the next commit.

import type { RunRecord } from "../contract/index.ts";

export interface FactRow {
  readonly seq: number;
  readonly type: string;
  readonly run_index: number | null;
  readonly tool_call_id: string | null;
  readonly line: string;
}

export interface NodeRow {
  readonly node_id: string;
  readonly parent_id: string | null;
  readonly seq: number;
  readonly text: string;
}

export interface RunRow {
  readonly run_index: number;
  readonly run_id: string;
  readonly agent_id: string;
  readonly parent_run_id: string | null;
  role: string | null;
  status: RunRecord["status"];
  readonly started_at: string;
  ended_at: string | null;
  readonly first_seq: number;
  last_seq: number;
  last_run_seq: number;
}

export interface AgentRow {
  readonly agent_index: number;
  readonly agent_id: string;
  readonly parent_agent_id: string | null;
  active_node_id: string | null;
}

export interface CallRow {
  readonly requested_seq: number;
  readonly run_id: string;
  readonly tool_call_id: string;
  readonly tool_name: string;
  started_seq: number | null;
  ended_seq: number | null;
  status: string | null;
}

export interface SessionRow {
  readonly session_no: number;
  readonly session_id: string;
  readonly created_at: string;
  updated_at: string;
  title: string | null;
  project: string | null;
  last_seq: number;
  head_hash: string;
  bytes: number;
  /** JSON of who holds it, or held it when it was killed. */
  holder: string | null;
}
