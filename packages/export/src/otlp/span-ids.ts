// Ids of traces and spans, derived from Soong's own: a live export and one of the stored journal have the same.

import { createHash } from "node:crypto";

/** A span of another program that the runs of a session are part of, by its W3C `traceparent`. */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
}

export function deriveTraceId(session_id: string): string {
  return hashHex(`session:${session_id}`, 32);
}

/** `of`: the kind of span, so that a run and a call of the same id have two. */
export function deriveSpanId(of: "run" | "call" | "model", id: string): string {
  return hashHex(`${of}:${id}`, 16);
}

export interface ParsedTraceParent extends TraceParent {
  /** False: the other program does not record its trace. */
  readonly isSampled: boolean;
}

/** Undefined: it is none, or one that must be ignored. */
export function parseTraceParent(text: string | undefined): ParsedTraceParent | undefined {
  const found = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-|$)/.exec(
    text?.trim() ?? "",
  );
  if (found === null) return undefined;
  const [whole, version, traceId = "", spanId = "", flags = "", more] = found;
  const isOther = version === "ff" || (version === "00" && (more === "-" || whole.length !== 55));
  if (isOther || isZero(traceId) || isZero(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

function hashHex(text: string, digits: number): string {
  const hex = createHash("sha256").update(text).digest("hex").slice(0, digits);
  // All zeros means "none" in OTLP.
  return isZero(hex) ? `${hex.slice(1)}1` : hex;
}

function isZero(hex: string): boolean {
  return /^0+$/.test(hex);
}
