// Which part of the time is looked at: the whole session, the visible rows, or what the user chose.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Lane, RunRow } from "../../wire/index.ts";
import type { RowWindow } from "../parts/row-window.ts";
import type { SessionModel } from "../state/session-model.ts";
import { type Extent, extentOf, moved, zoomed } from "./axis.ts";
import type { Row } from "./rows.ts";
import type { RefObject } from "preact";

export interface Axis {
  extent: Extent;
  mode: "whole" | "seen" | "chosen";
  show(mode: "whole" | "seen"): void;
  /** Below 1 looks closer; `part` of the width stays where it is. */
  zoom(factor: number, part?: number): void;
  /** By a part of the width. */
  move(part: number): void;
}

/** With more calls than this a single one of the whole would be too thin to see. */
const MANY_LANES = 200;

export function useAxis(
  model: SessionModel,
  rows: readonly Row[],
  seen: RowWindow,
  now: number,
): Axis {
  const [asked, setAsked] = useState<"whole" | "seen" | Extent>();
  const whole =
    extentOf([], model.runs.values(), now) ?? extentOf(model.lanes.values(), [], now) ?? NOTHING;
  const chosen = asked ?? (model.lanes.size > MANY_LANES ? "seen" : "whole");
  const shown =
    chosen === "whole"
      ? whole
      : chosen === "seen"
        ? (seenExtent(model, rows, seen, now) ?? whole)
        : chosen;
  // The same object as long as it says the same: rows need not be drawn again then.
  const extent = useMemo(() => shown, [shown.from, shown.to]);
  return {
    extent,
    mode: typeof chosen === "string" ? chosen : "chosen",
    show: setAsked,
    zoom(factor, part = 0.5) {
      const around = extent.from + (extent.to - extent.from) * part;
      setAsked(zoomed(extent, factor, around, whole));
    },
    move: (part) => setAsked(moved(extent, (extent.to - extent.from) * part, whole)),
  };
}

/** The axis moves on by so many rows at a time: it would jump with every single one. */
const STEP_ROWS = 8;
const NOTHING: Extent = { from: 0, to: 1_000 };

function seenExtent(
  model: SessionModel,
  rows: readonly Row[],
  seen: RowWindow,
  now: number,
): Extent | undefined {
  const lanes: Lane[] = [];
  const runs: RunRow[] = [];
  const first = Math.floor(seen.first / STEP_ROWS) * STEP_ROWS;
  for (const row of rows.slice(first, Math.ceil(seen.end / STEP_ROWS) * STEP_ROWS)) {
    const lane = row.kind === "lane" ? model.lanes.get(row.key) : undefined;
    if (lane !== undefined) lanes.push(lane);
    const run = row.kind === "run" ? model.runs.get(row.key) : undefined;
    if (run !== undefined) runs.push(run);
  }
  return extentOf(lanes, lanes.length === 0 ? runs : [], now);
}

/** The wheel over a timeline: with Ctrl it zooms, with Shift or sideways it moves in time. */
export function useTimeWheel(chart: RefObject<HTMLElement | null>, axis: Axis): void {
  const latest = useRef(axis);
  latest.current = axis;
  useEffect(() => {
    const element = chart.current;
    if (element === null) return;
    const onWheel = (event: WheelEvent) => {
      const ticks = element.querySelector(".ticks")?.getBoundingClientRect();
      if (ticks === undefined || ticks.width === 0) return;
      if (event.ctrlKey) {
        event.preventDefault();
        const part = Math.min(1, Math.max(0, (event.clientX - ticks.left) / ticks.width));
        latest.current.zoom(event.deltaY > 0 ? 1.25 : 0.8, part);
        return;
      }
      const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
      if (sideways === 0) return;
      event.preventDefault();
      latest.current.move(sideways / ticks.width);
    };
    // Not passive: else the browser would zoom the page.
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, []);
}
