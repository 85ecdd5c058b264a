// Explains why a hunk finds no place (EDIT-3): the places nearest to it, what stands there and what
// differs. It only ever explains; nothing here can lead to a change.

import { differences } from "./differences.ts";
import { displayText } from "./file-text.ts";
import type { PatchHunk } from "./patch-hunks.ts";
import { imageOf, positionOf, type PatchImage } from "./patch-image.ts";
import { lineOf, type FileLines } from "./patch-lines.ts";
import { nearestPlaces } from "./patch-nearest.ts";
import { findPlace, type Fixed } from "./patch-place.ts";
import type { HunkPlace } from "./patch-search.ts";
import type { PlanError } from "./planned-text.ts";

export interface PatchMiss {
  lines: FileLines;
  /** As the hunks before this one have left it. */
  image: PatchImage;
  hunk: PatchHunk;
  fixed: Fixed;
  path: string;
  why: Exclude<HunkPlace, object>;
}

export function explainPatchMiss(miss: PatchMiss): PlanError {
  const { hunk, path } = miss;
  const { reason, nearest } = miss.why === "too_costly" ? TOO_COSTLY : explain(miss);
  return {
    code: "patch_apply_failed",
    message: `Hunk ${hunk.number} (${hunk.header}) does not apply to ${path}: ${reason} No hunk has been applied.`,
    details: {
      hunk: hunk.number,
      header: hunk.header,
      expected_line: hunk.oldStart,
      nearest: nearest.map((place) => ({ ...place })),
    },
  };
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
  const { hunk, lines } = miss;
  if (hunk.before.length === 0) return withoutLines(miss);
  const exact = placeOf(lines, hunk, hunk.before);
  if (exact !== undefined) return elsewhere(miss, exact);
  const applied = placeOf(lines, hunk, afterLines(hunk));
  if (applied !== undefined && hunk.after.some((line) => typeof line === "string")) {
    return at(
      miss,
      applied,
      "it is there already: these are the lines as the hunk would leave them",
      ["Leave the hunk out if that is so."],
    );
  }
  return similar(miss);
}

function withoutLines(miss: PatchMiss): Explained {
  return {
    reason:
      "it only adds lines and has no context that says where, which holds for an empty file or, without " +
      "context in any hunk, by line number alone. Add the unchanged lines around the place.",
    nearest: nearAt(miss, miss.hunk.oldStart - 1, "no lines of the hunk to compare"),
  };
}

/** The lines are there, but not where this hunk may go. */
function elsewhere(miss: PatchMiss, position: number): Explained {
  const { hunk, image, fixed } = miss;
  const touched = hunk.before.some((_, index) => positionOf(image, position + index) === undefined);
  if (touched) {
    return at(
      miss,
      position,
      "an earlier hunk has these lines already, as context or to change them",
      ["Hunks must not share lines: join the two."],
    );
  }
  if (fixed.start) {
    return at(
      miss,
      position,
      "the header says line 1, so the hunk must match at the very beginning",
      ["Correct the line numbers in its header."],
    );
  }
  if (fixed.end) {
    return at(
      miss,
      position,
      "without an unchanged line after its last change the hunk must match at the very end",
      ["Add the unchanged lines that follow."],
    );
  }
  return at(miss, position, "earlier hunks of the patch have changed what is around", [
    "Give the hunks in the order of their lines.",
  ]);
}

function similar(miss: PatchMiss): Explained {
  const { hunk, lines } = miss;
  const places = nearestPlaces(lines, hunk).map((position) => {
    return nearPlace(miss, position, differsAt(lines, hunk, position));
  });
  const [first] = places;
  if (first === undefined) {
    return {
      reason:
        "none of its lines is in the file or like one there. Read the file again and make the patch anew.",
      nearest: nearAt(miss, hunk.oldStart - 1, "nothing like the lines of the hunk"),
    };
  }
  return {
    reason: `its lines are not in the file. Nearest is line ${first.line}: ${first.differs}. Copy the lines exactly from the file.`,
    nearest: places,
  };
}

/** In words: the first lines of the hunk that are not as in the file at this place. */
function differsAt({ file, ...lines }: FileLines, hunk: PatchHunk, position: number): string {
  const found: string[] = [];
  let further = 0;
  for (const [index, line] of hunk.before.entries()) {
    const number = position + index + 1;
    const there = number > lines.count ? undefined : lineOf({ file, ...lines }, number - 1);
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

  function shown(line: string): string {
    return displayText(file, Buffer.from(line.slice(0, MOST_TEXT), "latin1"));
  }
}

const MOST_DIFFERENCES = 3;
const MOST_TEXT = 2000;
const MOST_LINES = 20;

function at(
  miss: PatchMiss,
  position: number,
  differs: string,
  advice: readonly string[],
): Explained {
  return {
    reason: `its lines are at line ${position + 1}, but ${differs}. ${advice.join(" ")}`,
    nearest: [nearPlace(miss, position, differs)],
  };
}

function nearAt(miss: PatchMiss, position: number, differs: string): NearPlace[] {
  const { count } = miss.lines;
  return count === 0 ? [] : [nearPlace(miss, Math.min(count - 1, Math.max(0, position)), differs)];
}

function nearPlace({ lines, hunk }: PatchMiss, position: number, differs: string): NearPlace {
  const count = Math.min(Math.max(1, hunk.before.length), MOST_LINES);
  const end = lines.starts[Math.min(lines.count, position + count)] ?? 0;
  const text = lines.bytes.slice(lines.starts[position], end).slice(0, MOST_TEXT);
  return {
    line: position + 1,
    text: displayText(lines.file, Buffer.from(text, "latin1")),
    differs,
  };
}

function afterLines({ before, after }: PatchHunk): string[] {
  return after.map((line) => (typeof line === "string" ? line : (before[line] ?? "")));
}

/** Where these lines are in the file as it is, nearest to where the hunk says. */
function placeOf(lines: FileLines, hunk: PatchHunk, wanted: string[]): number | undefined {
  if (wanted.length === 0) return undefined;
  const placing = { lines, image: imageOf(lines.count), stepsLeft: MOST_STEPS };
  const sought = { ...hunk, before: wanted, newStart: hunk.oldStart };
  const place = findPlace(placing, sought, { start: false, end: false });
  return typeof place === "string" ? undefined : place.position;
}

const MOST_STEPS = 20_000_000;
