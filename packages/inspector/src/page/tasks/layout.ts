// Where each step of a plan is drawn: layers from left to right, the order within them against crossings, and edges as
// paths that go around steps. Pure, and a function of the steps and their dependencies alone: a status moves nothing.

import { layered, type Edge, type Layered, type PlannedStep } from "./layers.ts";
import { ordered, type Place } from "./order.ts";

export const STEP_WIDTH = 208;
export const STEP_HEIGHT = 56;
const COLUMN_GAP = 72;
const ROW_GAP = 20;
/** The height of the lane that a long edge has in a layer it passes. */
const LANE_HEIGHT = 10;
const MARGIN = 16;
/** A plan of chords has more lanes than steps; past this, long edges are drawn across. */
const MAX_LANES = 2000;

export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly steps: ReadonlyMap<string, PlacedStep>;
  /** Ids by layer, from the top. */
  readonly layers: readonly (readonly string[])[];
  readonly edges: readonly DrawnEdge[];
  readonly circular: readonly Edge[];
  readonly missing: readonly Edge[];
}

export interface PlacedStep {
  readonly layer: number;
  readonly x: number;
  readonly y: number;
}

interface DrawnEdge extends Edge {
  /** The `d` of a path. */
  readonly path: string;
  readonly kind: "forward" | "circular";
}

/** `before`: how it was drawn last; steps keep their order as far as that does not cross more edges. */
export function drawPlan(steps: readonly PlannedStep[], before?: Drawing): Drawing {
  const plan = layered(steps);
  const lanes = layLanes(plan);
  const layers = ordered(placesByLayer(plan, lanes, before));
  const tops = settle(layers);
  const highest = Math.min(...tops.values(), 0);
  for (const [id, top] of tops) tops.set(id, top - highest + MARGIN);

  const placed = new Map<string, PlacedStep>();
  for (const id of plan.ids) {
    const layer = plan.layerOf.get(id) ?? 0;
    placed.set(id, { layer, x: columnOf(layer), y: tops.get(id) ?? MARGIN });
  }
  const lowest = Math.max(0, ...Array.from(placed.values(), ({ y }) => y + STEP_HEIGHT));
  return {
    width: columnOf(Math.max(1, layers.length)) - COLUMN_GAP + MARGIN,
    height: Math.max(lowest, ...tops.values()) + MARGIN,
    steps: placed,
    layers: layers.map((layer) => layer.flatMap(({ id }) => (placed.has(id) ? [id] : []))),
    edges: [
      ...plan.edges.map((edge) => ({
        ...edge,
        kind: "forward" as const,
        path: edgePath(edge, lanes, placed, tops),
      })),
      ...plan.circular.map((edge) => ({
        ...edge,
        kind: "circular" as const,
        path: circularPath(edge, placed),
      })),
    ],
    circular: plan.circular,
    missing: plan.missing,
  };
}

function columnOf(layer: number): number {
  return MARGIN + layer * (STEP_WIDTH + COLUMN_GAP);
}

interface Lanes {
  /** The points each long edge passes, one a layer. */
  readonly along: ReadonlyMap<Edge, readonly string[]>;
  readonly layerOf: ReadonlyMap<string, number>;
}

function layLanes(plan: Layered): Lanes {
  const along = new Map<Edge, string[]>();
  const layerOf = new Map<string, number>();
  // Short ones first: with too many, it is the longest that are drawn across.
  const long = plan.edges
    .filter((edge) => span(edge, plan) > 1)
    .toSorted((a, b) => span(a, plan) - span(b, plan));
  for (const edge of long) {
    if (layerOf.size + span(edge, plan) > MAX_LANES) break;
    const first = (plan.layerOf.get(edge.from) ?? 0) + 1;
    const points = Array.from({ length: span(edge, plan) - 1 }, (_, index) => {
      // No step has such an id: theirs come first in the map of places.
      const id = `\u0000${along.size}\u0000${index}`;
      layerOf.set(id, first + index);
      return id;
    });
    along.set(edge, points);
  }
  return { along, layerOf };
}

function span(edge: Edge, plan: Layered): number {
  return (plan.layerOf.get(edge.to) ?? 0) - (plan.layerOf.get(edge.from) ?? 0);
}

function placesByLayer(plan: Layered, lanes: Lanes, before: Drawing | undefined): Place[][] {
  const after = new Map<string, string[]>();
  const earlier = new Map<string, string[]>();
  const join = (from: string, to: string): void => {
    after.set(from, [...(after.get(from) ?? []), to]);
    earlier.set(to, [...(earlier.get(to) ?? []), from]);
  };
  for (const edge of plan.edges) {
    const points = lanes.along.get(edge);
    if (points === undefined && span(edge, plan) > 1) continue;
    const way = [edge.from, ...(points ?? []), edge.to];
    for (let at = 1; at < way.length; at += 1) join(way[at - 1] ?? "", way[at] ?? "");
  }
  const layers: Place[][] = [];
  const put = (id: string, layer: number): void => {
    while (layers.length <= layer) layers.push([]);
    layers[layer]?.push({ id, before: earlier.get(id) ?? [], after: after.get(id) ?? [] });
  };
  for (const id of inOrderOf(plan.ids, before)) put(id, plan.layerOf.get(id) ?? 0);
  for (const [id, layer] of lanes.layerOf) put(id, layer);
  return layers;
}

