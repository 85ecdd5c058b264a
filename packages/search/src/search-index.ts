// The search over tools (SEARCH-2, SEARCH-5): a weighted-field BM25 index in memory, updated one tool
// at a time. What it answers depends on the tools it holds, never on the order in which they came.
import { fieldsOf, readDocument, valueOf } from "./document-stems.ts";
import { createExactNames, type ExactName } from "./exact-names.ts";
import { createIntegerLists } from "./integer-lists.ts";
import { type QueryWord, readQuery } from "./query.ts";
import { RANKING, rarity } from "./ranking.ts";
import { reasonForExactName, reasonsFor } from "./reasons.ts";
import { createScoreBoard } from "./score-board.ts";
import type { SearchDocument } from "./search-document.ts";
import { createVocabulary } from "./vocabulary.ts";

export interface SearchIndex {
  readonly size: number;
  /** Adds a tool; one of the same name is replaced. */
  add(document: SearchDocument): void;
  /** False when there is none of that name. */
  remove(name: string): boolean;
  /** The best matches first; tools that score the same come by name. */
  search(query: string, options: SearchOptions): SearchMatch[];
}

export interface SearchOptions {
  limit: number;
  /** Only tools it accepts are returned. */
  filter?: (name: string) => boolean;
}

export interface SearchMatch {
  tool_name: string;
  /** 1 for an exact name; below it, the share of what a perfect match of this query would get. */
  score: number;
  /** For a model or a person: `name: read, file`, `typo: serach→search`. */
  reasons: string[];
}

/** A full-text index of tools that forgives misspelt words. */
export function createSearchIndex(documents: Iterable<SearchDocument> = []): SearchIndex {
  const vocabulary = createVocabulary();
  const exactNames = createExactNames();
  const board = createScoreBoard();
  /** For each stem: pairs of slot and packed impact. */
  const postings = createIntegerLists();
  /** For each slot: packed stems, those of the name first. */
  const stemsOfTool = createIntegerLists();
  const nameStems: number[] = [];
  const slots = new Map<string, number>();
  const names: string[] = [];
  const freeSlots: number[] = [];

  function add(document: SearchDocument): void {
    remove(document.name);
    const slot = freeSlots.pop() ?? names.length;
    const { stems, impacts, nameStems: ofName } = readDocument(document, vocabulary);
    slots.set(document.name, slot);
    names[slot] = document.name;
    nameStems[slot] = ofName;
    exactNames.add(slot, document.name, document.aliases ?? []);
    stemsOfTool.assign(slot, stems);
    for (const [at, packed] of stems.entries()) {
      vocabulary.retain(valueOf(packed));
      postings.appendPair(valueOf(packed), slot, impacts[at] ?? 0);
    }
  }

  function remove(name: string): boolean {
    const slot = slots.get(name);
    if (slot === undefined) return false;
    for (const packed of packedStems(slot)) {
      postings.removePair(valueOf(packed), slot);
      vocabulary.release(valueOf(packed));
    }
    stemsOfTool.clear(slot);
    exactNames.remove(slot);
    slots.delete(name);
    names[slot] = "";
    freeSlots.push(slot);
    return true;
  }

  function packedStems(slot: number): Int32Array {
    const from = stemsOfTool.start(slot);
    return stemsOfTool.data.subarray(from, from + stemsOfTool.length(slot));
  }

  function search(query: string, { limit, filter }: SearchOptions): SearchMatch[] {
    const accepts = (slot: number) => filter === undefined || filter(names[slot] ?? "");
    const words = readQuery(query, vocabulary, slots.size);
    const exact = exactNames.find(query).filter(({ slot }) => accepts(slot));
    const isExact = new Set(exact.map(({ slot }) => slot));
    scoreWords(words);
    const wanted = Math.max(0, Math.floor(limit));
    const ranked = bestSlots(wanted - exact.length, (slot) => !isExact.has(slot) && accepts(slot));
    const perfect = perfectScore(words);
    const matches = exact.slice(0, wanted).map((match) => exactMatch(match, words));
    for (const { slot, score, name } of ranked) {
      const share = Math.round((score / perfect) * 1000) / 1000;
      matches.push({ tool_name: name, score: share, reasons: reasonsOf(slot, words) });
    }
    return matches;
  }

  function scoreWords(words: readonly QueryWord[]): void {
    board.begin(names.length);
    const { data } = postings;
    for (const { stems } of words) {
      board.beginWord();
      for (const { id, weight } of stems) {
        const from = postings.start(id);
        board.credit(data, from, from + postings.length(id), weight);
      }
    }
  }

  /** The `limit` best of the credited tools, in order. */
  function bestSlots(limit: number, accepts: (slot: number) => boolean): RankedSlot[] {
    const best: RankedSlot[] = [];
    if (!(limit > 0)) return best;
    const keepBest = () => {
      best.sort(byScoreThenName);
      if (best.length > limit) best.length = limit;
    };
    const { credited, count, scores, nameWeights } = board;
    let least = -Infinity;
    for (let each = 0; each < count; each += 1) {
      const slot = credited[each] as number;
      const ofWords = scores[slot] as number;
      const inName = nameWeights[slot] as number;
      // Coverage takes a walk over the name, so it is left to those it could still help.
      if (ofWords + (inName > 0 ? RANKING.nameCoverage : 0) < least) continue;
      const score = ofWords + (inName > 0 ? coverageGain(slot, inName) : 0);
      if (score < least || !accepts(slot)) continue;
      best.push({ slot, score, name: names[slot] ?? "" });
      if (best.length < limit * 2 + SMALLEST_BATCH) continue;
      keepBest();
      least = best[limit - 1]?.score ?? least;
    }
    keepBest();
    return best;
  }

  /** Grows with the square of the share of the name that was asked for, rare words counting more. */
  function coverageGain(slot: number, weightInName: number): number {
    const from = stemsOfTool.start(slot);
    const to = from + (nameStems[slot] ?? 0);
    let whole = 0;
    for (let at = from; at < to; at += 1) {
      const id = valueOf(stemsOfTool.data[at] ?? 0);
      whole += rarity(vocabulary.toolsWith(id), slots.size);
    }
    const share = Math.min(1, weightInName / whole);
    return RANKING.nameCoverage * share * share;
  }

  function exactMatch(match: ExactName, words: readonly QueryWord[]): SearchMatch {
    return {
      tool_name: names[match.slot] ?? "",
      score: 1,
      reasons: [reasonForExactName(match), ...reasonsOf(match.slot, words)],
    };
  }

  function reasonsOf(slot: number, words: readonly QueryWord[]): string[] {
    const fieldsOfStem = new Map<number, number>();
    for (const packed of packedStems(slot)) fieldsOfStem.set(valueOf(packed), fieldsOf(packed));
    return reasonsFor(words, fieldsOfStem, vocabulary);
  }

  for (const document of documents) add(document);
  return {
    get size() {
      return slots.size;
    },
    add,
    remove,
    search,
  };
}

interface RankedSlot {
  slot: number;
  score: number;
  name: string;
}

/** How many more candidates than needed are gathered before the weaker ones are dropped. */
const SMALLEST_BATCH = 16;

function byScoreThenName(a: RankedSlot, b: RankedSlot): number {
  if (a.score !== b.score) return b.score - a.score;
  return a.name < b.name ? -1 : 1;
}

function perfectScore(words: readonly QueryWord[]): number {
  let sum = RANKING.nameCoverage;
  for (const { stems } of words) sum += stems[0]?.weight ?? 0;
  return sum;
}
