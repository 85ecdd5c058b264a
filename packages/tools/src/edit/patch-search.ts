// Looks for the lines of a hunk away from where they are expected, nearest first. Its rarest line is
// looked up when there are few of its kind; otherwise the untouched lines are walked through outward, in
// growing rings.

import {
  imageLength,
  positionOf,
  untouchedFrom,
  untouchedUpTo,
  type PatchImage,
} from "./patch-image.ts";
import type { FileLines, LineIndex } from "./patch-lines.ts";
import { matchesAt, matchesRunOn, runsOn } from "./patch-match.ts";

export interface Placing {
  image: PatchImage;
  lines: FileLines;
  /** How many more lines may be looked at; a patch cannot keep the machine busy for ever. */
  stepsLeft: number;
}

export type HunkPlace = { position: number } | "nowhere" | "too_costly";

export function searchOutward(
  placing: Placing,
  before: readonly string[],
  expected: number,
): HunkPlace {
  const index = placing.lines.index();
  const loose = runsOn(placing.lines, before);
  // Up to the first line that runs on, lines are the same only if they are equal.
  const firm = loose
    ? before.slice(
        0,
        before.findIndex((line) => !line.endsWith("\n")),
      )
    : before;
  const wanted = firm.map((line) => index.idOf.get(line) ?? -1);
  if (wanted.includes(-1)) return "nowhere";
  const same = (line: number, at: number): boolean => {
    placing.stepsLeft -= 1;
    return index.ids[line] === wanted[at];
  };
  const fits = (position: number): boolean =>
    matchesAt(placing.image, position, wanted.length, same) &&
    (!loose || matchesRunOn(placing, position, before, false));
  const target: Target = { index, expected, fits, ...rarest(index, wanted) };
  return target.count <= MOST_LOOKED_UP ? lookUp(placing, target) : walkOutward(placing, target);
}

const MOST_LOOKED_UP = 64;

interface Anchor {
  /** Its number in the index; -1: any line. */
  id: number;
  /** Which line of the hunk it is. */
  lead: number;
  count: number;
}

interface Target extends Anchor {
  index: LineIndex;
  expected: number;
  fits: (position: number) => boolean;
}

function rarest({ counts }: LineIndex, wanted: readonly number[]): Anchor {
  let anchor: Anchor = { id: -1, lead: 0, count: Infinity };
  for (const [lead, id] of wanted.entries()) {
    const count = counts[id] ?? 0;
    if (count < anchor.count) anchor = { id, lead, count };
  }
  return anchor;
}

function lookUp(placing: Placing, { index, expected, fits, id, lead }: Target): HunkPlace {
  let nearest: number | undefined;
  for (let line = index.first[id] ?? -1; line !== -1; line = index.next[line] ?? -1) {
    const start = (positionOf(placing.image, line) ?? -1) - lead;
    if (!fits(start)) continue;
    const nearer = Math.abs(start - expected) <= Math.abs((nearest ?? Infinity) - expected);
    if (nearer) nearest = start;
  }
  if (placing.stepsLeft < 0) return "too_costly";
  return nearest === undefined ? "nowhere" : { position: nearest };
}

function walkOutward(placing: Placing, target: Target): HunkPlace {
  const length = imageLength(placing.image);
  const { lead } = target;
  const middle = Math.min(length, target.expected + lead);
  // The middle itself is where the hunk was expected and is not.
  let reached = 0;
  for (let radius = FIRST_RADIUS; ; radius *= 4) {
    const later = walkForward(placing, target, middle + reached + 1, middle + radius);
    const nearer = later === undefined ? radius : later - middle - 1;
    const earlier = walkBackward(placing, target, middle - reached - 1, middle - nearer);
    if (placing.stepsLeft < 0) return "too_costly";
    const found = earlier ?? later;
    if (found !== undefined) return { position: found - lead };
    if (radius > length) return "nowhere";
    reached = radius;
  }
}

const FIRST_RADIUS = 256;

/** The first position from `from` up to `end` where the line stands and all fits. */
function walkForward(
  placing: Placing,
  { index, id, lead, fits }: Target,
  from: number,
  end: number,
): number | undefined {
  let at = from;
  while (at <= end && placing.stepsLeft >= 0) {
    const found = untouchedFrom(placing.image, at);
    if (found === undefined) return undefined;
    const { run, start } = found;
    at = Math.max(at, start);
    const stop = Math.min(end + 1, start + run.count);
    placing.stepsLeft -= STEPS_A_RUN;
    for (; at < stop && placing.stepsLeft >= 0; at += 1) {
      placing.stepsLeft -= 1;
      const wanted = id === -1 || index.ids[run.from + at - start] === id;
      if (wanted && fits(at - lead)) return at;
    }
  }
  return undefined;
}

/** The last position from `from` down to `end` where the line stands and all fits. */
function walkBackward(
  placing: Placing,
  { index, id, lead, fits }: Target,
  from: number,
  end: number,
): number | undefined {
  let at = from;
  while (at >= Math.max(end, lead) && placing.stepsLeft >= 0) {
    const found = untouchedUpTo(placing.image, at);
    if (found === undefined) return undefined;
    const { run, start } = found;
    at = Math.min(at, start + run.count - 1);
    const stop = Math.max(end, lead, start);
    placing.stepsLeft -= STEPS_A_RUN;
    for (; at >= stop && placing.stepsLeft >= 0; at -= 1) {
      placing.stepsLeft -= 1;
      const wanted = id === -1 || index.ids[run.from + at - start] === id;
      if (wanted && fits(at - lead)) return at;
    }
  }
  return undefined;
}

/** To find a run costs as much as to look at this many lines. */
const STEPS_A_RUN = 50;
