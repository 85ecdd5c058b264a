// Finds what an unknown word may have meant: known stems that begin with it, and those one or two
// slips away. One slip never changes the first and the last letter of a word both, and two are only
// looked for behind the same first letter, so two buckets of the vocabulary hold every candidate.
import { editDistance } from "./edit-distance.ts";
import { createIntegerLists, type IntegerLists } from "./integer-lists.ts";

export interface NearStems {
  add(id: number): void;
  remove(id: number): void;
  find(stemmed: string): NearStem[];
}

export interface NearStem {
  id: number;
  kind: "prefix" | "typo";
  /** Letters missing or slips made: the fewer the closer. */
  distance: number;
}

export function createNearStems(stemOf: (id: number) => string): NearStems {
  /** Pairs of a stem's number and its set of letters, a list for each first or last letter. */
  const byFirst = createIntegerLists();
  const byLast = createIntegerLists();

  return {
    add(id) {
      const stem = stemOf(id);
      const letters = lettersOf(stem);
      byFirst.appendPair(bucketOf(stem, 0), id, letters);
      byLast.appendPair(bucketOf(stem, stem.length - 1), id, letters);
    },
    remove(id) {
      const stem = stemOf(id);
      byFirst.removePair(bucketOf(stem, 0), id);
      byLast.removePair(bucketOf(stem, stem.length - 1), id);
    },
    find(stemmed) {
      const found: NearStem[] = [];
      const slips = slipsAllowed(stemmed);
      if (slips === 0 && !isLookedUpByPrefix(stemmed)) return found;
      const first = bucketOf(stemmed, 0);
      for (const id of withSuchLetters(byFirst, first, lettersOf(stemmed), slips)) {
        const known = stemOf(id);
        if (isLookedUpByPrefix(stemmed) && known.startsWith(stemmed)) {
          found.push({ id, kind: "prefix", distance: known.length - stemmed.length });
          continue;
        }
        const distance = editDistance(stemmed, known, slips);
        if (distance <= slips) found.push({ id, kind: "typo", distance });
      }
      if (slips === 0) return found;
      const last = bucketOf(stemmed, stemmed.length - 1);
      for (const id of withSuchLetters(byLast, last, lettersOf(stemmed), 1)) {
        const known = stemOf(id);
        if (bucketOf(known, 0) === first) continue;
        if (editDistance(stemmed, known, 1) === 1) found.push({ id, kind: "typo", distance: 1 });
      }
      return found;
    },
  };
}

const DIGITS = /[0-9]/;
const SHORTEST_WITH_A_SLIP = 4;
const SHORTEST_WITH_TWO_SLIPS = 8;
const SHORTEST_PREFIX = 3;

function slipsAllowed(stemmed: string): number {
  if (stemmed.length < SHORTEST_WITH_A_SLIP || DIGITS.test(stemmed)) return 0;
  return stemmed.length < SHORTEST_WITH_TWO_SLIPS ? 1 : 2;
}

/** A single character counts where words are indexed as pairs of them. */
function isLookedUpByPrefix(stemmed: string): boolean {
  if (stemmed.length >= SHORTEST_PREFIX) return !DIGITS.test(stemmed);
  return stemmed.charCodeAt(0) > 127 && Array.from(stemmed).length === 1;
}

/** A slip takes away one letter of the set at most: other stems are passed over without being read. */
function withSuchLetters(
  lists: IntegerLists,
  list: number,
  wanted: number,
  slips: number,
): number[] {
  const ids: number[] = [];
  const { data } = lists;
  const from = lists.start(list);
  const to = from + lists.length(list);
  for (let at = from; at < to; at += 2) {
    let missing = wanted & ~(data[at + 1] as number);
    for (let struck = 0; struck < slips; struck += 1) missing &= missing - 1;
    if (missing === 0) ids.push(data[at] as number);
  }
  return ids;
}

/** One bit for each letter; letters of other alphabets share bits. */
function lettersOf(text: string): number {
  let letters = 0;
  for (let at = 0; at < text.length; at += 1) letters |= 1 << bucketOf(text, at);
  return letters;
}

function bucketOf(text: string, at: number): number {
  return text.charCodeAt(at) & 31;
}
