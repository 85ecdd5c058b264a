// The stems of all indexed tools, numbered, with how many tools hold each. A stem that no tool holds
// any more is forgotten at once, so the vocabulary is always that of the tools there are.
import { NearStems, type NearStem } from "./near-stems.ts";

export class Vocabulary {
  readonly #ids = new Map<string, number>();
  readonly #stems: string[] = [];
  readonly #words: string[] = [];
  readonly #counts: number[] = [];
  readonly #freeIds: number[] = [];
  readonly #nearStems = new NearStems(this);

  idOf(stemmed: string): number | undefined {
    return this.#ids.get(stemmed);
  }

  /** The number of a stem, given out at first sight. `word` is the form it was met in. */
  intern(stemmed: string, word: string): number {
    const known = this.#ids.get(stemmed);
    if (known !== undefined) {
      const form = this.readable(known);
      const isShorter = word.length < form.length || (word.length === form.length && word < form);
      if (isShorter) this.#words[known] = ownCopy(word);
      return known;
    }
    const id = this.#freeIds.pop() ?? this.#stems.length;
    const owned = ownCopy(stemmed);
    this.#ids.set(owned, id);
    this.#stems[id] = owned;
    this.#words[id] = word === stemmed ? owned : ownCopy(word);
    this.#counts[id] = 0;
    this.#nearStems.add(id);
    return id;
  }

  stemOf(id: number): string {
    return this.#stems[id] ?? "";
  }

  /** The shortest form of the stem that was met. */
  readable(id: number): string {
    return this.#words[id] ?? "";
  }

  toolsWith(id: number): number {
    return this.#counts[id] ?? 0;
  }

  /** One more tool holds the stem. */
  retain(id: number): void {
    this.#counts[id] = this.toolsWith(id) + 1;
  }

  /** One tool fewer holds the stem. */
  release(id: number): void {
    this.#counts[id] = this.toolsWith(id) - 1;
    if (this.toolsWith(id) > 0) return;
    this.#nearStems.remove(id);
    this.#ids.delete(this.stemOf(id));
    this.#stems[id] = "";
    this.#words[id] = "";
    this.#freeIds.push(id);
  }

  /** Known stems that begin with `word` or lie a slip or two away from it. */
  near(word: string): NearStem[] {
    return this.#nearStems.find(word);
  }
}

/** Engines let a long slice keep alive the whole text it was cut from; a stem outlives that text. */
function ownCopy(word: string): string {
  return word.length < SHORTEST_SHARED_SLICE ? word : Array.from(word).join("");
}

const SHORTEST_SHARED_SLICE = 13;
