// The stems of all indexed tools, numbered, with how many tools hold each. A stem that no tool holds
// any more is forgotten at once, so the vocabulary is always that of the tools there are.
import { createNearStems, type NearStem } from "./near-stems.ts";

export interface Vocabulary {
  idOf(stemmed: string): number | undefined;
  /** The number of a stem, given out at first sight. `word` is the form it was met in. */
  intern(stemmed: string, word: string): number;
  stemOf(id: number): string;
  /** The shortest form of the stem that was met. */
  readable(id: number): string;
  toolsWith(id: number): number;
  /** One more tool holds the stem. */
  retain(id: number): void;
  /** One tool fewer holds the stem. */
  release(id: number): void;
  /** Known stems that begin with `word` or lie a slip or two away from it. */
  near(word: string): NearStem[];
}

export function createVocabulary(): Vocabulary {
  const ids = new Map<string, number>();
  const stems: string[] = [];
  const words: string[] = [];
  const counts: number[] = [];
  const freeIds: number[] = [];
  const nearStems = createNearStems(
    (id) => stems[id] ?? "",
    (stemmed) => ids.get(stemmed),
  );

  function create(stemmed: string, word: string): number {
    const id = freeIds.pop() ?? stems.length;
    const owned = ownCopy(stemmed);
    ids.set(owned, id);
    stems[id] = owned;
    words[id] = word === stemmed ? owned : ownCopy(word);
    counts[id] = 0;
    nearStems.add(id);
    return id;
  }

  return {
    idOf: (stemmed) => ids.get(stemmed),
    intern(stemmed, word) {
      const id = ids.get(stemmed);
      if (id === undefined) return create(stemmed, word);
      const known = words[id] ?? "";
      if (word.length < known.length || (word.length === known.length && word < known)) {
        words[id] = ownCopy(word);
      }
      return id;
    },
    stemOf: (id) => stems[id] ?? "",
    readable: (id) => words[id] ?? "",
    toolsWith: (id) => counts[id] ?? 0,
    retain(id) {
      counts[id] = (counts[id] ?? 0) + 1;
    },
    release(id) {
      const left = (counts[id] ?? 0) - 1;
      counts[id] = left;
      if (left > 0) return;
      nearStems.remove(id);
      ids.delete(stems[id] ?? "");
      stems[id] = "";
      words[id] = "";
      freeIds.push(id);
    },
    near: (word) => nearStems.find(word),
  };
}

/** Engines let a long slice keep alive the whole text it was cut from; a stem outlives that text. */
function ownCopy(word: string): string {
  return word.length < SHORTEST_SHARED_SLICE ? word : Array.from(word).join("");
}

const SHORTEST_SHARED_SLICE = 13;
