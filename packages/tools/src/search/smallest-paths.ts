// The smallest of any number of paths, bytewise, in the memory of those that are kept.

export interface SmallestPaths {
  add(path: Buffer): void;
  /** In order. */
  sorted(): Buffer[];
}

export function createSmallestPaths(most: number): SmallestPaths {
  let kept: Buffer[] = [];
  let bound: Buffer | undefined;
  const shrink = (): void => {
    kept = kept.toSorted((a, b) => Buffer.compare(a, b)).slice(0, most);
    if (kept.length === most) bound = kept.at(-1);
  };
  return {
    add(path) {
      if (bound !== undefined && Buffer.compare(path, bound) >= 0) return;
      // A copy: what is given is part of a piece of output that would be kept with it.
      kept.push(Buffer.from(path));
      if (kept.length >= 2 * most) shrink();
    },
    sorted() {
      shrink();
      return kept;
    },
  };
}
