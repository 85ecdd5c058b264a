// The lines of an artifact that match, in one pass through its bytes and bounded in every way. What is compared is the
// text with its secrets hidden. Lets others work in between (EVENT-4).

import { setImmediate as nextTurn } from "node:timers/promises";
import { createRegex } from "@soong/schema";
import type { ArtifactMatches } from "../wire/session-records.ts";
import { characterStart, type ArtifactBytes } from "./artifact-bytes.ts";
import { bad } from "./ports.ts";
import { isSafeCut, MARGIN, safeCut, type Redact } from "./safe-cut.ts";

/** Where a text first matches; undefined: nowhere. */
export type Pattern = (text: string) => number | undefined;

interface ArtifactSearch {
  readonly pattern: Pattern;
  readonly redact: Redact;
  readonly signal: AbortSignal;
  readonly mostMs: number;
}

export const MOST_MATCHES = 200;
const BLOCK = 256 * 1024;
/** A longer line is looked through in pieces, each of which has the end of the one before it. */
const PIECE = 16 * 1024;
const OVERLAP = 4096;
const SHOWN_CHARS = 300;
/** Steps a character may cost: a pattern that is written out to more would hold up everyone. */
const LARGEST_PATTERN = 500;
const MOST_TRIES = 50;
/** How long others wait at most, between two lines. */
const TURN_MS = 20;

export function compilePattern(q: string, isRegex: boolean): Pattern {
  if (!isRegex) return (text) => (text.includes(q) ? text.indexOf(q) : undefined);
  const compiled = createRegex(q);
  if (!compiled.ok) throw bad(`q: ${compiled.message}`);
  if (compiled.regex.size > LARGEST_PATTERN)
    throw bad("q is too large once its repeats are written out; search for something simpler.");
  return (text) => compiled.regex.exec(text)?.index;
}

export async function searchArtifact(
  artifact: ArtifactBytes,
  { pattern, redact, signal, mostMs }: ArtifactSearch,
): Promise<ArtifactMatches> {
  const matches: ArtifactMatches["matches"] = [];
  const until = performance.now() + mostMs;
  let turn = performance.now();
  let line = 1;
  for (let offset = 0; offset < artifact.record.size;) {
    const block = await readBlock(artifact, offset, redact);
    for (const { text, own, origin, at } of block.pieces) {
      const found = pattern(text);
      if (found !== undefined && (found < own || own === text.length)) {
        if (matches.length === MOST_MATCHES) return { matches, is_cut: true };
        matches.push({ offset: offset + at, line: line + origin, text: around(text, found) });
      }
      const now = performance.now();
      if (now >= until) return { matches, is_cut: true };
      if (now - turn < TURN_MS) continue;
      await nextTurn();
      signal.throwIfAborted();
      turn = performance.now();
    }
    line += block.lineEnds;
    offset = block.next;
  }
  return { matches, is_cut: false };
}

interface Block {
  readonly pieces: readonly Piece[];
  /** Where the next one begins, and how many line ends are before that. */
  readonly next: number;
  readonly lineEnds: number;
}

/** A line, or a piece of a long one. */
interface Piece {
  readonly text: string;
  /** Matches from here on are found again in the piece that follows. */
  readonly own: number;
  /** Which line of the block it is of, from 0, and where it begins, in bytes. */
  readonly origin: number;
  readonly at: number;
}

async function readBlock(artifact: ArtifactBytes, from: number, redact: Redact): Promise<Block> {
  const bytes = await artifact.read(from, from + BLOCK + MARGIN);
  const isLast = from + bytes.length >= artifact.record.size;
  const { end, next } = isLast
    ? { end: bytes.length, next: bytes.length }
    : cutBlock(bytes, redact);
  const own = bytes.subarray(0, end);
  const starts = lineStarts(own);
  const raw = own.toString("utf8").split("\n");
  // Nothing follows the last line end.
  if (raw.at(-1) === "") raw.pop();
  const hidden = redact(raw.join("\n")).split("\n");
  const repeated = own.subarray(next).toString("utf8").length;
  return {
    pieces: hidden.flatMap((text, i) => {
      const origin = findOrigin(i, raw, hidden);
      const line = text.endsWith("\r") ? text.slice(0, -1) : text;
      const isCut = repeated > 0 && i === hidden.length - 1;
      return pieces(line, isCut ? line.length - repeated : line.length, {
        origin,
        at: starts[origin] ?? 0,
      });
    }),
    next: from + next,
    lineEnds: starts.filter((start) => start > 0 && start <= next).length,
  };
}

/**
 * The last line end that cuts no secret in two. A line longer than a block is cut where the block ends, and the next one
 * begins a little before that.
 */
function cutBlock(bytes: Buffer, redact: Redact): { end: number; next: number } {
  const text = bytes.toString("latin1");
  for (let tries = 0, at = BLOCK; tries < MOST_TRIES && at > 0; tries += 1) {
    const end = text.lastIndexOf("\n", at - 1) + 1;
    if (end === 0) break;
    if (isSafeCut(text, end, redact)) return { end, next: end };
    at = end - 1;
  }
  const end = safeCut(text, BLOCK, redact);
  const next = safeCut(text, end - OVERLAP, redact);
  return { end: characterStart(bytes, end), next: characterStart(bytes, next) };
}

function lineStarts(bytes: Buffer): number[] {
  const starts = [0];
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) starts.push(at + 1);
  return starts;
}

/** A hidden key may have spanned several lines: those above and below it are where they were. */
function findOrigin(i: number, raw: readonly string[], hidden: readonly string[]): number {
  const gone = raw.length - hidden.length;
  if (gone <= 0) return i;
  return raw[i + gone] === hidden[i] && raw[i] !== hidden[i] ? i + gone : i;
}

function pieces(line: string, own: number, first: Pick<Piece, "origin" | "at">): Piece[] {
  const found: Piece[] = [];
  let { at } = first;
  for (let from = 0; ; from += PIECE - OVERLAP) {
    const text = line.slice(from, from + PIECE);
    const isLast = from + PIECE >= line.length;
    found.push({ ...first, at, text, own: isLast ? own - from : PIECE - OVERLAP });
    if (isLast) return found;
    at += Buffer.byteLength(line.slice(from, from + PIECE - OVERLAP));
  }
}

/** What is shown of a long line is what surrounds the match. */
function around(text: string, at: number): string {
  if (text.length <= SHOWN_CHARS) return text;
  const from = Math.max(0, Math.min(at - SHOWN_CHARS / 3, text.length - SHOWN_CHARS));
  const part = text.slice(from, from + SHOWN_CHARS);
  return `${from > 0 ? "…" : ""}${part}${from + SHOWN_CHARS < text.length ? "…" : ""}`;
}
