// The session that is shown: its runs and lanes as received so far. Grows in place, since there may be many
// thousands; `content` counts every change, `shape` those after which there are other rows or rows are elsewhere.

import type { RequestRow } from "../../wire/request-records.ts";
import type { Lane, RunRow, SessionRow } from "../../wire/session-records.ts";
import type { SessionChanges } from "../../wire/home-records.ts";

export interface SessionModel {
  readonly session_id: string;
  readonly session: SessionRow | undefined;
  /** Read so far by the server; less than `session.last_seq` while a long journal is being read. */
  readonly read_seq: number;
  /** The server has more to tell right now. */
  readonly is_loading: boolean;
  readonly runs: ReadonlyMap<string, RunRow>;
  /** By callKey: the id of a call is unique within its run. */
  readonly lanes: ReadonlyMap<string, Lane>;
  /** By requestKey. */
  readonly requests: ReadonlyMap<string, RequestRow>;
  readonly content: number;
  readonly shape: number;
}

export function emptySession(session_id: string): SessionModel {
  return {
    session_id,
    session: undefined,
    read_seq: 0,
    is_loading: true,
    runs: new Map(),
    lanes: new Map(),
    requests: new Map(),
    content: 0,
    shape: 0,
  };
}

/** Another model over the same maps: the model before sees the new runs and lanes as well. */
export function withChanges(model: SessionModel, changes: SessionChanges): SessionModel {
  const runs = model.runs as Map<string, RunRow>;
  const lanes = model.lanes as Map<string, Lane>;
  const requests = model.requests as Map<string, RequestRow>;
  let isUnmoved = true;
  for (const run of changes.runs) {
    isUnmoved &&= isSamePlace(runs.get(run.run_id), run);
    runs.set(run.run_id, run);
  }
  for (const lane of changes.lanes) {
    const key = callKey(lane.run_id, lane.tool_call_id);
    isUnmoved &&= isSamePlace(lanes.get(key), lane);
    lanes.set(key, lane);
  }
  for (const request of changes.requests) {
    const key = requestKey(request.run_id, request.request);
    isUnmoved &&= requests.has(key);
    requests.set(key, request);
  }
  return {
    session_id: model.session_id,
    session: changes.session,
    read_seq: changes.read_seq,
    is_loading: changes.more,
    runs,
    lanes,
    requests,
    content: model.content + 1,
    shape: isUnmoved ? model.shape : model.shape + 1,
  };
}

export function callKey(run_id: string, tool_call_id: string): string {
  return `${run_id} ${tool_call_id}`;
}

/** No id of a call begins so: a run_id holds no line break. */
export function requestKey(run_id: string, request: number): string {
  return `${run_id}\n${request}`;
}

type Placed = Pick<RunRow, "seq" | "parent_run_id" | "parent_call_id">;

function isSamePlace(before: Placed | undefined, after: Placed): boolean {
  return (
    before?.seq === after.seq &&
    before.parent_run_id === after.parent_run_id &&
    before.parent_call_id === after.parent_call_id
  );
}
