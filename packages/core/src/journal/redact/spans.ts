// Stretches of a text that must go, and looking for many texts in one pass over another. Every place is reported,
// overlapping ones too; what a hit means is for the needle to say.

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

/** A text to look for, and what it means to have found it. */
export interface Needle {
  readonly text: string;
  readonly spanAt: (text: string, at: number, length: number) => Span | undefined;
}

export interface Hit<T> {
  readonly needle: T;
  readonly at: number;
}

/**
 * Looks for all needles at once and, where a pair of characters is in none of them, skips as far as the
 * shortest allows (Wu and Manber).
 */
export function createScan<T extends Needle>(
  needles: readonly T[],
): (text: string) => readonly Hit<T>[] {
  if (needles.length === 0) return () => NO_HITS;
  const width = Math.min(64, ...needles.map(({ text }) => text.length));
  const skips = new Uint8Array(PAIRS).fill(width - 1);
  const endings = new Map<number, T[]>();
  for (const needle of needles) {
    for (let i = 1; i < width; i += 1) {
      const pair = pairAt(needle.text, i);
      skips[pair] = Math.min(skips[pair] as number, width - 1 - i);
    }
    const ending = pairAt(needle.text, width - 1);
    endings.set(ending, [...(endings.get(ending) ?? []), needle]);
  }
  return function scan(text) {
    let hits: Hit<T>[] | undefined;
    let at = width - 1;
    while (at < text.length) {
      // Two characters as one small number. Other pairs may share it, so what is found has still to be compared.
      const pair = ((text.charCodeAt(at - 1) << 5) ^ text.charCodeAt(at)) & (PAIRS - 1);
      const skip = skips[pair] as number;
      if (skip > 0) {
        at += skip;
        continue;
      }
      const start = at - width + 1;
      const candidates = endings.get(pair) as T[];
      for (let i = 0; i < candidates.length; i += 1) {
        const needle = candidates[i] as T;
        if (text.startsWith(needle.text, start)) (hits ??= []).push({ needle, at: start });
      }
      at += 1;
    }
    return hits ?? NO_HITS;
  };
}

const NO_HITS: readonly never[] = [];
export const PAIRS = 4096;

/** Of the character at this place and the one before it. */
export function pairAt(text: string, at: number): number {
  return ((text.charCodeAt(at - 1) << 5) ^ text.charCodeAt(at)) & (PAIRS - 1);
}

/** The match of a sticky pattern at just this place. */
export function matchAt(sticky: RegExp, text: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at;
  return sticky.exec(text);
}
