// Stretches of a text: those that must go, overlapping ones as one, and which one comes last before a
// place. Knows nothing of what they cover.

/** One stretch of a text that must go. */
export interface Span {
  start: number;
  end: number;
  label: string;
  /** Named by config; otherwise it only looks like a key. */
  known: boolean;
}

/** Overlapping spans as one, so that no piece of either is left; the best known and longest names it. */
export function joinSpans(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = result.at(-1);
    if (last === undefined || span.start >= last.end) {
      result.push({ ...span });
      continue;
    }
    const longer = span.end - span.start > last.end - last.start;
    if (span.known === last.known ? longer : span.known) {
      last.label = span.label;
      last.known = span.known;
    }
    last.end = Math.max(last.end, span.end);
  }
  return result;
}

/** The last of these, which are in order, that begins before `position`. */
export function lastBefore<T extends { readonly start: number }>(
  sorted: readonly T[],
  position: number,
): T | undefined {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as T).start < position) low = middle + 1;
    else high = middle;
  }
  return sorted[low - 1];
}
