// Explains why a hunk finds no place (EDIT-3): the places nearest to it, what is there and what
// differs. It only ever explains; nothing here can lead to a change.

import { displayText } from "../text/file-text.ts";
import { differences } from "./differences.ts";
import { lineNumberAt } from "./find-places.ts";
import { foldText } from "./fold.ts";
import type { PatchHunk } from "./patch-hunks.ts";
import { createImage, placeOfLine, type PatchImage } from "./patch-image.ts";
import { readLine, type FileLines } from "./patch-lines.ts";
import { findPlace, type Fixed, type HunkPlace } from "./patch-place.ts";
import { refusePlan, type RefusedPlan } from "./planned-text.ts";
import { similarPlaces } from "./similar-places.ts";

export interface PatchMiss {
  lines: FileLines;
  /** As the hunks before this one have left it. */
  image: PatchImage;
  hunk: PatchHunk;
  fixed: Fixed;
  path: string;
  why: Exclude<HunkPlace, object>;
}

export function explainPatchMiss(miss: PatchMiss): RefusedPlan {
  const { hunk, path } = miss;
  const { number, header, oldStart } = hunk;
  const { reason, nearest } = miss.why === "too_costly" ? TOO_COSTLY : explain(miss);
  return refusePlan(
    "patch_apply_failed",
    `Hunk ${number} (${header}) does not apply to ${path}: ${reason} No hunk has been applied.`,
    {
      hunk: number,
      header,
      expected_line: oldStart,
      nearest: nearest.map((place) => ({ ...place })),
    },
  );
}

interface NearPlace {
  line: number;
  text: string;
  differs: string;
}

interface Explained {
  reason: string;
  nearest: NearPlace[];
}

const TOO_COSTLY: Explained = {
  reason:
    "its line numbers are far off, and its lines occur so often that looking for the place would take too " +
    "long. Make the patch from the file as it is now.",
  nearest: [],
};

function explain(miss: PatchMiss): Explained {
  const { hunk, lines, image, fixed } = miss;
  const { before, after, oldStart } = hunk;
  /** Some line of the file is at the place that the hunk names. */
  const expected = (differs: string): NearPlace[] =>
    lines.count === 0
      ? []
      : [nearPlace(miss, Math.min(lines.count - 1, Math.max(0, oldStart - 1)), differs)];
  if (before.length === 0) {
    return {
      reason:
        "it only adds lines and has no context that says where, which holds for an empty file or, without " +
        "context in any hunk, by line number alone. Add the unchanged lines around the place.",
      nearest: expected("no lines of the hunk to compare"),
    };
  }
  const there = (position: number, differs: string, advice: string): Explained => ({
    reason: `its lines are at line ${position + 1}, but ${differs}. ${advice}`,
    nearest: [nearPlace(miss, position, differs)],
  });
  const exact = placeOf(lines, hunk, before);
  if (exact !== undefined) {
    // The lines are there, but not where this hunk may go.
    const isTouched = before.some(
      (_, index) => typeof placeOfLine(image, exact + index) !== "number",
    );
    if (isTouched) {
      return there(
        exact,
        "an earlier hunk has these lines already, as context or to change them",
        "Hunks must not share lines: join the two.",
      );
    }
    if (fixed.start) {
      return there(
        exact,
        "the header says line 1, so the hunk must match at the very beginning",
        "Correct the line numbers in its header.",
      );
    }
    if (fixed.end) {
      return there(
        exact,
        "without an unchanged line after its last change the hunk must match at the very end",
        "Add the unchanged lines that follow.",
      );
    }
    return there(
      exact,
      "earlier hunks of the patch have changed what is around",
      "Give the hunks in the order of their lines.",
    );
  }
  const afterLines = after.map((line) => (typeof line === "string" ? line : (before[line] ?? "")));
  const applied = placeOf(lines, hunk, afterLines);
  if (applied !== undefined && after.some((line) => typeof line === "string")) {
    return there(
      applied,
      "it is there already: these are the lines as the hunk would leave them",
      "Leave the hunk out if that is so.",
    );
  }
  const voted = placesByLines(lines, hunk);
  const positions = voted.length > 0 ? voted : placesByText(lines, hunk);
  const nearest = positions.map((position) =>
    nearPlace(miss, position, differsAt(lines, hunk, position)),
  );
  const [first] = nearest;
  if (first === undefined) {
    return {
      reason:
        "none of its lines is in the file or like one there. Read the file again and make the patch anew.",
      nearest: expected("nothing like the lines of the hunk"),
    };
  }
  return {
    reason: `its lines are not in the file. Nearest is line ${first.line}: ${first.differs}. Copy the lines exactly from the file.`,
    nearest,
  };
}

