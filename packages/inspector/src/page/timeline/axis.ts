// The axis of time: which part of it is looked at, and where its ticks are. Milliseconds, pure.

import type { Lane, RunRow } from "../../wire/index.ts";

/** What is looked at; `to` is after `from`. */
export interface Extent {
  from: number;
  to: number;
}

const SHORTEST_MS = 1;

/** From the first to the last moment of these, with what is still running until `now`. */
export function extentOf(
  lanes: Iterable<Lane>,
  runs: Iterable<RunRow>,
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
  return from === Infinity ? undefined : padded({ from, to: Math.max(to, from) });
}

/** With a little room, so that a mark at the end is seen. */
function padded({ from, to }: Extent): Extent {
  const length = Math.max(SHORTEST_MS, to - from);
  return { from, to: from + length * 1.03 };
}

/** `factor` below 1 looks closer. `around` stays where it is. */
export function zoomed(extent: Extent, factor: number, around: number, whole: Extent): Extent {
  const length = extent.to - extent.from;
  const next = Math.min(whole.to - whole.from, Math.max(SHORTEST_MS * 10, length * factor));
  const part = (around - extent.from) / length;
  return within({ from: around - next * part, to: around + next * (1 - part) }, whole);
}

export function moved(extent: Extent, byMs: number, whole: Extent): Extent {
  return within({ from: extent.from + byMs, to: extent.to + byMs }, whole);
}

function within({ from, to }: Extent, whole: Extent): Extent {
  const length = Math.min(to - from, whole.to - whole.from);
  const start = Math.min(Math.max(from, whole.from), whole.to - length);
  return { from: start, to: start + length };
}

/** The position of a moment, in percent; may be outside. */
export function placeOf(extent: Extent, time: number): number {
  return ((time - extent.from) / (extent.to - extent.from)) * 100;
}

export interface Tick {
  time: number;
  label: string;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
];

/** At most `most` marks at round times since `origin`. */
export function ticksOf(extent: Extent, origin: number, most: number): readonly Tick[] {
  const length = extent.to - extent.from;
  const wanted = length / Math.max(1, most);
  const step = STEPS.find((step) => step >= wanted) ?? Math.ceil(wanted / DAY) * DAY;
  const ticks: Tick[] = [];
  if (!Number.isFinite(origin) || !Number.isFinite(step)) return ticks;
  const first = Math.ceil((extent.from - origin) / step);
  const last = Math.floor((extent.to - origin) / step);
  for (let at = first; at <= last; at += 1) {
    ticks.push({ time: origin + at * step, label: sinceText(at * step, step) });
  }
  return ticks;
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
