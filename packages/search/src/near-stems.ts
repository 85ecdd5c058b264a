// Finds what an unknown word may have meant: known stems that begin with it, and those one or two
// slips away. One slip never changes the first and the last letter of a word both, and two are only
// looked for behind the same first letter, so two buckets of the vocabulary hold every candidate.
import { editDistance } from "@soong/schema";
import { stem } from "./stem.ts";

export interface NearStem {
  id: number;
  kind: "prefix" | "typo";
  /** Letters missing or slips made: the fewer the closer. */
  distance: number;
}

/** The stems that are there, by number. */
interface KnownStems {
  stemOf(id: number): string;
  idOf(stemmed: string): number | undefined;
}

export class NearStems {
  readonly #stems: KnownStems;
  /** Pairs of a stem's number and its set of letters, a list for each first or last letter. */
  readonly #byFirst: number[][] = [];
  readonly #byLast: number[][] = [];

  constructor(stems: KnownStems) {
    this.#stems = stems;
  }

  add(id: number): void {
    const known = this.#stems.stemOf(id);
    const letters = readLetters(known);
    (this.#byFirst[findBucket(known, 0)] ??= []).push(id, letters);
    (this.#byLast[findBucket(known, known.length - 1)] ??= []).push(id, letters);
  }

  remove(id: number): void {
    const known = this.#stems.stemOf(id);
    removePair(this.#byFirst[findBucket(known, 0)]!, id);
    removePair(this.#byLast[findBucket(known, known.length - 1)]!, id);
  }

  find(word: string): NearStem[] {
    const found: NearStem[] = [];
    const slips = slipsAllowed(word);
    const stemmed = stem(word);
    const byPrefix = isLookedUpByPrefix(stemmed);
    if (slips === 0 && !byPrefix) return found;
    const forms = listForms(word, stemmed);
    const first = findBucket(word, 0);
    const shortest = forms.reduce((least, form) => (form.length < least.length ? form : least));
    const letters = { shared: readLetters(shortest), all: readLetters(word) };
    for (const id of withSuchLetters(this.#byFirst[first], letters, slips, byPrefix)) {
      const known = this.#stems.stemOf(id);
      if (byPrefix && known.startsWith(stemmed)) {
        found.push({ id, kind: "prefix", distance: known.length - stemmed.length });
        continue;
      }
      const distance = fewestSlips(forms, known, slips);
      if (distance <= slips) found.push({ id, kind: "typo", distance });
    }
    if (slips === 0) return found;
    for (const base of listBases(word)) {
      const id = this.#stems.idOf(base);
      if (id === undefined || found.some((near) => near.id === id)) continue;
      found.push({ id, kind: "typo", distance: 1 });
    }
    const last = findBucket(stemmed, stemmed.length - 1);
    for (const id of withSuchLetters(this.#byLast[last], letters, 1, false)) {
      const known = this.#stems.stemOf(id);
      if (findBucket(known, 0) === first) continue;
      if (editDistance(stemmed, known, 1) === 1) found.push({ id, kind: "typo", distance: 1 });
    }
    return found;
  }
}

/** Removes the pair that begins with `first` from a list of pairs; the last pair takes its place. */
export function removePair(pairs: number[], first: number): void {
  for (let at = 0; at < pairs.length; at += 2) {
    if (pairs[at] !== first) continue;
    pairs[at + 1] = pairs.at(-1)!;
    pairs[at] = pairs.at(-2)!;
    pairs.length -= 2;
    return;
  }
}

const DIGITS = /[0-9]/;
const SHORTEST_WITH_A_SLIP = 4;
const SHORTEST_WITH_TWO_SLIPS = 8;
const SHORTEST_PREFIX = 3;
const SHORTEST_BASE = 3;
/** What the stemmer cuts off. */
const ENDINGS = ["s", "e", "ed", "ing", "ion", "ions"];
const LONG_ENDINGS = ENDINGS.filter(({ length }) => length > 1);

function slipsAllowed(word: string): number {
  if (word.length < SHORTEST_WITH_A_SLIP || DIGITS.test(word)) return 0;
  return word.length < SHORTEST_WITH_TWO_SLIPS ? 1 : 2;
}

/** The word with an ending cut off. A slip may keep the stemmer from seeing it, so each is tried. */
function listForms(word: string, stemmed: string): string[] {
  const forms = new Set([stemmed, word]);
  for (const ending of ENDINGS) {
    const base = word.slice(0, -ending.length);
    if (word.endsWith(ending) && base.length >= SHORTEST_BASE) forms.add(base);
  }
  return [...forms];
}

/** What is left where the slip is in the ending itself: "locat" of "locatoins". */
function listBases(word: string): string[] {
  const bases = new Set<string>();
  for (const ending of LONG_ENDINGS) {
    for (let length = ending.length - 1; length <= ending.length + 1; length += 1) {
      const base = word.slice(0, -length);
      if (base.length <= SHORTEST_BASE) continue;
      if (editDistance(word.slice(-length), ending, 1) === 1) bases.add(base);
    }
  }
  return [...bases];
}

function fewestSlips(forms: readonly string[], known: string, limit: number): number {
  let fewest = limit + 1;
  for (const form of forms) {
    fewest = Math.min(fewest, editDistance(form, known, fewest - 1));
    if (fewest <= 1) break;
  }
  return fewest;
}

/** A single character counts where words are indexed as pairs of them. */
function isLookedUpByPrefix(stemmed: string): boolean {
  if (stemmed.length >= SHORTEST_PREFIX) return !DIGITS.test(stemmed);
  return stemmed.charCodeAt(0) > 127 && Array.from(stemmed).length === 1;
}

/**
 * A slip takes one letter of the set away at most, and adds one at most; what begins with the word adds any.
 * Other stems are passed over without being read.
 */
function withSuchLetters(
  pairs: readonly number[] = [],
  { shared, all }: { shared: number; all: number },
  slips: number,
  byPrefix: boolean,
): number[] {
  const ids: number[] = [];
  for (let at = 0; at < pairs.length; at += 2) {
    const known = pairs[at + 1]!;
    const missing = shared & ~known;
    const isNear = hasAtMost(slips, missing) && hasAtMost(slips, known & ~all);
    if (isNear || (byPrefix && missing === 0)) ids.push(pairs[at]!);
  }
  return ids;
}

function hasAtMost(count: number, letters: number): boolean {
  let left = letters;
  for (let struck = 0; struck < count; struck += 1) left &= left - 1;
  return left === 0;
}

/** One bit for each letter; letters of other alphabets share bits. */
function readLetters(text: string): number {
  let letters = 0;
  for (let at = 0; at < text.length; at += 1) letters |= 1 << findBucket(text, at);
  return letters;
}

function findBucket(text: string, at: number): number {
  return text.charCodeAt(at) & 31;
}
