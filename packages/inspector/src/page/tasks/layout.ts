// Where each step of a plan is drawn: layers from left to right, the order within them against crossings, and edges as
// paths that go around steps. Pure, and a function of the steps and their dependencies alone: a status moves nothing. Bad
// data (unknown dependencies, circles) is separated and never followed endlessly.

import { orderLayers, type Place } from "./order.ts";

export const STEP_WIDTH = 208;
export const STEP_HEIGHT = 56;
const COLUMN_GAP = 72;
const ROW_GAP = 20;
/** The height of the lane that a long edge has in a layer it passes. */
const LANE_HEIGHT = 10;
const MARGIN = 16;
/** A plan of chords has more lanes than steps; past this, long edges are drawn across. */
const MAX_LANES = 2000;

export interface PlannedStep {
  readonly step_id: string;
  readonly depends_on: readonly string[];
}

/** `from` is depended on by `to`. */
interface Edge {
  readonly from: string;
  readonly to: string;
}

export interface PlacedStep {
  readonly layer: number;
  readonly x: number;
  readonly y: number;
}

export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly steps: ReadonlyMap<string, PlacedStep>;
  /** Ids by layer, from the top. */
  readonly layers: readonly (readonly string[])[];
  /** `path`: the `d` of it. */
  readonly edges: readonly (Edge & { path: string; kind: "forward" | "circular" })[];
  /** Those that would close a circle. */
  readonly circular: readonly Edge[];
  /** Those on steps that are not there. */
  readonly missing: readonly Edge[];
}

/** `before`: how it was drawn last; steps keep their order as far as that does not cross more edges. */
export function drawPlan(steps: readonly PlannedStep[], before?: Drawing): Drawing {
  const plan = layerSteps(steps);
  const lanes = layLanes(plan);
  const layers = orderLayers(placesByLayer(plan, lanes, before));
  const tops = settle(layers);
  const highest = Math.min(...tops.values(), 0);
  for (const [id, top] of tops) tops.set(id, top - highest + MARGIN);

  const placed = new Map<string, PlacedStep>();
  for (const [id, layer] of plan.layerOf) {
    placed.set(id, { layer, x: placeColumn(layer), y: tops.get(id) ?? MARGIN });
  }
  const lowest = Math.max(0, ...Array.from(placed.values(), ({ y }) => y + STEP_HEIGHT));
  const draw = (kind: "forward" | "circular") => (edge: Edge) => {
    const [from, to] = [placed.get(edge.from), placed.get(edge.to)];
    if (from === undefined || to === undefined) return { ...edge, kind, path: "" };
    const points = (lanes.get(edge) ?? []).map(({ id, layer }) => ({
      x: placeColumn(layer),
      y: (tops.get(id) ?? 0) + LANE_HEIGHT / 2,
    }));
    const path = kind === "forward" ? edgePath(from, points, to) : circularPath(from, to);
    return { ...edge, kind, path };
  };
  return {
    width: placeColumn(Math.max(1, layers.length)) - COLUMN_GAP + MARGIN,
    height: Math.max(lowest, ...tops.values()) + MARGIN,
    steps: placed,
    layers: layers.map((layer) => layer.flatMap(({ id }) => (placed.has(id) ? [id] : []))),
    edges: [...plan.edges.map(draw("forward")), ...plan.circular.map(draw("circular"))],
    circular: plan.circular,
    missing: plan.missing,
  };
}

function placeColumn(layer: number): number {
  return MARGIN + layer * (STEP_WIDTH + COLUMN_GAP);
}

interface Layered extends Pick<Drawing, "circular" | "missing"> {
  /** Those that can be drawn forwards. */
  readonly edges: readonly Edge[];
  /** Of each step, in the order given: the longest way from a step without dependencies. */
  readonly layerOf: ReadonlyMap<string, number>;
}

