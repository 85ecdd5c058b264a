// The spans of a call: their names, how long it spent in each kind, and where on the axis each is drawn.

import type { Lane, Span, SpanKind } from "../../wire/session-records.ts";
import { durationText } from "../parts/time.ts";
import { placeTime, type Extent } from "./axis.ts";

/** Those that can be seen, in percent of the width. What is still running lasts until `now`. */
export function placeBars(spans: readonly Span[], extent: Extent, now: number) {
  return spans.flatMap(([kind, from, to]) => {
    const left = Math.max(0, placeTime(extent, from));
    const right = Math.min(100, placeTime(extent, to ?? now));
    return right < 0 || left > 100 || right < left ? [] : [{ kind, left, width: right - left }];
  });
}

/** From its first to its last moment. */
export function measureLane(lane: Lane, now: number): number {
  const [first, last] = [lane.spans[0], lane.spans.at(-1)];
  return first && last ? Math.max(0, (last[2] ?? now) - first[1]) : 0;
}

/** In the order of a call's life. */
const KINDS = {
  arriving: { name: "checking", phase: "Checked and prepared" },
  queued: { name: "queued", phase: "Queued" },
  waiting: { name: "waiting for the user", phase: "Waited for the user" },
  executing: { name: "executing", phase: "Executed" },
  holding: { name: "holding its result", phase: "Held until its turn" },
} as const satisfies Readonly<Record<SpanKind, { name: string; phase: string }>>;

const SPAN_KINDS = Object.keys(KINDS) as SpanKind[];

/** How long a call was in each of its phases. */
export function sumPhases(spans: readonly Span[], now: number) {
  return SPAN_KINDS.flatMap((kind) => {
    const own = spans.filter(([spanKind]) => spanKind === kind);
    if (own.length === 0) return [];
    const ms = own.reduce((sum, [, from, to]) => sum + Math.max(0, (to ?? now) - from), 0);
    return [{ kind, name: KINDS[kind].phase, ms, is_open: own.some(([, , to]) => to === null) }];
  });
}

/** What it did for how long, in words. */
export function spansText(lane: Lane, now: number): string {
  return sumPhases(lane.spans, now)
    .map(({ kind, ms }) => `${KINDS[kind].name} ${durationText(ms)}`)
    .join(", ");
}

/** Of model requests. */
const REQUEST_BARS = [
  ["request-wait", "waiting for the model"],
  ["request-stream", "the model answers"],
] as const;

export function Legend() {
  return (
    <ul class="legend" aria-label="What a bar means">
      {[...SPAN_KINDS.map((kind) => [kind, KINDS[kind].name] as const), ...REQUEST_BARS].map(
        ([kind, name]) => (
          <li key={kind}>
            <span class="legend-bar" aria-hidden="true">
              <span class={`bar ${kind}`} style={{ left: "0%", width: "100%" }} />
            </span>
            {name}
          </li>
        ),
      )}
    </ul>
  );
}
