// A span that has begun: what it will be made of when it ends.

import type { Attributes } from "./attributes.ts";
import {
  SPAN_FLAGS,
  type OtlpEvent,
  type OtlpSpan,
  type OtlpSpanKind,
  type OtlpStatus,
} from "./otlp-json.ts";

/** The default bound of OpenTelemetry. Later events are counted, not kept. */
export const MOST_EVENTS = 128;

export interface SpanParent {
  readonly spanId: string;
  /** Whether it is a span of another program. Undefined: not known, and it may be part of another export. */
  readonly isRemote?: boolean;
}

interface OpenEvent {
  readonly atMs: number;
  readonly name: string;
  readonly attributes: Attributes;
}

export class OpenSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly startMs: number;
  parent: SpanParent | undefined;
  readonly #events: OpenEvent[] = [];
  #dropped = 0;

  constructor(traceId: string, spanId: string, startMs: number, parent: SpanParent | undefined) {
    this.traceId = traceId;
    this.spanId = spanId;
    this.startMs = startMs;
    this.parent = parent;
  }

  /** `attributes`: made only where the event is kept. */
  addEvent(name: string, atMs: number, attributes: () => Attributes): void {
    if (this.#events.length >= MOST_EVENTS) this.#dropped += 1;
    else this.#events.push({ atMs, name, attributes: attributes() });
  }

  end(as: SpanEnd): OtlpSpan {
    const { parent } = this;
    const startMs = as.startMs ?? this.startMs;
    // Clocks are set back; no span ends before it began.
    const endMs = Math.max(startMs, as.endMs);
    const known =
      parent === undefined || parent.isRemote !== undefined ? SPAN_FLAGS.parentKnown : 0;
    const remote = parent?.isRemote === true ? SPAN_FLAGS.parentRemote : 0;
    return {
      traceId: this.traceId,
      spanId: this.spanId,
      ...(parent === undefined ? undefined : { parentSpanId: parent.spanId }),
      flags: SPAN_FLAGS.sampled | known | remote,
      name: as.name,
      kind: as.kind,
      startTimeUnixNano: toNanos(startMs),
      endTimeUnixNano: toNanos(endMs),
      attributes: as.attributes.list,
      ...(this.#events.length === 0 ? undefined : { events: this.#placeEvents(startMs, endMs) }),
      ...(this.#dropped === 0 ? undefined : { droppedEventsCount: this.#dropped }),
      status: as.status,
    };
  }

  /** A run that waited for its start, and a call that was recorded after its end, have events outside of their time. */
  #placeEvents(startMs: number, endMs: number): OtlpEvent[] {
    return this.#events.map(({ atMs, name, attributes }) => ({
      timeUnixNano: toNanos(Math.min(Math.max(atMs, startMs), endMs)),
      name,
      attributes: attributes.list,
    }));
  }
}

export interface SpanEnd {
  readonly name: string;
  readonly kind: OtlpSpanKind;
  /** Default: when it was opened. */
  readonly startMs?: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly status: OtlpStatus;
}

export const UNSET: OtlpStatus = { code: 0 };

/** `message`: text of the program or a tool; only where content is wanted. */
export function errorStatus(message: string | undefined): OtlpStatus {
  return message === undefined ? { code: 2 } : { code: 2, message };
}

/** Nanoseconds since 1970 as text: more than a number can hold. */
export function toNanos(ms: number): string {
  const whole = Math.min(Math.trunc(ms), MOST_MS);
  return whole > 0 ? `${whole}000000` : "0";
}

/** Of an unsigned number of 64 bits, in nanoseconds. */
const MOST_MS = 18_446_744_073_708;
