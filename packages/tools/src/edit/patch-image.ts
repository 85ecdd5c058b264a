// The lines of a file while hunks are put into it, one after the other: runs of lines in a balanced
// tree, so that every step of a patch with a hundred thousand hunks for a million lines takes about as
// long as the first. Lines are untouched or put there by a hunk; no later hunk may match the latter.

export interface PatchImage {
  root: Run | undefined;
  /** State of the random numbers that keep the tree balanced; the same in every run. */
  seed: number;
}

export interface Run {
  /** Which lines a hunk has put there; undefined: untouched lines of the file. */
  placed: readonly number[] | undefined;
  /** The first line: of the file, or as an index in `placed`. */
  from: number;
  count: number;
  priority: number;
  left: Run | undefined;
  right: Run | undefined;
  /** Of this run and all below it: how many lines, and the last untouched line of the file or -1. */
  length: number;
  last: number;
}

/** A run and the position of its first line, both as they are until the next replacement. */
export interface FoundRun {
  run: Run;
  start: number;
}

export function imageOf(lineCount: number): PatchImage {
  const image: PatchImage = { root: undefined, seed: 1 };
  image.root = lineCount === 0 ? undefined : newRun(image, undefined, 0, lineCount);
  return image;
}

export function imageLength({ root }: PatchImage): number {
  return root?.length ?? 0;
}

export function runAt({ root }: PatchImage, position: number): FoundRun | undefined {
  let run = root;
  let before = 0;
  while (run !== undefined) {
    const start = before + (run.left?.length ?? 0);
    if (position < start) run = run.left;
    else if (position < start + run.count) return { run, start };
    else {
      before = start + run.count;
      run = run.right;
    }
  }
  return undefined;
}

/** Where an untouched line of the file stands now; undefined when a hunk has touched it. */
export function positionOf({ root }: PatchImage, line: number): number | undefined {
  let run = root;
  let before = 0;
  while (run !== undefined) {
    const start = before + (run.left?.length ?? 0);
    if (run.left !== undefined && line <= run.left.last) run = run.left;
    else if (run.placed === undefined && line < run.from + run.count) {
      return line < run.from ? undefined : start + line - run.from;
    } else {
      before = start + run.count;
      run = run.right;
    }
  }
  return undefined;
}

/** The first run with untouched lines at this position or after it. */
export function untouchedFrom(image: PatchImage, position: number): FoundRun | undefined {
  const found = runAt(image, position);
  if (found === undefined || found.run.placed === undefined) return found;
  const lastBefore = lastUntouched(image.root, found.start);
  return untouchedAfter(image.root, lastBefore, 0);
}

/** The last run with untouched lines at this position or before it. */
export function untouchedUpTo(image: PatchImage, position: number): FoundRun | undefined {
  const found = runAt(image, position);
  if (found === undefined || found.run.placed === undefined) return found;
  const line = lastUntouched(image.root, found.start);
  const start = line < 0 ? undefined : positionOf(image, line);
  return start === undefined ? undefined : runAt(image, start);
}

export function replaceLines(
  image: PatchImage,
  position: number,
  count: number,
  replacement: readonly number[],
): void {
  const [before, rest] = split(image, image.root, position);
  const [, after] = split(image, rest, count);
  const added =
    replacement.length === 0 ? undefined : newRun(image, replacement, 0, replacement.length);
  image.root = join(join(before, added), after);
}

/** In order. */
export function eachRun({ root }: PatchImage, visit: (run: Run) => void): void {
  const above: Run[] = [];
  let run = root;
  while (run !== undefined || above.length > 0) {
    while (run !== undefined) {
      above.push(run);
      run = run.left;
    }
    const next = above.pop() as Run;
    visit(next);
    run = next.right;
  }
}

/** The last untouched line of the file among the first `length` lines, or -1. */
function lastUntouched(root: Run | undefined, length: number): number {
  let run = root;
  let left = length;
  let last = -1;
  while (run !== undefined && left > 0) {
    const before = run.left?.length ?? 0;
    if (left <= before) {
      run = run.left;
      continue;
    }
    const own = Math.min(run.count, left - before);
    last = Math.max(last, run.left?.last ?? -1, run.placed ? -1 : run.from + own - 1);
    left -= before + own;
    run = run.right;
  }
  return last;
}

/** The first run with an untouched line of the file after this one. */
function untouchedAfter(root: Run | undefined, line: number, from: number): FoundRun | undefined {
  let run = root;
  let before = from;
  while (run !== undefined && run.last > line) {
    const start = before + (run.left?.length ?? 0);
    if (run.left !== undefined && run.left.last > line) run = run.left;
    else if (run.placed === undefined && run.from + run.count - 1 > line) return { run, start };
    else {
      before = start + run.count;
      run = run.right;
    }
  }
  return undefined;
}

function newRun(
  image: PatchImage,
  placed: readonly number[] | undefined,
  from: number,
  count: number,
): Run {
  // A linear congruential generator is random enough for the shape of a tree.
  image.seed = (Math.imul(image.seed, 1_664_525) + 1_013_904_223) | 0;
  return {
    placed,
    from,
    count,
    priority: image.seed,
    left: undefined,
    right: undefined,
    length: count,
    last: placed === undefined ? from + count - 1 : -1,
  };
}

function measured(run: Run): Run {
  const { left, right, placed, from, count } = run;
  run.length = count + (left?.length ?? 0) + (right?.length ?? 0);
  run.last = Math.max(left?.last ?? -1, placed ? -1 : from + count - 1, right?.last ?? -1);
  return run;
}

/** Into the first `length` lines and the others. */
function split(
  image: PatchImage,
  run: Run | undefined,
  length: number,
): [Run | undefined, Run | undefined] {
  if (run === undefined) return [undefined, undefined];
  const before = run.left?.length ?? 0;
  if (length <= before) {
    const [first, second] = split(image, run.left, length);
    run.left = second;
    return [first, measured(run)];
  }
  if (length >= before + run.count) {
    const [first, second] = split(image, run.right, length - before - run.count);
    run.right = first;
    return [measured(run), second];
  }
  const { right, placed, from, count } = run;
  const kept = length - before;
  run.count = kept;
  run.right = undefined;
  return [measured(run), join(newRun(image, placed, from + kept, count - kept), right)];
}

function join(first: Run | undefined, second: Run | undefined): Run | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  if (first.priority > second.priority) {
    first.right = join(first.right, second);
    return measured(first);
  }
  second.left = join(first, second.left);
  return measured(second);
}
