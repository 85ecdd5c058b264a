// The axis of time: which part of it is looked at (the whole session, the visible rows, or what the user chose), and where
// its ticks are. Milliseconds.

import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Lane, RunRow } from "../../wire/session-records.ts";
import type { RowWindow } from "../parts/virtual-list.tsx";
import type { SessionModel } from "../state/session-model.ts";
import type { Row } from "./rows.ts";

/** What is looked at; `to` is after `from`. */
export interface Extent {
  from: number;
  to: number;
}

const SHORTEST_MS = 1;

/** From the first to the last moment of these, with what is still running until `now`. */
export function measureExtent(
  lanes: Iterable<Lane>,
  runs: Iterable<Pick<RunRow, "started_at" | "ended_at">>,
  now: number,
): Extent | undefined {
  let from = Infinity;
  let to = -Infinity;
  for (const { spans, yielded_at } of lanes) {
    const first = spans[0];
    if (first === undefined) continue;
    from = Math.min(from, first[1]);
    to = Math.max(to, spans[spans.length - 1]?.[2] ?? now, yielded_at ?? 0);
  }
  for (const { started_at, ended_at } of runs) {
    from = Math.min(from, started_at);
    to = Math.max(to, ended_at ?? now);
  }
  // With a little room, so that a mark at the end is seen.
  const room = Math.max(SHORTEST_MS, to - from) * 1.03;
  return from === Infinity ? undefined : { from, to: from + room };
}

/** `factor` below 1 looks closer. `around` stays where it is. */
export function zoomExtent(extent: Extent, factor: number, around: number, whole: Extent): Extent {
  const length = extent.to - extent.from;
  const next = Math.min(whole.to - whole.from, Math.max(SHORTEST_MS * 10, length * factor));
  const part = (around - extent.from) / length;
  return within({ from: around - next * part, to: around + next * (1 - part) }, whole);
}

export function moveExtent(extent: Extent, byMs: number, whole: Extent): Extent {
  return within({ from: extent.from + byMs, to: extent.to + byMs }, whole);
}

function within({ from, to }: Extent, whole: Extent): Extent {
  const length = Math.min(to - from, whole.to - whole.from);
  const start = Math.min(Math.max(from, whole.from), whole.to - length);
  return { from: start, to: start + length };
}

/** The position of a moment, in percent; may be outside. */
export function placeTime(extent: Extent, time: number): number {
  return ((time - extent.from) / (extent.to - extent.from)) * 100;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  ...[1, 10, 100].flatMap((n) => [n, 2 * n, 5 * n]),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
];

/** At most `most` marks at round times since `origin`. */
export function placeTicks(extent: Extent, origin: number, most: number) {
  const length = extent.to - extent.from;
  const wanted = length / Math.max(1, most);
  const step = STEPS.find((step) => step >= wanted) ?? Math.ceil(wanted / DAY) * DAY;
  if (!Number.isFinite(origin) || !Number.isFinite(step)) return [];
  const first = Math.ceil((extent.from - origin) / step);
  const last = Math.floor((extent.to - origin) / step);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => {
    const since = (first + index) * step;
    return { time: origin + since, label: sinceText(since, step) };
  });
}

/** `0:03.25`, `12:05`, `1:02:05`, as exact as the step needs. */
export function sinceText(ms: number, step: number): string {
  const sign = ms < 0 ? "−" : "";
  const all = Math.abs(Math.round(ms));
  const decimals = step >= SECOND ? 0 : step >= 100 ? 1 : step >= 10 ? 2 : 3;
  const seconds = Math.floor(all / SECOND) % 60;
  const part = String(all % SECOND)
    .padStart(3, "0")
    .slice(0, decimals);
  const minutes = Math.floor(all / MINUTE);
  const tail = `${String(seconds).padStart(2, "0")}${decimals === 0 ? "" : `.${part}`}`;
  if (minutes < 60) return `${sign}${minutes}:${tail}`;
  return `${sign}${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${tail}`;
}

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
    measureExtent([], model.runs.values(), now) ??
    measureExtent(model.lanes.values(), [], now) ??
    NOTHING;
  const chosen = asked ?? (model.lanes.size > MANY_LANES ? "seen" : "whole");
  const inSight = chosen === "seen" ? seenExtent(model, rows, seen, now) : undefined;
  const shown = typeof chosen === "string" ? (inSight ?? whole) : chosen;
  // The same object as long as it says the same: rows need not be drawn again then.
  const extent = useMemo(() => shown, [shown.from, shown.to]);
  return {
    extent,
    mode: typeof chosen === "string" ? chosen : "chosen",
    show: setAsked,
    zoom(factor, part = 0.5) {
      const around = extent.from + (extent.to - extent.from) * part;
      setAsked(zoomExtent(extent, factor, around, whole));
    },
    move: (part) => setAsked(moveExtent(extent, (extent.to - extent.from) * part, whole)),
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
  const first = Math.floor(seen.first / STEP_ROWS) * STEP_ROWS;
  const inSight = rows.slice(first, Math.ceil(seen.end / STEP_ROWS) * STEP_ROWS);
  const lanes = inSight.flatMap(({ kind, key }) => (kind === "lane" && model.lanes.get(key)) || []);
  const runs = inSight.flatMap(({ kind, key }) => (kind === "run" && model.runs.get(key)) || []);
  const requests = inSight.flatMap(
    ({ kind, key }) => (kind === "request" && model.requests.get(key)) || [],
  );
  const isEmpty = lanes.length + requests.length === 0;
  return measureExtent(lanes, isEmpty ? runs : requests, now);
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
