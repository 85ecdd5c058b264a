// The rows of a timeline: runs, their calls, the runs and calls that those started below them. Pure.

import type { Lane, RunRow } from "../../wire/index.ts";
import { callKey, type SessionModel } from "../state/session-model.ts";

export interface Row {
  kind: "run" | "lane";
  /** A run_id, or a callKey. */
  key: string;
  /** 0 for a run that no one started but the user. */
  depth: number;
  /** Whether what is inside it is shown; undefined when nothing is. */
  is_open: boolean | undefined;
}

export interface RowOptions {
  /** Keys of those that are shut. */
  closed: ReadonlySet<string>;
  /** Only these calls, and what leads to them; nothing is shut then. */
  keep?: (lane: Lane) => boolean;
}

export function rowsOf(
  model: Pick<SessionModel, "runs" | "lanes">,
  { closed, keep }: RowOptions,
): readonly Row[] {
  const tree = treeOf(model);
  const kept = keep === undefined ? undefined : keptOf(tree, model.lanes, keep);
  const rows: Row[] = [];
  // No recursion: how deep it goes is up to the journal.
  const open: { nodes: readonly Node[]; next: number }[] = [{ nodes: tree.roots, next: 0 }];
  while (open.length > 0) {
    const level = open[open.length - 1];
    const node = level?.nodes[level.next];
    if (level === undefined || node === undefined) {
      open.pop();
      continue;
    }
    level.next += 1;
    if (kept !== undefined && !kept.has(node.key)) continue;
    const inner = tree.inner.get(node.key);
    const isOpen = inner === undefined ? undefined : kept !== undefined || !closed.has(node.key);
    rows.push({ kind: node.kind, key: node.key, depth: open.length - 1, is_open: isOpen });
    if (inner !== undefined && isOpen === true) open.push({ nodes: inner, next: 0 });
  }
  return rows;
}

/** The keys on the way to a row, outermost first: what must be open for it to be seen. */
export function wayTo(model: Pick<SessionModel, "runs" | "lanes">, key: string): readonly string[] {
  const { parents } = treeOf(model);
  const way: string[] = [];
  for (let at = parents.get(key); at !== undefined; at = parents.get(at)) way.unshift(at);
  return way;
}

interface Node {
  kind: "run" | "lane";
  key: string;
  seq: number;
}

interface Tree {
  roots: Node[];
  inner: Map<string, Node[]>;
  parents: Map<string, string>;
}

function treeOf({ runs, lanes }: Pick<SessionModel, "runs" | "lanes">): Tree {
  const tree: Tree = { roots: [], inner: new Map(), parents: new Map() };
  for (const [key, run] of runs) place(tree, { kind: "run", key, seq: run.seq }, over(run));
  for (const [key, lane] of lanes) place(tree, { kind: "lane", key, seq: lane.seq }, under(lane));
  for (const nodes of [tree.roots, ...tree.inner.values()]) nodes.sort((a, b) => a.seq - b.seq);
  return tree;

  function over(run: RunRow): string | undefined {
    const { parent_run_id, parent_call_id, seq } = run;
    if (parent_run_id === undefined) return undefined;
    const call = earlierLane(parent_run_id, parent_call_id, seq);
    if (call !== undefined) return call;
    return (runs.get(parent_run_id)?.seq ?? Infinity) < seq ? parent_run_id : undefined;
  }

  function under(lane: Lane): string | undefined {
    const call = earlierLane(lane.run_id, lane.parent_call_id, lane.seq);
    if (call !== undefined) return call;
    return (runs.get(lane.run_id)?.seq ?? Infinity) <= lane.seq ? lane.run_id : undefined;
  }

  // What started something came before it. So nothing contains itself, even in a damaged journal.
  function earlierLane(run_id: string, call_id: string | undefined, seq: number) {
    if (call_id === undefined) return undefined;
    const key = callKey(run_id, call_id);
    return (lanes.get(key)?.seq ?? Infinity) < seq ? key : undefined;
  }
}

function place(tree: Tree, node: Node, parent: string | undefined): void {
  if (parent === undefined) {
    tree.roots.push(node);
    return;
  }
  tree.parents.set(node.key, parent);
  const siblings = tree.inner.get(parent);
  if (siblings === undefined) tree.inner.set(parent, [node]);
  else siblings.push(node);
}

function keptOf(
  tree: Tree,
  lanes: ReadonlyMap<string, Lane>,
  keep: (lane: Lane) => boolean,
): ReadonlySet<string> {
  const kept = new Set<string>();
  for (const [key, lane] of lanes) {
    if (!keep(lane)) continue;
    for (let at: string | undefined = key; at !== undefined && !kept.has(at);) {
      kept.add(at);
      at = tree.parents.get(at);
    }
  }
  return kept;
}