function layerSteps(steps: readonly PlannedStep[]): Layered {
  const layerOf = new Map(steps.map(({ step_id }) => [step_id, 0]));
  const edges = new Map<string, Edge>();
  const missing: Edge[] = [];
  for (const { step_id: to, depends_on } of steps) {
    for (const from of depends_on) {
      if (layerOf.has(from)) edges.set(JSON.stringify([from, to]), { from, to });
      else missing.push({ from, to });
    }
  }
  const outgoing = new Map(steps.map(({ step_id }) => [step_id, [] as Edge[]]));
  for (const edge of edges.values()) outgoing.get(edge.from)?.push(edge);
  const circular = new Set<Edge>();
  // By depth-first search without recursion: an edge back to a step that is still being looked at closes a circle.
  const state = new Map<string, "open" | "done">();
  const finished: string[] = [];
  for (const id of layerOf.keys()) {
    if (state.has(id)) continue;
    const stack = [{ id, next: 0 }];
    state.set(id, "open");
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const edge = outgoing.get(top.id)?.[top.next];
      top.next += 1;
      if (edge === undefined) {
        state.set(top.id, "done");
        finished.push(top.id);
        stack.pop();
      } else if (state.get(edge.to) === "open") {
        circular.add(edge);
      } else if (!state.has(edge.to)) {
        state.set(edge.to, "open");
        stack.push({ id: edge.to, next: 0 });
      }
    }
  }
  const forward = [...edges.values()].filter((edge) => !circular.has(edge));
  // What was finished last depends on nothing that was finished before it.
  for (const id of finished.toReversed()) {
    for (const edge of outgoing.get(id) ?? []) {
      if (circular.has(edge)) continue;
      const layer = (layerOf.get(id) ?? 0) + 1;
      layerOf.set(edge.to, Math.max(layerOf.get(edge.to) ?? 0, layer));
    }
  }
  return { edges: forward, circular: [...circular], missing, layerOf };
}

/** The points each long edge passes, one a layer. No step has such an id. */
type Lanes = ReadonlyMap<Edge, readonly { readonly id: string; readonly layer: number }[]>;

const LANE = "\u0000";

function layLanes({ edges, layerOf }: Layered): Lanes {
  const lanes = new Map<Edge, { id: string; layer: number }[]>();
  const span = ({ from, to }: Edge) => (layerOf.get(to) ?? 0) - (layerOf.get(from) ?? 0);
  let laid = 0;
  // Short ones first: with too many, it is the longest that are drawn across.
  for (const edge of edges.toSorted((a, b) => span(a) - span(b))) {
    if (laid + span(edge) > MAX_LANES) break;
    const first = (layerOf.get(edge.from) ?? 0) + 1;
    const points = Array.from({ length: span(edge) - 1 }, (_, index) => ({
      id: `${LANE}${lanes.size}${LANE}${index}`,
      layer: first + index,
    }));
    laid += points.length;
    lanes.set(edge, points);
  }
  return lanes;
}

function placesByLayer(plan: Layered, lanes: Lanes, before: Drawing | undefined): Place[][] {
  const after = new Map<string, string[]>();
  const earlier = new Map<string, string[]>();
  const layers: Place[][] = [];
  const put = (id: string, layer: number): void => {
    while (layers.length <= layer) layers.push([]);
    const place = { id, before: [], after: [] };
    earlier.set(id, place.before);
    after.set(id, place.after);
    layers[layer]?.push(place);
  };
  const top = (id: string) => before?.steps.get(id)?.y ?? Number.POSITIVE_INFINITY;
  const ids = [...plan.layerOf.keys()];
  for (const id of ids.toSorted((a, b) => (top(a) < top(b) ? -1 : Number(top(a) > top(b))))) {
    put(id, plan.layerOf.get(id) ?? 0);
  }
  for (const { id, layer } of [...lanes.values()].flat()) put(id, layer);
  for (const [{ from, to }, points] of lanes) {
    const way = [from, ...points.map(({ id }) => id), to];
    for (const [at, id] of way.entries()) {
      const next = way[at + 1];
      if (next === undefined) continue;
      after.get(id)?.push(next);
      earlier.get(next)?.push(id);
    }
  }
  return layers;
}

const SETTLING = 6;

/** Tops: each place as near to the middle of its neighbours as the others in its layer leave room for. */
function settle(layers: readonly (readonly Place[])[]): Map<string, number> {
  const middles = new Map<string, number>();
  const pack = (layer: readonly Place[], wish: (place: Place) => number): void => {
    const packed = packLayer(layer, layer.map(wish));
    for (const [index, { id }] of layer.entries()) middles.set(id, packed[index] ?? 0);
  };
  for (const layer of layers) pack(layer, () => 0);
  for (let round = 0; round < SETTLING; round += 1) {
    const side = round % 2 === 1 ? "after" : "before";
    for (const layer of side === "after" ? layers.toReversed() : layers) {
      pack(layer, (place) => {
        const near = place[side].flatMap((id) => middles.get(id) ?? []);
        if (near.length === 0) return middles.get(place.id) ?? 0;
        return near.reduce((sum, at) => sum + at, 0) / near.length;
      });
    }
  }
  return new Map(
    layers
      .flat()
      .map((place) => [place.id, (middles.get(place.id) ?? 0) - measurePlace(place) / 2]),
  );
}

