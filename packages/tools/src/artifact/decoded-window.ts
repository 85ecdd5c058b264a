// Part of an artifact as text whose every position is known in bytes: UTF-8, or, where the bytes are not
// that, one character a byte, so that nothing is lost and offsets stay exact.

import { isUtf8 } from "node:buffer";

export interface DecodedWindow {
  readonly text: string;
  /** Of the first character, in the artifact. */
  readonly offset: number;
  /** The position in the text of a byte of the artifact: of the character it belongs to. */
  positionOf(offset: number): number;
  /** The byte of the artifact at which the character at `position` begins. */
  offsetOf(position: number): number;
}

/** `bytes` are those from `offset` on; `ends` says which ends of the artifact are among them. */
export function decodeWindow(
  bytes: Buffer,
  offset: number,
  ends: { readonly first: boolean; readonly last: boolean },
): DecodedWindow {
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
    positionOf(at) {
      const wanted = Math.min(Math.max(0, at - start), used.length);
      const border = encoding === "utf8" ? characterStart(used, wanted) : wanted;
      return used.toString(encoding, 0, border).length;
    },
    offsetOf: (position) => start + Buffer.byteLength(text.slice(0, position), encoding),
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
