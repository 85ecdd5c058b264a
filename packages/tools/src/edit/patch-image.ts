// The lines of a file while hunks are put into it, one after the other: the stretches that hunks have replaced,
// in the order of the file. Untouched lines never change their order, so a position among the lines as they are
// now and a line of the file are found from each other by these stretches alone; a hunk behind all others, which
// is what patches are made of, costs no more for the hundred thousandth than for the first.

/** A line of the file that a hunk left as it is, or text that it puts there. No later hunk may match either. */
export type PlacedLine = number | string;

interface Stretch {
  /** The lines of the file it stands for, up to `end`. Between two stretches there is an untouched line. */
  start: number;
  end: number;
  /** Where its first line is now. */
  at: number;
  placed: PlacedLine[];
}

export interface PatchImage {
  /** How many lines the file has. */
  readonly count: number;
  readonly stretches: Stretch[];
}

export function createImage(count: number): PatchImage {
  return { count, stretches: [] };
}

export function imageLength({ count, stretches }: PatchImage): number {
  const last = stretches.at(-1);
  return last === undefined ? count : last.at + last.placed.length + count - last.end;
}

/** The untouched line of the file at a position, and how many follow each other from there; else what is placed there. */
export function lineAt(
  { count, stretches }: PatchImage,
  position: number,
): { line: number; run: number } | { placed: Stretch } {
  const index = firstIndex(stretches.length, (one) => (stretches[one]?.at ?? 0) > position);
  const before = stretches[index - 1];
  const next = stretches[index]?.start ?? count;
  if (before === undefined) return { line: position, run: next - position };
  const behind = position - before.at - before.placed.length;
  if (behind < 0) return { placed: before };
  return { line: before.end + behind, run: next - before.end - behind };
}

/** Where a line of the file is now, or the stretch that has touched it. */
export function placeOfLine({ stretches }: PatchImage, line: number): number | Stretch {
  const index = firstIndex(stretches.length, (one) => (stretches[one]?.start ?? 0) > line);
  const before = stretches[index - 1];
  if (before === undefined) return line;
  return line < before.end ? before : before.at + before.placed.length + line - before.end;
}

/** The lines replaced are untouched; without any, the new ones may be put between placed ones. */
export function replaceLines(
  image: PatchImage,
  position: number,
  count: number,
  placed: readonly PlacedLine[],
): void {
  const { stretches } = image;
  const first = lineAt(image, position);
  if ("placed" in first) {
    first.placed.placed.splice(position - first.placed.at, 0, ...placed);
    moveBehind(stretches, stretches.indexOf(first.placed) + 1, placed.length);
    return;
  }
  const start = first.line;
  const last = count === 0 ? undefined : lineAt(image, position + count - 1);
  const end = last !== undefined && "line" in last ? last.line + 1 : start;
  const from = firstIndex(stretches.length, (one) => (stretches[one]?.end ?? 0) >= start);
  const to = firstIndex(stretches.length, (one) => (stretches[one]?.start ?? 0) > end);
  // The stretches that touch this one become one with it; those inside have only taken lines away.
  const [opening, ...others] = stretches.slice(from, to);
  const isBefore = opening !== undefined && opening.end <= start;
  const whole = isBefore ? opening : { start, end, at: position, placed: [] };
  for (const line of placed) whole.placed.push(line);
  for (const other of isBefore || opening === undefined ? others : [opening, ...others]) {
    for (const line of other.placed) whole.placed.push(line);
    whole.end = Math.max(whole.end, other.end);
  }
  whole.end = Math.max(whole.end, end);
  stretches.splice(from, to - from, whole);
  moveBehind(stretches, from + 1, placed.length - count);
}

function moveBehind(stretches: readonly Stretch[], from: number, by: number): void {
  for (let index = from; index < stretches.length; index += 1) {
    const stretch = stretches[index];
    if (stretch !== undefined) stretch.at += by;
  }
}

/** The first index of so many for which the test, once true, stays true. */
export function firstIndex(count: number, test: (index: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
