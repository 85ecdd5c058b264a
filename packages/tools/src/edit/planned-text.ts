// What a planner of changed text hands back: the spans it replaces and the bytes that come of it, or
// one error. Bytes outside the spans are copied, never decoded and encoded again (EDIT-4).

import type { JsonObject } from "@soong/core";

/** `text` takes the place of bytes `start` up to `end` of the text before. */
export interface Span {
  start: number;
  end: number;
  text: Uint8Array;
}

export interface PlanError {
  code: string;
  message: string;
  details?: JsonObject;
}

export type PlannedText =
  | { ok: true; after: Uint8Array; spans: Span[] }
  | { ok: false; error: PlanError };

/** The spans must be in order and must not overlap. */
export function applySpans(before: Uint8Array, spans: readonly Span[]): Uint8Array {
  let size = before.length;
  for (const span of spans) size += span.text.length - (span.end - span.start);
  const after = Buffer.allocUnsafe(size);
  let read = 0;
  let written = 0;
  for (const span of spans) {
    after.set(before.subarray(read, span.start), written);
    written += span.start - read;
    after.set(span.text, written);
    written += span.text.length;
    read = span.end;
  }
  after.set(before.subarray(read), written);
  return after;
}