function measurePlace({ id }: Place): number {
  return id.startsWith(LANE) ? LANE_HEIGHT : STEP_HEIGHT;
}

/** The middles nearest to what is wished (least squares) in which nothing overlaps: neighbours that would are pooled. */
function packLayer(layer: readonly Place[], wished: readonly number[]): number[] {
  const offsets: number[] = [];
  const pools: { sum: number; count: number }[] = [];
  for (const [index, place] of layer.entries()) {
    const above = layer[index - 1];
    const gap = above === undefined ? 0 : (measurePlace(above) + measurePlace(place)) / 2 + ROW_GAP;
    const offset = (offsets[index - 1] ?? 0) + gap;
    offsets.push(offset);
    const pool = { sum: (wished[index] ?? 0) - offset, count: 1 };
    for (
      let last = pools.at(-1);
      last !== undefined && last.sum / last.count >= pool.sum / pool.count;
      last = pools.at(-1)
    ) {
      pools.pop();
      pool.sum += last.sum;
      pool.count += last.count;
    }
    pools.push(pool);
  }
  const bases = pools.flatMap(({ sum, count }) => Array.from({ length: count }, () => sum / count));
  return offsets.map((offset, index) => offset + (bases[index] ?? 0));
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** `points`: the left ends of the lanes it passes. */
function edgePath(from: PlacedStep, points: readonly Point[], to: PlacedStep): string {
  let at: Point = { x: from.x + STEP_WIDTH, y: from.y + STEP_HEIGHT / 2 };
  let path = `M${round(at.x)} ${round(at.y)}`;
  for (const point of points) {
    const end = point.x + STEP_WIDTH;
    path += `${curve(at, point)}H${end}`;
    at = { x: end, y: point.y };
  }
  return path + curve(at, { x: to.x, y: to.y + STEP_HEIGHT / 2 });
}

function curve(from: Point, to: Point): string {
  const bend = round((from.x + to.x) / 2);
  return `C${bend} ${round(from.y)} ${bend} ${round(to.y)} ${round(to.x)} ${round(to.y)}`;
}

/** From the later step back over the top of both. */
function circularPath(from: PlacedStep, to: PlacedStep): string {
  const [left, right] = [round(from.x + STEP_WIDTH / 2 + 12), round(to.x + STEP_WIDTH / 2 - 12)];
  const over = round(Math.max(0, Math.min(from.y, to.y) - ROW_GAP));
  return `M${left} ${round(from.y)}C${left} ${over} ${right} ${over} ${right} ${round(to.y)}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

export type Direction = "left" | "right" | "up" | "down" | "first" | "last";

/** Which step an arrow key leads to: along its edges to the sides, within its layer up and down. */
export function stepBeside(drawing: Drawing, id: string, direction: Direction): string | undefined {
  const { steps, layers, edges } = drawing;
  const here = steps.get(id);
  if (direction === "last") return layers.at(-1)?.at(-1);
  if (direction === "first" || here === undefined) return layers[0]?.[0];
  const layer = layers[here.layer] ?? [];
  if (direction === "up") return layer[layer.indexOf(id) - 1];
  if (direction === "down") return layer[layer.indexOf(id) + 1];
  const [own, other] = direction === "left" ? (["to", "from"] as const) : (["from", "to"] as const);
  const near = edges.filter((edge) => edge.kind === "forward" && edge[own] === id);
  const beside = layers[here.layer + (direction === "left" ? -1 : 1)] ?? [];
  const distance = (id: string) => {
    const there = steps.get(id) ?? here;
    return Math.abs(there.y - here.y) + Math.abs(there.layer - here.layer) * 1000;
  };
  const ids = near.length > 0 ? near.map((edge) => edge[other]) : beside;
  return ids.toSorted((a, b) => distance(a) - distance(b))[0];
}
