// The shape of a plan before anything has a place: which steps there are, which dependencies can be drawn forwards, and
// the layer of each. Bad data (unknown dependencies, circles) is separated and never followed endlessly.

export interface PlannedStep {
  readonly step_id: string;
  readonly depends_on: readonly string[];
}

/** `from` is depended on by `to`. */
export interface Edge {
  readonly from: string;
  readonly to: string;
}

export interface Layered {
  /** Each step once, in the order given. */
  readonly ids: readonly string[];
  readonly edges: readonly Edge[];
  /** Those that would close a circle: not in `edges`. */
  readonly circular: readonly Edge[];
  /** Those on steps that are not there. */
  readonly missing: readonly Edge[];
  /** The longest way from a step without dependencies. */
  readonly layerOf: ReadonlyMap<string, number>;
}

export function layered(steps: readonly PlannedStep[]): Layered {
  const ids = [...new Set(steps.map(({ step_id }) => step_id))];
  const known = new Set(ids);
  const edges = new Map<string, Edge>();
  const missing: Edge[] = [];
  for (const { step_id, depends_on } of steps) {
    for (const from of depends_on) {
      const edge = { from, to: step_id };
      if (known.has(from)) edges.set(JSON.stringify([from, step_id]), edge);
      else missing.push(edge);
    }
  }
  const { forward, circular } = withoutCircles(ids, [...edges.values()]);
  return { ids, edges: forward, circular, missing, layerOf: longestPaths(ids, forward) };
}

/** By depth-first search without recursion: an edge back to a step that is still being looked at closes a circle. */
function withoutCircles(
  ids: readonly string[],
  edges: readonly Edge[],
): { forward: Edge[]; circular: Edge[] } {
  const outgoing = byEnd(edges, "from");
  const state = new Map<string, "open" | "done">();
  const circular = new Set<Edge>();
  for (const id of ids) {
    if (state.has(id)) continue;
    const stack = [{ id, next: 0 }];
    state.set(id, "open");
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const edge = outgoing.get(top.id)?.[top.next];
      top.next += 1;
      if (edge === undefined) {
        state.set(top.id, "done");
        stack.pop();
      } else if (state.get(edge.to) === "open") {
        circular.add(edge);
      } else if (!state.has(edge.to)) {
        state.set(edge.to, "open");
        stack.push({ id: edge.to, next: 0 });
      }
    }
  }
  return { forward: edges.filter((edge) => !circular.has(edge)), circular: [...circular] };
}

function longestPaths(ids: readonly string[], edges: readonly Edge[]): Map<string, number> {
  const outgoing = byEnd(edges, "from");
  const waiting = new Map(ids.map((id) => [id, 0]));
  for (const { to } of edges) waiting.set(to, (waiting.get(to) ?? 0) + 1);
  const layerOf = new Map(ids.map((id) => [id, 0]));
  const ready = ids.filter((id) => waiting.get(id) === 0);
  for (let id = ready.pop(); id !== undefined; id = ready.pop()) {
    const after = (layerOf.get(id) ?? 0) + 1;
    for (const { to } of outgoing.get(id) ?? []) {
      layerOf.set(to, Math.max(layerOf.get(to) ?? 0, after));
      const left = (waiting.get(to) ?? 0) - 1;
      waiting.set(to, left);
      if (left === 0) ready.push(to);
    }
  }
  return layerOf;
}

export function byEnd(edges: readonly Edge[], end: "from" | "to"): Map<string, Edge[]> {
  const found = new Map<string, Edge[]>();
  for (const edge of edges) {
    const list = found.get(edge[end]);
    if (list === undefined) found.set(edge[end], [edge]);
    else list.push(edge);
  }
  return found;
}
