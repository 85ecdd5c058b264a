// Finds the place of one hunk among the lines as earlier hunks have left them (EDIT-3), where
// `git apply` would find it: at the line the header expects, else at the nearest one where every line
// is the same, the later one of two equally near. Offsets are allowed, fuzz is not.

import type { PatchHunk } from "./patch-hunks.ts";
import { firstIndex, imageLength, lineAt, placeOfLine, type PatchImage } from "./patch-image.ts";
import { isLine, readLine, type FileLines } from "./patch-lines.ts";

export interface Placing {
  image: PatchImage;
  lines: FileLines;
  /** How many more lines may be looked at; a patch cannot keep the machine busy for ever. */
  stepsLeft: number;
}

export type HunkPlace = { position: number } | "nowhere" | "too_costly";

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
  const { image, lines } = placing;
  const { before } = hunk;
  const length = imageLength(image);
  const latest = length - before.length;
  if (latest < 0 || (fixed.start && fixed.end && latest > 0)) return "nowhere";
  const anywhere = Math.min(length, Math.max(0, hunk.newStart - 1));
  const expected = fixed.start ? 0 : fixed.end ? latest : anywhere;
  const same = (line: number, index: number): boolean => isLine(lines, line, before[index] ?? "");
  const fits =
    matchesAt(image, expected, before.length, same) ||
    (runsOn(lines, before) && matchesRunOn(placing, expected, before, fixed.end));
  if (fits) return { position: expected };
  return fixed.start || fixed.end ? "nowhere" : searchOutward(placing, before, expected);
}

/**
 * Whether all lines of a hunk stand at one position, untouched by earlier hunks. `same` is asked of the file's
 * line and the index of the line it should be.
 */
export function matchesAt(
  image: PatchImage,
  position: number,
  count: number,
  same: (line: number, index: number) => boolean,
): boolean {
  if (position < 0 || position + count > imageLength(image)) return false;
  for (let index = 0; index < count;) {
    const found = lineAt(image, position + index);
    if (found.run === 0) return false;
    const end = found.line + found.run;
    for (let { line } = found; line < end && index < count; line += 1) {
      if (!same(line, index)) return false;
      index += 1;
    }
  }
  return true;
}

/** Whether a line of the hunk has no line feed, so that the next one would run on from it. */
function runsOn({ file }: FileLines, before: readonly string[]): boolean {
  return file.unit === 1 && before.some((line) => !line.endsWith("\n"));
}

/**
 * What `git apply` does with lines marked "\ No newline at end of file" is its own case. Such a line also matches
 * one that has a line feed, or white space before it, where the lines joined are the beginning of what is there.
 * The whole lines are replaced then. At the end of the file (`atEnd`) nothing may be left over.
 */
function matchesRunOn(
  { image, lines }: Placing,
  position: number,
  before: readonly string[],
  atEnd: boolean,
): boolean {
  const joined = before.join("");
  let used = 0;
  let present = 0;
  const same = (line: number, index: number): boolean => {
    const there = readLine(lines, line);
    if (withoutSpace(there) !== withoutSpace(before[index] ?? "")) return false;
    const part = joined.slice(used, used + there.length);
    used += part.length;
    present += there.length;
    return there.startsWith(part);
  };
  if (!matchesAt(image, position, before.length, same)) return false;
  return used === joined.length && (!atEnd || present === joined.length);
}

function withoutSpace(line: string): string {
  return line.replaceAll(/[ \t\r\n]+/g, "");
}

/** Tries the places of the hunk's rarest line, the nearest first. */
function searchOutward(placing: Placing, before: readonly string[], expected: number): HunkPlace {
  const { image, lines } = placing;
  const index = lines.index();
  const loose = runsOn(lines, before);
  // Up to the first line that runs on, lines are the same only if they are equal.
  const firmCount = loose ? before.findIndex((line) => !line.endsWith("\n")) : before.length;
  const firm = before.slice(0, firmCount).map((line) => index.linesOf.get(line));
  let lead = 0;
  for (const [at, equal] of firm.entries()) {
    if (equal === undefined || equal.lines.length === 0) return "nowhere";
    if (equal.lines.length < (firm[lead]?.lines.length ?? 0)) lead = at;
  }
  const same = (line: number, at: number): boolean => {
    placing.stepsLeft -= 1;
    return index.ids[line] === firm[at]?.id;
  };
  const fits = (position: number): boolean =>
    matchesAt(image, position, firm.length, same) &&
    (!loose || matchesRunOn(placing, position, before, false));

  // Without a firm line any line may be the first.
  const rarest = firm[lead]?.lines;
  const count = rarest?.length ?? lines.count;
  const candidate = (at: number): number => (rarest === undefined ? at : (rarest[at] ?? 0));
  const firstFrom = (line: number): number => firstIndex(count, (at) => candidate(at) >= line);
  const step = (from: number, by: 1 | -1): { at: number; position: number } | undefined => {
    for (let at = from; at >= 0 && at < count;) {
      placing.stepsLeft -= 1;
      const place = placeOfLine(image, candidate(at));
      if (typeof place === "number") return { at, position: place - lead };
      at = by === 1 ? firstFrom(place.end) : firstFrom(place.start) - 1;
    }
    return undefined;
  };
  const first = firstFrom(lineAt(image, expected + lead).line);
  let later = step(first, 1);
  let earlier = step(first - 1, -1);
  while (later !== undefined || earlier !== undefined) {
    const isLater =
      earlier === undefined ||
      (later !== undefined && later.position - expected <= expected - earlier.position);
    const nearest = isLater ? later : earlier;
    if (nearest !== undefined && fits(nearest.position)) return { position: nearest.position };
    if (placing.stepsLeft < 0) return "too_costly";
    if (isLater) later = later && step(later.at + 1, 1);
    else earlier = earlier && step(earlier.at - 1, -1);
  }
  return "nowhere";
}
