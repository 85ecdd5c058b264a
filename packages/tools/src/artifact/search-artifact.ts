// The lines of an artifact that match, in one pass and bounded memory. What is compared is the redacted
// text: a pattern must not find out what a secret is by trying.

import type { ArtifactRef, LinearRegex, ToolContext } from "@soong/core";
import { collectWithNeighbours } from "../search/line-text.ts";
import { decodeWindow, MARGIN, safeBorder } from "./artifact-text.ts";

export interface ArtifactSearch {
  readonly regex: LinearRegex;
  readonly limit: number;
  readonly contextLines: number;
  readonly offset: number;
  /** Bytes the matches may take together. */
  readonly room: number;
}

export interface ArtifactMatch {
  /** Counted from 1 at the offset the search began at. */
  line: number;
  /** Where the line begins in the artifact: a place to read from. */
  offset: number;
  text: string;
  before: string[];
  after: string[];
}

export interface ArtifactMatches {
  matches: ArtifactMatch[];
  /** Set when the search stopped before the end. */
  next_offset?: number;
}

const CHUNK_BYTES = 256 * 1024;
/** A line longer than this is taken apart. */
const LONGEST_LINE = 1024 * 1024;
const MAX_SHOWN_CHARS = 1000;

export async function searchArtifact(
  context: Pick<ToolContext, "artifacts" | "redact" | "signal">,
  artifact: ArtifactRef,
  search: ArtifactSearch,
): Promise<ArtifactMatches> {
  const { artifact_id, size } = artifact;
  const { regex, limit, contextLines } = search;
  const { matches, add } = collectWithNeighbours<ArtifactMatch>(contextLines);
  let { offset: at, room } = search;
  let linesBefore = 0;
  while (at < size) {
    context.signal.throwIfAborted();
    const part = await readPart(context, artifact_id, at, size);
    for (const { text, origin, position } of part.lines) {
      const index = regex.exec(text)?.index;
      const line = linesBefore + origin + 1;
      const shown = around(text, index ?? 0);
      if (index === undefined) {
        add(line, shown);
        continue;
      }
      const offset = part.offsetOf(position);
      // There is no room for another match: this line is where to continue.
      if (matches.length >= limit || room <= 0) return { matches, next_offset: offset };
      add(line, shown, (before) => {
        const size = [shown, ...before].reduce((sum, one) => sum + Buffer.byteLength(one) + 10, 0);
        // What follows a match is about as long as what was before it.
        room -= contextLines > 0 ? 2 * size : size;
        return { line, offset, text: shown, before, after: [] };
      });
    }
    linesBefore += part.lineCount;
    at = part.end;
  }
  return { matches };
}

interface Line {
  readonly text: string;
  /** Which line of the part it comes from, and where that begins. */
  readonly origin: number;
  readonly position: number;
}

interface Part {
  readonly lines: readonly Line[];
  readonly lineCount: number;
  readonly end: number;
  readonly offsetOf: (position: number) => number;
}

/** Whole lines from `at` on, redacted, cut where nothing is cut in two. */
async function readPart(
  context: Pick<ToolContext, "artifacts" | "redact">,
  artifact_id: string,
  at: number,
  size: number,
): Promise<Part> {
  for (let length = CHUNK_BYTES; ; length *= 2) {
    const bytes = await context.artifacts.read(artifact_id, {
      offset: at,
      length: length + MARGIN,
    });
    const last = at + (bytes?.length ?? 0) >= size;
    const window = decodeWindow(Buffer.from(bytes ?? []), at, { first: true, last });
    const { text } = window;
    const limit = last ? text.length : Math.max(0, text.length - MARGIN);
    const lineEnd = last ? limit : text.lastIndexOf("\n", limit - 1) + 1;
    if (lineEnd === 0 && length < LONGEST_LINE && !last) continue;
    const cut = last ? limit : safeLineEnd(text, lineEnd === 0 ? limit : lineEnd, context.redact);
    const raw = splitLines(text.slice(0, cut));
    return {
      lines: withOrigins(splitLines(context.redact(text.slice(0, cut))), raw),
      lineCount: raw.length,
      end: last ? size : window.offsetOf(cut),
      offsetOf: (position) => window.offsetOf(position),
    };
  }
}

function splitLines(text: string): string[] {
  const lines = text.split("\n");
  // What follows the last line end is a line of its own only if there is something.
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Which raw line each redacted one comes from: a hidden key may have spanned several. */
function withOrigins(redacted: readonly string[], raw: readonly string[]): Line[] {
  const positions: number[] = [];
  let position = 0;
  for (const line of raw) {
    positions.push(position);
    position += line.length + 1;
  }
  let next = 0;
  return redacted.map((line, i) => {
    const same = redacted.length === raw.length ? i : raw.indexOf(line, next);
    const origin = Math.min(same === -1 ? next : same, Math.max(0, raw.length - 1));
    next = same === -1 ? next : same + 1;
    const text = line.endsWith("\r") ? line.slice(0, -1) : line;
    return { text, origin, position: positions[origin] ?? 0 };
  });
}

/** The last end of a line at or before `at` that is a safe border; `at` where there is none. */
function safeLineEnd(text: string, at: number, redact: (text: string) => string): number {
  let end = at;
  for (let tries = 0; tries < 20 && end > 0; tries += 1) {
    const border = safeBorder(text, end, redact);
    if (border === end) return end;
    end = text.lastIndexOf("\n", border - 1) + 1;
  }
  return end > 0 ? end : at;
}

/** A long line is shown around its match. */
function around(text: string, index: number): string {
  if (text.length <= MAX_SHOWN_CHARS) return text;
  const start = Math.max(0, Math.min(index - MAX_SHOWN_CHARS / 4, text.length - MAX_SHOWN_CHARS));
  const part = text.slice(start, start + MAX_SHOWN_CHARS);
  return `${start > 0 ? "…" : ""}${part}${start + MAX_SHOWN_CHARS < text.length ? "…" : ""}`;
}
