// What the tables of a session hold, as the session keeps it in memory until the next commit.
// A fact's place is its session and its seq in one number, so that facts are in one tree, in order.

import { StoreError, type RunRecord } from "../contract/index.ts";

/** Where the facts of a session begin; seq is what is added. More than two million sessions fit. */
export function placeOfSession(session_no: number): number {
  return session_no * 2 ** 32;
}

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

/**
 * What changes with nearly every commit, in the one row that does so anyway: a page for each would be most
 * of what is written. Moves to the tables when it comes to rest.
 */
export interface OpenState {
  /** Calls that have not ended. */
  readonly calls: readonly CallRow[];
  /** Of runs that have not ended: run_id, last_seq, last_run_seq. */
  readonly runs: readonly (readonly [string, number, number])[];
  /** Of agents with such a run: agent_id, active_node_id. */
  readonly active: readonly (readonly [string, string])[];
}

export const NOTHING_OPEN: OpenState = { calls: [], runs: [], active: [] };

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
  /** JSON of its OpenState. */
  open_state: string;
  /** JSON of who holds it, or held it when it was killed. */
  holder: string | null;
}

export function openStateOf(row: Pick<SessionRow, "session_id" | "open_state">): OpenState {
  try {
    return JSON.parse(row.open_state) as OpenState;
  } catch (error) {
    const message = `What session ${row.session_id} has open cannot be read; its row was changed.`;
    throw new StoreError("store_corrupted", message, { cause: error });
  }
}
