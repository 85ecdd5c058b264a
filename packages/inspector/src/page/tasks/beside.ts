// Which step the arrow keys lead to: along edges to the sides, within its layer up and down.

import { byEnd } from "./layers.ts";
import type { Drawing, PlacedStep } from "./layout.ts";

export type Direction = "left" | "right" | "up" | "down" | "first" | "last";

/** The step next to one: along its edges to the sides, within its layer up and down. */
export function stepBeside(drawing: Drawing, id: string, direction: Direction): string | undefined {
  const here = drawing.steps.get(id);
  if (direction === "first") return drawing.layers[0]?.[0];
  if (direction === "last") return drawing.layers.at(-1)?.at(-1);
  if (here === undefined) return drawing.layers[0]?.[0];
  if (direction === "up" || direction === "down") {
    const layer = drawing.layers[here.layer] ?? [];
    return layer[layer.indexOf(id) + (direction === "up" ? -1 : 1)];
  }
  const forward = drawing.edges.filter(({ kind }) => kind === "forward");
  const near =
    direction === "left"
      ? (byEnd(forward, "to").get(id) ?? []).map(({ from }) => from)
      : (byEnd(forward, "from").get(id) ?? []).map(({ to }) => to);
  const layer = drawing.layers[here.layer + (direction === "left" ? -1 : 1)] ?? [];
  return nearest(drawing, here, near) ?? nearest(drawing, here, layer);
}

function nearest(drawing: Drawing, here: PlacedStep, ids: readonly string[]): string | undefined {
  const distance = (id: string): number => {
    const there = drawing.steps.get(id);
    return there === undefined
      ? Number.POSITIVE_INFINITY
      : Math.abs(there.y - here.y) + Math.abs(there.layer - here.layer) * 1000;
  };
  return ids.toSorted((a, b) => distance(a) - distance(b))[0];
}
