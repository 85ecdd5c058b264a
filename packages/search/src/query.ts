// Turns what was typed into the stems to look up: each word of the query with the known stems that
// may stand for it, and what each is worth.
import { RANKING, rarity } from "./ranking.ts";
import { stem } from "./stem.ts";
import { isStopWord } from "./stop-words.ts";
import { findSynonyms } from "./synonyms.ts";
import { tokenize } from "./tokenize.ts";
import type { NearStem } from "./near-stems.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** One word of the query. A tool gains by the best of the stems it holds, not by their sum. */
export interface QueryWord {
  word: string;
  /** Never empty, the most valuable first. */
  stems: QueryStem[];
}

export interface QueryStem {
  id: number;
  kind: "same" | "synonym" | "prefix" | "typo";
  /** What a tool would gain that is about nothing else. */
  weight: number;
}

export function readQuery(query: string, vocabulary: Vocabulary, tools: number): QueryWord[] {
  const read: QueryWord[] = [];
  const taken = new Set<string>();
  const unknown = new Set<string>();
  /** Known, but so rare that another word may have been meant. */
  const doubtful = new Set<string>();
  const weigh = (id: number) => rarity(vocabulary.toolsWith(id), tools);

  function take(word: string, factor: number): "taken" | "unknown" {
    const stemmed = stem(word);
    if (taken.has(stemmed)) return "taken";
    const stems = stemsFor(stemmed, factor, vocabulary, weigh);
    if (stems.length === 0) return "unknown";
    taken.add(stemmed);
    read.push({ word, stems });
    return "taken";
  }

  const compounds: string[] = [];
  const words = tokenize(query, MAX_WORDS, compounds);
  const countsStopWords = words.length <= LONGEST_KEYWORD_QUERY || words.every(isStopWord);
  for (const word of words.concat(compounds)) {
    if (isStopWord(word)) {
      if (countsStopWords) take(word, RANKING.stopWord);
    } else if (IS_NUMBER.test(word)) take(word, RANKING.number);
    else if (take(word, 1) === "unknown") unknown.add(word);
    else if (isDoubtful(stem(word), vocabulary)) doubtful.add(word);
  }
  for (const [at, tail] of words.entries()) {
    const head = words[at - 1] ?? "";
    const joined = head + tail;
    if (head === "" || isStopWord(joined)) continue;
    if (vocabulary.idOf(stem(joined)) === undefined) continue;
    take(joined, RANKING.joined);
    unknown.delete(head);
    unknown.delete(tail);
  }
  for (const word of [...unknown].slice(0, MAX_GUESSED_WORDS)) {
    const near = vocabulary.near(word);
    const halves = near.some(isOneSlip) ? undefined : knownHalves(word, vocabulary);
    if (halves) halves.forEach((half) => take(half, RANKING.joined));
    else if (near.length > 0) read.push({ word, stems: guessedStems(near, vocabulary, weigh) });
  }
  for (const word of [...doubtful].slice(0, Math.max(0, MAX_GUESSED_WORDS - unknown.size))) {
    const known = read.find((one) => one.word === word);
    if (known === undefined) continue;
    const near = vocabulary
      .near(word)
      .filter((one) => isOneSlip(one) && vocabulary.toolsWith(one.id) > COMMON_FROM)
      .filter(({ id }) => !known.stems.some((stemmed) => stemmed.id === id));
    known.stems.push(...guessedStems(near, vocabulary, weigh));
    known.stems.sort((a, b) => b.weight - a.weight);
  }
  return read;
}

/** A word of so few tools may be a slip that happens to be a word. */
const RARE_UNTIL = 2;
const COMMON_FROM = 10;
const SHORTEST_DOUBTED = 4;
const MAX_WORDS = 96;
/** Up to here a query is a list of keywords, where "turn off" and "turn on" differ. */
const LONGEST_KEYWORD_QUERY = 5;
/** A guess walks through the vocabulary, so nonsense may not ask for one at every word. */
const MAX_GUESSED_WORDS = 8;
const MAX_GUESSES = 6;
const SHORTEST_HALF = 3;
const IS_NUMBER = /^[0-9]+$/;

function isDoubtful(stemmed: string, vocabulary: Vocabulary): boolean {
  const id = vocabulary.idOf(stemmed);
  return (
    id !== undefined && stemmed.length >= SHORTEST_DOUBTED && vocabulary.toolsWith(id) <= RARE_UNTIL
  );
}

type Weigh = (id: number) => number;

function stemsFor(
  stemmed: string,
  factor: number,
  vocabulary: Vocabulary,
  weigh: Weigh,
): QueryStem[] {
  const id = vocabulary.idOf(stemmed);
  const most = id === undefined ? Infinity : weigh(id);
  const stems: QueryStem[] = id === undefined ? [] : [{ id, kind: "same", weight: most * factor }];
  for (const synonym of findSynonyms(stemmed)) {
    const other = vocabulary.idOf(synonym);
    if (other === undefined) continue;
    // A synonym never tells more than the word that was typed.
    const weight = Math.min(most, weigh(other)) * factor * RANKING.synonym;
    stems.push({ id: other, kind: "synonym", weight });
  }
  return stems.toSorted((a, b) => b.weight - a.weight);
}

function guessedStems(near: NearStem[], vocabulary: Vocabulary, weigh: Weigh): QueryStem[] {
  const closest = near.toSorted((a, b) => guessOrder(a, b, vocabulary)).slice(0, MAX_GUESSES);
  const commonest = Math.max(...closest.map(({ id }) => vocabulary.toolsWith(id)));
  const stems = closest.map(({ id, kind, distance }) => {
    const length = vocabulary.stemOf(id).length;
    const closeness =
      kind === "prefix" ? RANKING.prefix * (1 - distance / length) : RANKING.typo ** distance;
    // The rarer word would tell more, but the commoner one was more likely meant.
    const likelihood = (vocabulary.toolsWith(id) / commonest) ** RANKING.commoner;
    return { id, kind, weight: closeness * likelihood * weigh(id) };
  });
  return stems.toSorted((a, b) => b.weight - a.weight);
}

/** The closest first; of two as close the more common, for it is more likely the one meant. */
function guessOrder(a: NearStem, b: NearStem, vocabulary: Vocabulary): number {
  if (a.distance !== b.distance) return a.distance - b.distance;
  const commoner = vocabulary.toolsWith(b.id) - vocabulary.toolsWith(a.id);
  if (commoner !== 0) return commoner;
  return vocabulary.stemOf(a.id) < vocabulary.stemOf(b.id) ? -1 : 1;
}

function isOneSlip({ kind, distance }: NearStem): boolean {
  return kind === "typo" && distance === 1;
}

/** "websearch" as "web" and "search", when both are known and the whole is not. */
function knownHalves(word: string, vocabulary: Vocabulary): [string, string] | undefined {
  for (let at = word.length - SHORTEST_HALF; at >= SHORTEST_HALF; at -= 1) {
    const head = word.slice(0, at);
    if (vocabulary.idOf(stem(head)) === undefined) continue;
    const tail = word.slice(at);
    if (vocabulary.idOf(stem(tail)) !== undefined) return [head, tail];
  }
  return undefined;
}
