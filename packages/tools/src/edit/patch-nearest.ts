// The places of a file most like the lines of a hunk that is not there. Lines the file has too vote for
// where the hunk would have to begin; when it has none of them, similar text does.

import { foldText } from "./fold.ts";
import { displayText } from "./file-text.ts";
import type { PatchHunk } from "./patch-hunks.ts";
import type { FileLines } from "./patch-lines.ts";
import { similarPlaces } from "./similar-places.ts";

/** Positions of lines from 0, the best first. */
export function nearestPlaces(lines: FileLines, hunk: PatchHunk): number[] {
  const voted = placesByLines(lines, hunk);
  return voted.length > 0 ? voted : placesByText(lines, hunk);
}

const MOST_PLACES = 3;
/** Lines as common as this say little about a place. */
const COMMON = 200;
const MOST_VOTING = 1000;

function placesByLines(lines: FileLines, hunk: PatchHunk): number[] {
  const { idOf, counts, first, next } = lines.index();
  const votes = new Map<number, number>();
  for (const [offset, line] of hunk.before.slice(0, MOST_VOTING).entries()) {
    const id = idOf.get(line);
    if (id === undefined || (counts[id] ?? 0) > COMMON) continue;
    const weight = 1 / (counts[id] ?? 1);
    for (let at = first[id] ?? -1; at !== -1; at = next[at] ?? -1) {
      const start = Math.max(0, at - offset);
      votes.set(start, (votes.get(start) ?? 0) + weight);
    }
  }
  const far = (start: number): number => Math.abs(start - (hunk.oldStart - 1));
  return [...votes]
    .toSorted(([a, weightA], [b, weightB]) => weightB - weightA || far(a) - far(b))
    .slice(0, MOST_PLACES)
    .map(([start]) => start);
}

function placesByText(lines: FileLines, hunk: PatchHunk): number[] {
  const { file, starts } = lines;
  const text = displayText(file, file.bytes.subarray(starts[0]));
  const wanted = displayText(file, Buffer.from(hunk.before.join(""), "latin1"));
  const folded = foldText(text, "as_zero");
  const places = similarPlaces(folded.bytes, foldText(wanted, "as_zero").bytes, MOST_PLACES);
  const begins = places.map(({ start }) => lineNumber(text, folded.positionOf(start)));
  return [...new Set(begins)];
}

function lineNumber(text: string, position: number): number {
  let line = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < position; at = text.indexOf("\n", at + 1)) {
    line += 1;
  }
  return line;
}
