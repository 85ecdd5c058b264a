// How long a call was in each of its phases.

import type { Span, SpanKind } from "../../wire/index.ts";

interface Phase {
  readonly kind: SpanKind;
  readonly name: string;
  readonly ms: number;
  readonly is_going_on: boolean;
}

const NAMES: Readonly<Record<SpanKind, string>> = {
  arriving: "Checked and prepared",
  queued: "Queued",
  waiting: "Waited for a person",
  executing: "Executed",
  holding: "Held until it was its turn",
};

const ORDER: readonly SpanKind[] = ["arriving", "queued", "waiting", "executing", "holding"];

export function phasesOf(spans: readonly Span[], now: number): Phase[] {
  return ORDER.flatMap((kind) => {
    const own = spans.filter(([spanKind]) => spanKind === kind);
    if (own.length === 0) return [];
    const ms = own.reduce((sum, [, from, to]) => sum + Math.max(0, (to ?? now) - from), 0);
    return [{ kind, name: NAMES[kind], ms, is_going_on: own.some(([, , to]) => to === null) }];
  });
}
