// The bars of a lane: where on the axis each of its spans stands. Pure.

import type { Lane, Span, SpanKind } from "../../wire/index.ts";
import type { Extent } from "./axis.ts";
import { placeOf } from "./axis.ts";

export interface Bar {
  kind: SpanKind;
  /** In percent of the width. */
  left: number;
  width: number;
}

/** Those that can be seen. What goes on does so until `now`. */
export function barsOf(spans: readonly Span[], extent: Extent, now: number): readonly Bar[] {
  const bars: Bar[] = [];
  for (const [kind, from, to] of spans) {
    const left = Math.max(0, placeOf(extent, from));
    const right = Math.min(100, placeOf(extent, to ?? now));
    if (right < 0 || left > 100 || right < left) continue;
    bars.push({ kind, left, width: right - left });
  }
  return bars;
}

/** From its first to its last moment. */
export function durationOf(lane: Lane, now: number): number {
  const first = lane.spans[0];
  const last = lane.spans[lane.spans.length - 1];
  if (first === undefined || last === undefined) return 0;
  return Math.max(0, (last[2] ?? now) - first[1]);
}

export const SPAN_WORDS: Readonly<Record<SpanKind, string>> = {
  arriving: "arriving",
  queued: "queued",
  waiting: "waiting for a person",
  executing: "executing",
  holding: "holding its result",
};

/** What it did for how long, in words. */
export function spansText(lane: Lane, now: number, duration: (ms: number) => string): string {
  const totals = new Map<SpanKind, number>();
  for (const [kind, from, to] of lane.spans) {
    totals.set(kind, (totals.get(kind) ?? 0) + Math.max(0, (to ?? now) - from));
  }
  return [...totals].map(([kind, ms]) => `${SPAN_WORDS[kind]} ${duration(ms)}`).join(", ");
}
