// What the tables of a session hold, as the session keeps it in memory until the next commit.
// A fact's place is its session and its seq in one number, so that facts are in one tree, in order.

import { isHolder, type LockHolder } from "@soong/platform";
import type { ArtifactRecord } from "@soong/core";
import { omitUndefined } from "@soong/schema";
import { StoreError } from "../contract/store-error.ts";
import type { RunRecord, AgentRecord, CallRecord, SessionRecord } from "../contract/store.ts";
import { fromColumn, omitNulls, readObject } from "../sql/columns.ts";
import { raw } from "../sql/sql.ts";

/** How many places a session has, also as a part of statements: there it is a whole number, a parameter may be a floating one. */
export const PLACES = 2 ** 32;
export const PLACES_SQL = raw(`${PLACES}`);

/**
 * Columns have 64 bits, enough for two billion sessions. Numbers of this language are exact for the first two million;
 * behind those it is slower.
 */
export function factPlace(session_no: number, seq: number): number | bigint {
  const place = session_no * PLACES + seq;
  if (Number.isSafeInteger(place)) return place;
  return BigInt(session_no) * BigInt(PLACES) + BigInt(seq);
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
  /** Its OpenState as a text. */
  open_state: string;
  /** JSON of who holds it, or held it when it was killed. */
  holder: string | null;
}

/** Who holds a session, and from which fact on. */
export interface Holder {
  pid: number;
  /** Where that process is, for a store of many machines. */
  host?: string;
  process?: LockHolder;
  /** The epoch of its lease. */
  epoch?: number;
  since: string;
  seq: number;
}

/** Undefined when it was let go, and when the row was changed by hand: it only helps a message and a shortcut. */
export function readHolder({ holder }: Pick<SessionRow, "holder">): Holder | undefined {
  if (holder === null) return undefined;
  const read = readObject(holder);
  const { pid, host, process, epoch, since, seq } = read ?? {};
  if (typeof pid !== "number" || typeof since !== "string") {
    return { pid: 0, since: "an unknown time", seq: 0 };
  }
  return omitUndefined({
    pid,
    since,
    seq: typeof seq === "number" ? seq : 0,
    host: typeof host === "string" ? host : undefined,
    process: isHolder(process) ? process : undefined,
    epoch: typeof epoch === "number" ? epoch : undefined,
  });
}

/** By run: requested_seq, tool_call_id, tool_name, started_seq. */
type WrittenCalls = Record<string, [number, string, string, number | null][]>;

/** Short, because it is written with nearly every commit: with a thousand calls open, 50 kB instead of 170. */
export function formatOpenState({ calls, runs, active }: OpenState): string {
  // A run may be named as a property that every object has.
  const written = Object.create(null) as WrittenCalls;
  for (const { run_id, requested_seq, tool_call_id, tool_name, started_seq } of calls) {
    (written[run_id] ??= []).push([requested_seq, tool_call_id, tool_name, started_seq]);
  }
  // An earlier version can read a session at rest.
  return JSON.stringify({ calls: calls.length === 0 ? [] : written, runs, active });
}

export function parseOpenState(row: Pick<SessionRow, "session_id" | "open_state">): OpenState {
  try {
    const { calls, ...rest } = JSON.parse(row.open_state) as Omit<OpenState, "calls"> & {
      calls: WrittenCalls | readonly CallRow[];
    };
    const lists = [rest.runs, rest.active];
    const areRows = lists.every((list) => Array.isArray(list) && list.every((row) => isRow(row)));
    if (!areRows) throw new TypeError("not lists of rows");
    return { ...rest, calls: isRows(calls) ? calls : Object.entries(calls).flatMap(readCalls) };
  } catch (error) {
    const message = `What session ${row.session_id} has open cannot be read; its row was changed.`;
    throw new StoreError("store_corrupted", message, { cause: error });
  }
}

/** Refuses a text that was changed by hand. */
export function parseArtifact({ record }: { readonly record: string }): ArtifactRecord {
  try {
    const read = JSON.parse(record) as ArtifactRecord;
    const { artifact_id, sha256, size } = read;
    if ([artifact_id, sha256].every((text) => typeof text === "string") && size >= 0) return read;
  } catch {
    // Refused below.
  }
  const message = "The record of an artifact cannot be read; its row was changed.";
  throw new StoreError("store_corrupted", message);
}

function isRow(value: unknown): boolean {
  return Array.isArray(value);
}

/** As they were written before. */
function isRows(calls: WrittenCalls | readonly CallRow[]): calls is readonly CallRow[] {
  return Array.isArray(calls);
}

function readCalls([run_id, calls]: [string, WrittenCalls[string]]): CallRow[] {
  return calls.map(([requested_seq, tool_call_id, tool_name, started_seq]) => ({
    requested_seq,
    run_id,
    tool_call_id,
    tool_name,
    started_seq,
    ended_seq: null,
    status: null,
  }));
}

// What a reader gets of sessions, runs, agents and calls: the rows of the tables as records.

export function sessionRecord(row: SessionRow): SessionRecord {
  const { session_id, created_at, updated_at, last_seq, head_hash } = row;
  const [title, project] = [fromColumn(row.title), fromColumn(row.project)];
  return omitNulls({ session_id, created_at, updated_at, title, project, last_seq, head_hash });
}

export function runRecord(row: RunRow, session_id: string): RunRecord {
  const { run_id, agent_id, parent_run_id, role, status, started_at, ended_at } = row;
  const { first_seq, last_seq } = row;
  const run = { run_id, session_id, agent_id, parent_run_id, role, status, started_at, ended_at };
  return omitNulls({ ...run, first_seq, last_seq });
}

export function agentRecord({ agent_id, parent_agent_id, active_node_id }: AgentRow): AgentRecord {
  return omitNulls({ agent_id, parent_agent_id, active_node_id });
}

/** Else in the order they came: a child may have appeared before its parent. */
export function parentsFirst(agents: readonly AgentRecord[]): AgentRecord[] {
  const waiting = new Map(agents.map((agent) => [agent.agent_id, agent]));
  const ordered: AgentRecord[] = [];
  for (const agent of agents) place(agent);
  return ordered;

  function place(agent: AgentRecord): void {
    if (!waiting.delete(agent.agent_id)) return;
    const { parent_agent_id } = agent;
    const parent = parent_agent_id === undefined ? undefined : waiting.get(parent_agent_id);
    if (parent !== undefined) place(parent);
    ordered.push(agent);
  }
}

export function callRecord(row: CallRow): CallRecord {
  const { run_id, requested_seq, started_seq, ended_seq, status } = row;
  const [tool_call_id, tool_name] = [fromColumn(row.tool_call_id), fromColumn(row.tool_name)];
  const call = { run_id, tool_call_id, tool_name, requested_seq, started_seq, ended_seq, status };
  return omitNulls(call);
}
