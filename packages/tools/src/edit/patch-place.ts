// Finds the place of one hunk among the lines as earlier hunks have left them (EDIT-3), where
// `git apply` would find it: at the line the header expects, else at the nearest one where every line
// is the same, the later one of two equally near. Offsets are allowed, fuzz is not.

import type { PatchHunk } from "./patch-hunks.ts";
import { imageLength } from "./patch-image.ts";
import { isLine } from "./patch-lines.ts";
import { matchesAt, matchesRunOn, runsOn } from "./patch-match.ts";
import { searchOutward, type HunkPlace, type Placing } from "./patch-search.ts";

export interface Fixed {
  /** The hunk must begin at the first line. */
  start: boolean;
  /** The hunk must end at the last line. */
  end: boolean;
}

/**
 * Context that ends early says where the file begins or ends: a hunk for line 1 matches only there, one
 * without context after its last change only at the end. A patch without any context cannot say so.
 */
export function fixedEnds(hunk: PatchHunk, anyContext: boolean): Fixed {
  return {
    start: hunk.oldStart === 0 || (hunk.oldStart === 1 && anyContext),
    end: anyContext && hunk.trailingLines === 0,
  };
}

export function findPlace(placing: Placing, hunk: PatchHunk, fixed: Fixed): HunkPlace {
  const length = imageLength(placing.image);
  const latest = length - hunk.before.length;
  if (latest < 0 || (fixed.start && fixed.end && latest > 0)) return "nowhere";
  const anywhere = Math.min(length, Math.max(0, hunk.newStart - 1));
  const expected = fixed.start ? 0 : fixed.end ? latest : anywhere;
  if (fits(placing, hunk.before, expected, fixed)) return { position: expected };
  if (fixed.start || fixed.end) return "nowhere";
  return searchOutward(placing, hunk.before, expected);
}

function fits(
  placing: Placing,
  before: readonly string[],
  position: number,
  fixed: Fixed,
): boolean {
  const { image, lines } = placing;
  const same = (line: number, index: number): boolean => isLine(lines, line, before[index] ?? "");
  if (matchesAt(image, position, before.length, same)) return true;
  return runsOn(lines, before) && matchesRunOn(placing, position, before, fixed.end);
}
