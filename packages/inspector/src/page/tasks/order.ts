// The order within each layer, against crossings: every place is drawn to the middle of its neighbours, layer after
// layer, there and back, and the order with the fewest crossings is kept. An order that is no better is not taken, so a
// plan that hardly changed looks as it did.

/** A step, or a point where a long edge passes a layer. */
export interface Place {
  readonly id: string;
  /** Ids in the layer before it, and in the one after. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

const SWEEPS = 12;

export function orderLayers(layers: readonly (readonly Place[])[]): (readonly Place[])[] {
  let best = layers.map((layer) => [...layer]);
  let fewest = crossings(best);
  let current = best;
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep += 1) {
    current = sweepLayers(current, sweep % 2 === 0 ? "before" : "after");
    const count = crossings(current);
    if (count < fewest) {
      fewest = count;
      best = current;
    }
  }
  return best;
}

function sweepLayers(layers: readonly Place[][], side: "before" | "after"): Place[][] {
  const result = layers.map((layer) => [...layer]);
  const forwards = side === "before";
  for (let step = 1; step < result.length; step += 1) {
    const at = forwards ? step : result.length - 1 - step;
    const neighbours = positions(result[forwards ? at - 1 : at + 1] ?? []);
    const layer = result[at] ?? [];
    const keys = new Map(
      layer.map((place, index) => [place, barycentre(place[side], neighbours) ?? index]),
    );
    // The sort is stable: equal ones stay as they were.
    result[at] = layer.toSorted((a, b) => (keys.get(a) ?? 0) - (keys.get(b) ?? 0));
  }
  return result;
}

function barycentre(
  ids: readonly string[],
  neighbours: ReadonlyMap<string, number>,
): number | undefined {
  const found = ids.flatMap((id) => neighbours.get(id) ?? []);
  if (found.length === 0) return undefined;
  return found.reduce((sum, at) => sum + at, 0) / found.length;
}

export function crossings(layers: readonly (readonly Place[])[]): number {
  let count = 0;
  for (let at = 1; at < layers.length; at += 1) {
    count += crossingsBetween(layers[at - 1] ?? [], layers[at] ?? []);
  }
  return count;
}

/** Pairs of edges in reversed order, counted with a tree of sums. */
function crossingsBetween(left: readonly Place[], right: readonly Place[]): number {
  const at = positions(right);
  const sums = Array.from({ length: right.length + 1 }, () => 0);
  let drawn = 0;
  let count = 0;
  for (const place of left) {
    const targets = place.after.flatMap((id) => at.get(id) ?? []);
    for (const target of targets) {
      let upTo = 0;
      for (let i = target + 1; i > 0; i -= i & -i) upTo += sums[i] ?? 0;
      count += drawn - upTo;
    }
    for (const target of targets) {
      for (let i = target + 1; i < sums.length; i += i & -i) sums[i] = (sums[i] ?? 0) + 1;
    }
    drawn += targets.length;
  }
  return count;
}

function positions(layer: readonly Place[]): Map<string, number> {
  return new Map(layer.map(({ id }, index) => [id, index]));
}