/** In words: the first lines of the hunk that are not as in the file at this place. */
function differsAt(lines: FileLines, hunk: PatchHunk, position: number): string {
  const shown = (line: string): string => displayText(lines.file, line.slice(0, MOST_TEXT));
  const found: string[] = [];
  let further = 0;
  for (const [index, line] of hunk.before.entries()) {
    const number = position + index + 1;
    const there = number > lines.count ? undefined : readLine(lines, number - 1);
    if (line === there) continue;
    if (found.length >= MOST_DIFFERENCES) further += 1;
    else if (there === undefined) found.push(`the file ends before line ${number}`);
    else {
      const words = differences(shown(line), shown(there), { firstLine: number, startsLine: true });
      // Said of an edit's old text there.
      found.push(...words.map((said) => said.replace(": old has ", ": the patch has ")));
    }
    if (there === undefined) break;
  }
  return found.join("; ") + (further > 0 ? `; and ${further} more lines` : "");
}

const MOST_DIFFERENCES = 3;
const MOST_TEXT = 2000;
const MOST_LINES = 20;

function nearPlace({ lines, hunk }: PatchMiss, position: number, differs: string): NearPlace {
  const count = Math.min(Math.max(1, hunk.before.length), MOST_LINES);
  const end = lines.starts[Math.min(lines.count, position + count)] ?? 0;
  const text = lines.bytes.slice(lines.starts[position], end).slice(0, MOST_TEXT);
  return { line: position + 1, text: displayText(lines.file, text), differs };
}

/** Where these lines are in the file as it is, nearest to where the hunk says. */
function placeOf(lines: FileLines, hunk: PatchHunk, wanted: string[]): number | undefined {
  if (wanted.length === 0) return undefined;
  const placing = { lines, image: createImage(lines.count), stepsLeft: MOST_STEPS };
  const sought = { ...hunk, before: wanted, newStart: hunk.oldStart };
  const place = findPlace(placing, sought, { start: false, end: false });
  return typeof place === "string" ? undefined : place.position;
}

const MOST_STEPS = 20_000_000;

const MOST_PLACES = 3;
/** Lines as common as this say little about a place. */
const COMMON = 200;
const MOST_VOTING = 1000;

/**
 * Positions of lines from 0, the best first. Lines the file has too vote for where the hunk would have to begin;
 * when it has none of them, similar text does.
 */
function placesByLines(lines: FileLines, hunk: PatchHunk): number[] {
  const { linesOf } = lines.index();
  const votes = new Map<number, number>();
  for (const [offset, line] of hunk.before.slice(0, MOST_VOTING).entries()) {
    const equal = linesOf.get(line)?.lines ?? [];
    if (equal.length > COMMON) continue;
    for (const at of equal) {
      const start = Math.max(0, at - offset);
      votes.set(start, (votes.get(start) ?? 0) + 1 / equal.length);
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
  const wanted = displayText(file, hunk.before.join(""));
  const folded = foldText(text, "as_zero");
  const places = similarPlaces(folded.bytes, foldText(wanted, "as_zero").bytes, MOST_PLACES);
  const begins = places.map(({ start }) => lineNumberAt(text, folded.positionOf(start)) - 1);
  return [...new Set(begins)];
}
