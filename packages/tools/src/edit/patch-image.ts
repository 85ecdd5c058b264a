// The lines of a file while hunks are put into it, one after the other: a sequence of pieces, each a run of
// untouched lines or of lines a hunk has placed. The pieces are a search tree with random ranks (a treap), so a
// hunk costs the logarithm of their number, in any order hunks come. Untouched lines never change their
// order, so the same tree finds a line of the file, too.

/** A line of the file that a hunk left as it is, or text that it puts there. No later hunk may match either. */
export type PlacedLine = number | string;

/** The lines of the file, up to `end`, that hunks have touched, between two untouched lines. */
export interface Stretch {
  start: number;
  end: number;
}

export interface PatchImage {
  /** How many lines the file has. */
  readonly count: number;
  root: Piece | undefined;
}

interface Piece {
  /** Undefined where the lines are those of the file. */
  placed: readonly PlacedLine[] | undefined;
  /** Which lines of these, up to `end`. */
  start: number;
  end: number;
  rank: number;
  left: Piece | undefined;
  right: Piece | undefined;
  /** How many lines it and all below it hold. */
  length: number;
  /** Where the last untouched lines among these end in the file; 0 without any. */
  untouchedEnd: number;
}

export function createImage(count: number): PatchImage {
  return { count, root: count === 0 ? undefined : createPiece(undefined, 0, count) };
}

export function imageLength({ root }: PatchImage): number {
  return root?.length ?? 0;
}

/**
 * The untouched line of the file at a position, and how many follow each other from there: none where lines are
 * placed, and the line is the first one behind the untouched lines before them.
 */
export function lineAt(
  { root, count }: PatchImage,
  position: number,
): { line: number; run: number } {
  let piece = root;
  let ahead = position;
  let line = 0;
  while (piece !== undefined) {
    const { left, placed, start, end } = piece;
    const before = left?.length ?? 0;
    if (ahead < before) {
      piece = left;
      continue;
    }
    line = Math.max(line, left?.untouchedEnd ?? 0);
    ahead -= before;
    if (ahead < end - start) {
      return placed === undefined
        ? { line: start + ahead, run: end - start - ahead }
        : { line, run: 0 };
    }
    if (placed === undefined) line = end;
    ahead -= end - start;
    piece = piece.right;
  }
  return { line: count, run: 0 };
}

/** Where a line of the file is now, or the stretch that has touched it. */
export function placeOfLine({ root, count }: PatchImage, line: number): number | Stretch {
  let piece = root;
  let position = 0;
  let start = 0;
  while (piece !== undefined) {
    const { left } = piece;
    if (left !== undefined && left.untouchedEnd > line) {
      piece = left;
      continue;
    }
    position += left?.length ?? 0;
    start = Math.max(start, left?.untouchedEnd ?? 0);
    if (piece.placed === undefined) {
      if (piece.start > line) return { start, end: piece.start };
      if (piece.end > line) return position + line - piece.start;
      start = piece.end;
    }
    position += piece.end - piece.start;
    piece = piece.right;
  }
  return { start, end: count };
}

/** The lines replaced are untouched; without any, the new ones may be put between placed ones. */
export function replaceLines(
  image: PatchImage,
  position: number,
  count: number,
  placed: readonly PlacedLine[],
): void {
  const [before, rest] = split(image.root, position);
  const [, behind] = split(rest, count);
  const piece = placed.length === 0 ? undefined : createPiece(placed, 0, placed.length);
  image.root = join(join(before, piece), behind);
}

/** In the order of the file, each with what is placed there. */
export function listStretches({ root, count }: PatchImage): (Stretch & { placed: PlacedLine[] })[] {
  const stretches: (Stretch & { placed: PlacedLine[] })[] = [];
  let start = 0;
  let placed: PlacedLine[] = [];
  const closeAt = (end: number): void => {
    if (placed.length > 0 || end > start) stretches.push({ start, end, placed });
    placed = [];
  };
  const walk = (piece: Piece | undefined): void => {
    if (piece === undefined) return;
    walk(piece.left);
    if (piece.placed === undefined) {
      closeAt(piece.start);
      start = piece.end;
    } else {
      for (const line of piece.placed.slice(piece.start, piece.end)) placed.push(line);
    }
    walk(piece.right);
  };
  walk(root);
  closeAt(count);
  return stretches;
}

function createPiece(placed: Piece["placed"], start: number, end: number): Piece {
  const tree = { rank: Math.random(), left: undefined, right: undefined };
  return sumUp({ placed, start, end, ...tree, length: 0, untouchedEnd: 0 });
}

function sumUp(piece: Piece): Piece {
  const { left, right, placed, start, end } = piece;
  const untouchedEnd = Math.max(placed === undefined ? end : 0, right?.untouchedEnd ?? 0);
  piece.untouchedEnd = Math.max(left?.untouchedEnd ?? 0, untouchedEnd);
  piece.length = (left?.length ?? 0) + end - start + (right?.length ?? 0);
  return piece;
}

/** What comes before a position, and what begins there. */
function split(
  piece: Piece | undefined,
  position: number,
): [before: Piece | undefined, behind: Piece | undefined] {
  if (piece === undefined) return [undefined, undefined];
  const { placed, start, end, left, right } = piece;
  const middle = start + position - (left?.length ?? 0);
  if (middle <= start) {
    const [before, behind] = split(left, position);
    piece.left = behind;
    return [before, sumUp(piece)];
  }
  if (middle >= end) {
    const [before, behind] = split(right, middle - end);
    piece.right = before;
    return [sumUp(piece), behind];
  }
  piece.end = middle;
  piece.right = undefined;
  return [sumUp(piece), join(createPiece(placed, middle, end), right)];
}

function join(before: Piece | undefined, behind: Piece | undefined): Piece | undefined {
  if (before === undefined || behind === undefined) return before ?? behind;
  if (before.rank > behind.rank) {
    before.right = join(before.right, behind);
    return sumUp(before);
  }
  behind.left = join(before, behind.left);
  return sumUp(behind);
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
