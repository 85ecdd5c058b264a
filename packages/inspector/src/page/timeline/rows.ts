// The rows of a timeline: runs, their calls, the runs and calls that those started below them. Pure.

import type { Lane, RunRow } from "../../wire/session-records.ts";
import { callKey, type SessionModel } from "../state/session-model.ts";

export interface Row {
  kind: "run" | "lane" | "request";
  /** A run_id, a callKey, or a requestKey. */
  key: string;
  /** 0 for a run that no one started but the user. */
  depth: number;
  /** Whether what is inside it is shown; undefined when nothing is. */
  is_open: boolean | undefined;
}

type Model = Pick<SessionModel, "runs" | "lanes"> & Partial<Pick<SessionModel, "requests">>;

/**
 * `closed`: keys of those that are shut. `keep`: only these calls, and what leads to them; nothing is shut then.
 */
export function listRows(
  model: Model,
  { closed, keep }: { closed: ReadonlySet<string>; keep?: (lane: Lane) => boolean },
): readonly Row[] {
  const tree = buildTree(model);
  const kept = keep && findKeptRows(tree, model.lanes, keep);
  const rows: Row[] = [];
  // No recursion: how deep it goes is up to the journal.
  const open = tree.inner.get(undefined)?.toReversed() ?? [];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const { kind, key, depth } = node;
    if (kept?.has(key) === false) continue;
    const inner = tree.inner.get(key);
    const is_open = inner && (kept !== undefined || !closed.has(key));
    rows.push({ kind, key, depth, is_open });
    for (const child of is_open ? inner.toReversed() : []) {
      child.depth = depth + 1;
      open.push(child);
    }
  }
  return rows;
}

/** The keys on the way to a row, outermost first: what must be open for it to be seen. */
export function wayTo(model: Model, key: string): readonly string[] {
  const { parents } = buildTree(model);
  const way: string[] = [];
  for (let at = parents.get(key); at !== undefined; at = parents.get(at)) way.unshift(at);
  return way;
}

interface Node {
  kind: Row["kind"];
  key: string;
  seq: number;
  depth: number;
}

interface Tree {
  /** By the key of what they are in; undefined: in nothing. */
  inner: Map<string | undefined, Node[]>;
  parents: Map<string, string>;
}

function buildTree({ runs, lanes, requests = new Map() }: Model): Tree {
  const inner = new Map<string | undefined, Node[]>();
  const parents = new Map<string, string>();
  const prompts = [...runs.values()]
    .filter((run) => run.parent_run_id === undefined)
    .toSorted((a, b) => a.seq - b.seq);
  for (const [key, run] of runs) {
    if (!isOneCall(run)) place("run", key, run.seq, startOf(run));
  }
  for (const [key, { run_id, parent_call_id, seq }] of lanes) {
    const run = runs.get(run_id);
    const isOwn = run !== undefined && isOneCall(run) && run.seq <= seq;
    const parent =
      earlierLane(run_id, parent_call_id, seq) ??
      // Its request may be the first fact of its run.
      (isOwn ? startOf(run) : earlierRun(run_id, seq + 1));
    place("lane", key, seq, parent);
  }
  // Beside the calls of its run: those it asked for come after it.
  for (const [key, { run_id, seq }] of requests) {
    const parent = earlierRun(run_id, seq + 1);
    if (parent !== undefined) place("request", key, seq, parent);
  }
  for (const nodes of inner.values()) nodes.sort((a, b) => a.seq - b.seq);
  return { inner, parents };

  /** The key of what a run is below. */
  function startOf({ parent_run_id, parent_call_id, own_call, status, seq }: RunRow) {
    if (parent_run_id === undefined) return undefined;
    // A file is attached before its prompt is sent. That is in nothing else, so nothing contains itself.
    const isAttached = own_call === "attached" && status === "completed";
    const prompt = isAttached ? prompts.find((prompt) => prompt.seq > seq)?.run_id : undefined;
    return (
      prompt ?? earlierLane(parent_run_id, parent_call_id, seq) ?? earlierRun(parent_run_id, seq)
    );
  }

  // What started something came before it. So nothing contains itself, even in a damaged journal.
  function earlierLane(run_id: string, call_id: string | undefined, seq: number) {
    if (call_id === undefined) return undefined;
    const key = callKey(run_id, call_id);
    return (lanes.get(key)?.seq ?? Infinity) < seq ? key : undefined;
  }

  function earlierRun(run_id: string, seq: number): string | undefined {
    const run = runs.get(run_id);
    return run !== undefined && !isOneCall(run) && run.seq < seq ? run_id : undefined;
  }

  function place(kind: Node["kind"], key: string, seq: number, parent: string | undefined): void {
    if (parent !== undefined) parents.set(key, parent);
    const siblings = inner.get(parent);
    const node = { kind, key, seq, depth: 0 };
    if (siblings === undefined) inner.set(parent, [node]);
    else siblings.push(node);
  }
}

/** What the user attached or typed: its call says all of it, so it has no row of its own. */
function isOneCall({ own_call, parent_run_id }: RunRow): boolean {
  return own_call !== undefined && parent_run_id !== undefined;
}

function findKeptRows(
  { parents }: Tree,
  lanes: SessionModel["lanes"],
  keep: (lane: Lane) => boolean,
): ReadonlySet<string> {
  const kept = new Set<string>();
  for (const [key, lane] of lanes) {
    if (!keep(lane)) continue;
    for (let at: string | undefined = key; at !== undefined && !kept.has(at);) {
      kept.add(at);
      at = parents.get(at);
    }
  }
  return kept;
}
