// The search over tools (SEARCH-2, SEARCH-5): a weighted-field BM25 index in memory, updated one tool
// at a time. What it answers depends on the tools it holds, never on the order in which they came.
import { unpackFields, readDocument, unpackValue } from "./document-stems.ts";
import { ExactNames } from "./exact-names.ts";
import { removePair } from "./near-stems.ts";
import { type QueryWord, readQuery } from "./query.ts";
import { FIELD, RANKING, rarity } from "./ranking.ts";
import { ScoreBoard } from "./score-board.ts";
import type { SearchDocument } from "./search-document.ts";
import { Vocabulary } from "./vocabulary.ts";

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
  /** For a model or the user: `name: read, file`, `typo: serach→search`. */
  reasons: string[];
}

/** By slot: the name, and packed stems of which those of the name are first. */
interface IndexedTool {
  readonly name: string;
  readonly stems: readonly number[];
  readonly nameStems: number;
}

/** A full-text index of tools that forgives misspelt words. */
export function createSearchIndex(documents: Iterable<SearchDocument> = []): SearchIndex {
  const vocabulary = new Vocabulary();
  const exactNames = new ExactNames();
  const board = new ScoreBoard();
  /** For each stem: pairs of slot and packed impact. */
  const postings: number[][] = [];
  const slots = new Map<string, number>();
  const tools: IndexedTool[] = [];
  const freeSlots: number[] = [];

  function add(document: SearchDocument): void {
    const { name } = document;
    remove(name);
    const slot = freeSlots.pop() ?? tools.length;
    const { stems, impacts, nameStems } = readDocument(document, vocabulary);
    slots.set(name, slot);
    tools[slot] = { name, stems, nameStems };
    exactNames.add(slot, name, document.aliases ?? []);
    for (const [at, packed] of stems.entries()) {
      const id = unpackValue(packed);
      vocabulary.retain(id);
      (postings[id] ??= []).push(slot, impacts[at]!);
    }
  }

  function remove(name: string): boolean {
    const slot = slots.get(name);
    if (slot === undefined) return false;
    for (const packed of tools[slot]!.stems) {
      removePair(postings[unpackValue(packed)]!, slot);
      vocabulary.release(unpackValue(packed));
    }
    exactNames.remove(slot);
    slots.delete(name);
    tools[slot] = REMOVED;
    freeSlots.push(slot);
    return true;
  }

  function search(query: string, { limit, filter }: SearchOptions): SearchMatch[] {
    if (slots.size === 0) return [];
    const accepts = (slot: number) => filter === undefined || filter(tools[slot]!.name);
    const words = readQuery(query, vocabulary, slots.size);
    const exact = exactNames.find(query).filter(({ slot }) => accepts(slot));
    const isExact = new Set(exact.map(({ slot }) => slot));
    board.begin(tools.length);
    for (const { stems } of words) {
      board.beginWord();
      for (const { id, weight } of stems) board.credit(postings[id] ?? [], weight);
    }
    const wanted = Math.max(0, Math.floor(limit));
    const ranked = bestSlots(wanted - exact.length, (slot) => !isExact.has(slot) && accepts(slot));
    let perfect: number = RANKING.nameCoverage;
    for (const { stems } of words) perfect += stems[0]!.weight;
    const matches = exact.slice(0, wanted).map(({ slot, kind, typed }) => ({
      tool_name: tools[slot]!.name,
      score: 1,
      reasons: [`exact ${kind === "alias" ? "alias" : "name"}: ${typed}`, ...explain(slot, words)],
    }));
    for (const { slot, score, name } of ranked) {
      const share = Math.round((score / perfect) * 1000) / 1000;
      matches.push({ tool_name: name, score: share, reasons: explain(slot, words) });
    }
    return matches;
  }

  /** The `limit` best of the credited tools, in order. */
  function bestSlots(limit: number, accepts: (slot: number) => boolean): RankedSlot[] {
    const best: RankedSlot[] = [];
    if (!(limit > 0)) return best;
    const keepBest = () => {
      best.sort(byScoreThenName);
      if (best.length > limit) best.length = limit;
    };
    const { credited, scores, nameWeights } = board;
    let least = -Infinity;
    for (const slot of credited) {
      const ofWords = scores[slot]!;
      const inName = nameWeights[slot]!;
      // Coverage takes a walk over the name, so it is left to those it could still help.
      if (ofWords + (inName > 0 ? RANKING.nameCoverage : 0) < least) continue;
      const score = ofWords + (inName > 0 ? coverageGain(slot, inName) : 0);
      if (score < least || !accepts(slot)) continue;
      best.push({ slot, score, name: tools[slot]!.name });
      if (best.length < limit * 2 + SMALLEST_BATCH) continue;
      keepBest();
      least = best[limit - 1]?.score ?? least;
    }
    keepBest();
    return best;
  }

  /** Grows with the square of the share of the name that was asked for, rare words counting more. */
  function coverageGain(slot: number, weightInName: number): number {
    const { stems, nameStems } = tools[slot]!;
    let whole = 0;
    for (let at = 0; at < nameStems; at += 1) {
      whole += rarity(vocabulary.toolsWith(unpackValue(stems[at]!)), slots.size);
    }
    const share = Math.min(1, weightInName / whole);
    return RANKING.nameCoverage * share * share;
  }

  /** `name: read, file`, `parameter: path`, `typo: serach→search`; the strongest field of each word. */
  function explain(slot: number, words: readonly QueryWord[]): string[] {
    const fieldsOfStem = new Map<number, number>();
    for (const packed of tools[slot]!.stems)
      fieldsOfStem.set(unpackValue(packed), unpackFields(packed));
    const found = new Map<string, string[]>(REASONS.map((reason) => [reason, []]));
    for (const { word, stems } of words) {
      const match = stems.find(({ id }) => fieldsOfStem.has(id));
      if (match === undefined) continue;
      const { id, kind } = match;
      if (kind === "same") found.get(strongestField(fieldsOfStem.get(id) ?? 0))?.push(word);
      else found.get(kind)?.push(`${word}→${vocabulary.readable(id)}`);
    }
    return [...found].flatMap(([reason, matched]) =>
      matched.length > 0 ? [`${reason}: ${matched.slice(0, MAX_WORDS).join(", ")}`] : [],
    );
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

const REMOVED: IndexedTool = { name: "", stems: [], nameStems: 0 };

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

const MAX_WORDS = 8;

/** Fields whose name would mean little to a reader share that of a neighbour. */
const LABELS: readonly (readonly [number, string])[] = [
  [FIELD.name | FIELD.alias, "name"],
  [FIELD.hint, "hint"],
  [FIELD.title, "title"],
  [FIELD.description, "description"],
  [FIELD.parameter | FIELD.parameter_text, "parameter"],
  [FIELD.tag, "tag"],
];
const REASONS = [...LABELS.map(([, label]) => label), "synonym", "prefix", "typo"];

function strongestField(fields: number): string {
  return LABELS.find(([bits]) => (fields & bits) !== 0)?.[1] ?? "";
}