function inOrderOf(ids: readonly string[], before: Drawing | undefined): readonly string[] {
  if (before === undefined) return ids;
  const top = (id: string): number => before.steps.get(id)?.y ?? Number.POSITIVE_INFINITY;
  return ids.toSorted((a, b) => (top(a) < top(b) ? -1 : Number(top(a) > top(b))));
}

const SETTLING = 6;

/** Tops: each place as near to the middle of its neighbours as the others in its layer leave room for. */
function settle(layers: readonly (readonly Place[])[]): Map<string, number> {
  const middles = new Map<string, number>();
  for (const layer of layers) {
    for (const [index, middle] of packed(
      layer,
      layer.map(() => 0),
    ).entries()) {
      middles.set(layer[index]?.id ?? "", middle);
    }
  }
  for (let round = 0; round < SETTLING; round += 1) {
    const backwards = round % 2 === 1;
    const sequence = backwards ? layers.toReversed() : layers;
    for (const layer of sequence) {
      const wished = layer.map((place) => {
        const near = (backwards ? place.after : place.before).flatMap(
          (id) => middles.get(id) ?? [],
        );
        if (near.length === 0) return middles.get(place.id) ?? 0;
        return near.reduce((sum, at) => sum + at, 0) / near.length;
      });
      for (const [index, middle] of packed(layer, wished).entries()) {
        middles.set(layer[index]?.id ?? "", middle);
      }
    }
  }
  const tops = new Map<string, number>();
  for (const place of layers.flat()) {
    tops.set(place.id, (middles.get(place.id) ?? 0) - heightOf(place) / 2);
  }
  return tops;
}

function heightOf(place: Place): number {
  return place.id.startsWith("\u0000") ? LANE_HEIGHT : STEP_HEIGHT;
}

/** The middles nearest to what is wished (least squares) in which nothing overlaps: neighbours that would are pooled. */
function packed(layer: readonly Place[], wished: readonly number[]): number[] {
  const offsets: number[] = [];
  for (const [index, place] of layer.entries()) {
    const above = layer[index - 1];
    offsets.push(
      above === undefined
        ? 0
        : (offsets[index - 1] ?? 0) + (heightOf(above) + heightOf(place)) / 2 + ROW_GAP,
    );
  }
  const pools: { sum: number; count: number }[] = [];
  for (const [index, offset] of offsets.entries()) {
    let pool = { sum: (wished[index] ?? 0) - offset, count: 1 };
    for (
      let above = pools.at(-1);
      above !== undefined && above.sum / above.count >= pool.sum / pool.count;
      above = pools.at(-1)
    ) {
      pools.pop();
      pool = { sum: pool.sum + above.sum, count: pool.count + above.count };
    }
    pools.push(pool);
  }
  const bases = pools.flatMap(({ sum, count }) => Array.from({ length: count }, () => sum / count));
  return offsets.map((offset, index) => offset + (bases[index] ?? 0));
}

function edgePath(
  edge: Edge,
  lanes: Lanes,
  placed: ReadonlyMap<string, PlacedStep>,
  tops: ReadonlyMap<string, number>,
): string {
  const from = placed.get(edge.from);
  const to = placed.get(edge.to);
  if (from === undefined || to === undefined) return "";
  let x = from.x + STEP_WIDTH;
  let y = from.y + STEP_HEIGHT / 2;
  let path = `M${round(x)} ${round(y)}`;
  for (const point of lanes.along.get(edge) ?? []) {
    const left = columnOf(lanes.layerOf.get(point) ?? 0);
    const middle = (tops.get(point) ?? 0) + LANE_HEIGHT / 2;
    path += `${curve(x, y, left, middle)}H${left + STEP_WIDTH}`;
    x = left + STEP_WIDTH;
    y = middle;
  }
  return path + curve(x, y, to.x, to.y + STEP_HEIGHT / 2);
}

function curve(x: number, y: number, toX: number, toY: number): string {
  const bend = (x + toX) / 2;
  return `C${round(bend)} ${round(y)} ${round(bend)} ${round(toY)} ${round(toX)} ${round(toY)}`;
}

/** From the later step back over the top of both. */
function circularPath(edge: Edge, placed: ReadonlyMap<string, PlacedStep>): string {
  const from = placed.get(edge.from);
  const to = placed.get(edge.to);
  if (from === undefined || to === undefined) return "";
  const middle = STEP_WIDTH / 2;
  const over = Math.max(0, Math.min(from.y, to.y) - ROW_GAP);
  return (
    `M${round(from.x + middle + 12)} ${round(from.y)}` +
    `C${round(from.x + middle + 12)} ${round(over)} ${round(to.x + middle - 12)} ${round(over)} ${round(to.x + middle - 12)} ${round(to.y)}`
  );
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
