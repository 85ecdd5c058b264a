// Finds tools whose name was typed out: in any case, with any separators, by an alias, or by the
// last part of a dotted name. Such a tool ranks before every other, regardless of the score of its words.
import { foldName } from "./tokenize.ts";

export interface ExactName {
  slot: number;
  kind: "name" | "alias" | "last_part";
  /** The name, alias or part that was typed. */
  typed: string;
}

export class ExactNames {
  readonly #slotsByKey = new Map<string, Set<number> | number>();
  readonly #names: NamesOfTool[] = [];

  add(slot: number, name: string, aliases: readonly string[]): void {
    const names = { name, aliases };
    this.#names[slot] = names;
    for (const key of listKeys(names)) {
      const known = this.#slotsByKey.get(key);
      if (known === undefined) this.#slotsByKey.set(key, slot);
      else if (typeof known === "number") this.#slotsByKey.set(key, new Set([known, slot]));
      else known.add(slot);
    }
  }

  remove(slot: number): void {
    for (const key of listKeys(this.#names[slot] ?? NO_NAMES)) {
      const known = this.#slotsByKey.get(key);
      if (typeof known === "object") known.delete(slot);
      if (known === slot || (typeof known === "object" && known.size === 0)) {
        this.#slotsByKey.delete(key);
      }
    }
    this.#names[slot] = NO_NAMES;
  }

  /** The tools that `query` names, best first. */
  find(query: string): ExactName[] {
    if (query.length > MAX_TYPED_CHARS) return [];
    const typed = query.trim();
    const known = this.#slotsByKey.get(nameKey(typed)) ?? [];
    const slots = typeof known === "number" ? [known] : [...known];
    return slots
      .map((slot) => closest(slot, this.#names[slot] ?? NO_NAMES, typed))
      .toSorted((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1));
  }
}

interface NamesOfTool {
  name: string;
  aliases: readonly string[];
}

interface RankedName extends ExactName {
  rank: number;
  name: string;
}

const NO_NAMES: NamesOfTool = { name: "", aliases: [] };
/** A longer query is a sentence, or junk; no name is that long. */
const MAX_TYPED_CHARS = 512;

/** How a tool found under the key of `typed` came to be there, the strongest way first. */
function closest(slot: number, { name, aliases }: NamesOfTool, typed: string): RankedName {
  const lower = typed.toLowerCase();
  const key = nameKey(typed);
  const sameAlias = aliases.find((alias) => alias.toLowerCase() === lower);
  const likeAlias = sameAlias ?? aliases.find((alias) => nameKey(alias) === key);
  const found = (kind: ExactName["kind"], text: string, rank: number): RankedName => {
    return { slot, kind, typed: text, rank, name };
  };
  if (name === typed) return found("name", name, 0);
  if (name.toLowerCase() === lower) return found("name", name, 1);
  if (sameAlias !== undefined) return found("alias", sameAlias, 2);
  if (nameKey(name) === key) return found("name", name, 3);
  if (likeAlias !== undefined) return found("alias", likeAlias, 4);
  return found("last_part", lastPart(name), 5);
}

function listKeys({ name, aliases }: NamesOfTool): Set<string> {
  return new Set([name, lastPart(name), ...aliases].map(nameKey));
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

/** A name of nothing but signs still has to be found on its own. */
function nameKey(name: string): string {
  return foldName(name) || name.toLowerCase();
}
