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

export interface RefusedPlan {
  ok: false;
  error: PlanError;
}

export type PlannedText = { ok: true; after: Uint8Array; spans: Span[] } | RefusedPlan;

export function refusePlan(code: string, message: string, details?: JsonObject): RefusedPlan {
  return { ok: false, error: { code, message, details } };
}

/** Half of a character, which no file can hold. */
export const LONE_SURROGATE = /\p{Surrogate}/u;

/** The spans must be in order and must not overlap. */
export function applySpans(before: Uint8Array, spans: readonly Span[]): Buffer {
  const pieces: Uint8Array[] = [];
  let read = 0;
  for (const { start, end, text } of spans) {
    pieces.push(before.subarray(read, start), text);
    read = end;
  }
  return Buffer.concat([...pieces, before.subarray(read)]);
}
