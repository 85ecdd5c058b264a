// An artifact as text: part of it decoded, places where it may be cut, and one page of it. Bytes are stored raw, so what
// is shown is redacted before it is cut.

import { isUtf8 } from "node:buffer";
import type { ArtifactRef, ToolContext } from "@soong/core";
import { isLowSurrogate } from "@soong/schema";

/** Longer than any secret we know of: a private key of 16 384 bits has about 13 000 characters. */
export const MARGIN = 16 * 1024;
/** Bytes a margin of characters may take. */
const MARGIN_BYTES = 4 * MARGIN;

/**
 * One page as redacted text. It begins and ends on whole characters and never inside a secret, so pages read one after
 * the other lose nothing and give nothing away.
 */
export async function readPage(
  context: Pick<ToolContext, "artifacts" | "redact">,
  artifact: ArtifactRef,
  range: { readonly offset: number; readonly length: number },
): Promise<{ text: string; offset: number; end: number } | "binary"> {
  const { artifact_id, size } = artifact;
  const from = Math.max(0, range.offset - MARGIN_BYTES);
  const to = Math.min(size, range.offset + range.length + MARGIN_BYTES);
  const read = await context.artifacts.read(artifact_id, { offset: from, length: to - from });
  const bytes = Buffer.from(read ?? []);
  if (bytes.includes(0)) return "binary";

  const window = decodeWindow(bytes, from, { first: from === 0, last: to === size });
  const { text } = window;
  const start = safeBorder(text, window.positionOf(range.offset), context.redact);
  const wanted = window.positionOf(range.offset + range.length);
  const border = wanted === text.length ? wanted : safeBorder(text, wanted, context.redact);
  // A secret as long as the page: it is shown, hidden, with all there is of the window.
  const end = border > start ? border : text.length;
  return {
    text: context.redact(text.slice(start, end)),
    offset: window.offsetOf(start),
    end: window.offsetOf(end),
  };
}

/**
 * Where a text may be cut so that no secret is cut in two: half a secret is not recognised as one. A border is safe when
 * hiding secrets on each side on its own gives the same as hiding them in the whole. The last safe place at or before `at`, going back at most `MARGIN`; `at` itself when there is none.
 */
export function safeBorder(text: string, at: number, redact: (text: string) => string): number {
  const first = Math.max(0, at - MARGIN);
  for (let back = 0; at - back >= first; back = back === 0 ? 16 : back * 4) {
    const border = wholeCharacter(text, at - back);
    if (isSafe(text, border, redact)) return border;
  }
  return isSafe(text, first, redact) ? wholeCharacter(text, first) : at;
}

function isSafe(text: string, border: number, redact: (text: string) => string): boolean {
  const left = text.slice(Math.max(0, border - MARGIN), border);
  const right = text.slice(border, border + MARGIN);
  return left === "" || right === "" || redact(left) + redact(right) === redact(left + right);
}

/** Not between the halves of a surrogate pair. */
function wholeCharacter(text: string, at: number): number {
  return isLowSurrogate(text.charCodeAt(at)) ? at - 1 : at;
}

/**
 * Part of an artifact as text whose every position is known in bytes: UTF-8, or, where the bytes are not that, one
 * character a byte, so that nothing is lost and offsets stay exact. `bytes` are those from `offset` on; `ends` says which ends of the artifact are among them.
 */
export function decodeWindow(
  bytes: Buffer,
  offset: number,
  ends: { readonly first: boolean; readonly last: boolean },
) {
  const from = ends.first ? 0 : firstWhole(bytes);
  const to = ends.last ? bytes.length : lastWhole(bytes);
  const whole = bytes.subarray(from, Math.max(from, to));
  const encoding = isUtf8(whole) ? "utf8" : "latin1";
  const used = encoding === "utf8" ? whole : bytes;
  const start = encoding === "utf8" ? offset + from : offset;
  const text = used.toString(encoding);
  return {
    text,
    offset: start,
    /** The position in the text of a byte of the artifact: of the character it belongs to. */
    positionOf(at: number): number {
      const wanted = Math.min(Math.max(0, at - start), used.length);
      const border = encoding === "utf8" ? characterStart(used, wanted) : wanted;
      return used.toString(encoding, 0, border).length;
    },
    /** The byte of the artifact at which the character at `position` begins. */
    offsetOf: (position: number): number =>
      start + Buffer.byteLength(text.slice(0, position), encoding),
  };
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function firstWhole(bytes: Uint8Array): number {
  let at = 0;
  while (at < 3 && isContinuation(bytes[at])) at += 1;
  return at;
}

/** Without the character at the end of which the rest is missing. */
function lastWhole(bytes: Uint8Array): number {
  const lead = characterStart(bytes, bytes.length - 1);
  const byte = bytes[lead] ?? 0;
  const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
  return lead + length > bytes.length ? lead : bytes.length;
}

function characterStart(bytes: Uint8Array, at: number): number {
  let start = at;
  while (start > 0 && at - start < 3 && isContinuation(bytes[start])) start -= 1;
  return isContinuation(bytes[start]) ? at : start;
}
