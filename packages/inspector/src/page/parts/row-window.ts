// Which rows of a long list are in the document: those that can be seen, and some around them. Pure.

export interface RowWindow {
  first: number;
  /** Not in it any more. */
  end: number;
}

export interface Scrolled {
  top: number;
  height: number;
  row_height: number;
  count: number;
}

export function windowOf(scrolled: Scrolled, around: number): RowWindow {
  const { first, end } = seenOf(scrolled);
  return {
    first: Math.max(0, first - around),
    end: Math.min(scrolled.count, end + around),
  };
}

/** Those of which at least a part can be seen. */
export function seenOf({ top, height, row_height, count }: Scrolled): RowWindow {
  const first = Math.floor(Math.max(0, top) / row_height);
  const end = Math.ceil((Math.max(0, top) + height) / row_height);
  return { first: Math.min(first, Math.max(0, count - 1)), end: Math.min(count, end) };
}

/** Where to scroll to so that the whole row is seen; undefined when it is. */
export function topToShow(
  index: number,
  { top, height, row_height }: Scrolled,
): number | undefined {
  const from = index * row_height;
  if (from < top) return from;
  if (from + row_height > top + height) return from + row_height - height;
  return undefined;
}
