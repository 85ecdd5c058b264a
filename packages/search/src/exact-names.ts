// Finds tools whose name was typed out: in any case, with any separators, by an alias, or by the
// last part of a dotted name. Such a tool ranks before every other, whatever its words score.
import { foldName } from "./tokenize.ts";

export interface ExactNames {
  add(slot: number, name: string, aliases: readonly string[]): void;
  remove(slot: number): void;
  /** The tools that `query` names, best first. */
  find(query: string): ExactName[];
}

export interface ExactName {
  slot: number;
  kind: "name" | "alias" | "last_part";
  /** The name, alias or part that was typed. */
  typed: string;
}

export function createExactNames(): ExactNames {
  const slotsByKey = new Map<string, Set<number> | number>();
  const namesOf: NamesOfTool[] = [];

  function keysOf({ name, aliases }: NamesOfTool): Set<string> {
    return new Set([name, lastPart(name), ...aliases].map(keyOf));
  }

  return {
    add(slot, name, aliases) {
      const names = { name, aliases };
      namesOf[slot] = names;
      for (const key of keysOf(names)) {
        const known = slotsByKey.get(key);
        if (known === undefined) slotsByKey.set(key, slot);
        else if (typeof known === "number") slotsByKey.set(key, new Set([known, slot]));
        else known.add(slot);
      }
    },
    remove(slot) {
      const names = namesOf[slot];
      if (names === undefined) return;
      for (const key of keysOf(names)) {
        const known = slotsByKey.get(key);
        if (typeof known === "object") known.delete(slot);
        if (known === slot || (typeof known === "object" && known.size === 0)) {
          slotsByKey.delete(key);
        }
      }
      namesOf[slot] = NO_NAMES;
    },
    find(query) {
      if (query.length > MAX_TYPED_CHARS) return [];
      const typed = query.trim();
      const known = slotsByKey.get(keyOf(typed));
      if (known === undefined) return [];
      const slots = typeof known === "number" ? [known] : [...known];
      return slots
        .map((slot) => closest(slot, namesOf[slot] ?? NO_NAMES, typed))
        .toSorted((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1))
        .map(({ slot, kind, typed: text }) => ({ slot, kind, typed: text }));
    },
  };
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
  const key = keyOf(typed);
  const sameAlias = aliases.find((alias) => alias.toLowerCase() === lower);
  const likeAlias = sameAlias ?? aliases.find((alias) => keyOf(alias) === key);
  const is = (kind: ExactName["kind"], text: string, rank: number): RankedName => {
    return { slot, kind, typed: text, rank, name };
  };
  if (name === typed) return is("name", name, 0);
  if (name.toLowerCase() === lower) return is("name", name, 1);
  if (sameAlias !== undefined) return is("alias", sameAlias, 2);
  if (keyOf(name) === key) return is("name", name, 3);
  if (likeAlias !== undefined) return is("alias", likeAlias, 4);
  return is("last_part", lastPart(name), 5);
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

/** A name of nothing but signs still has to be found by itself. */
function keyOf(name: string): string {
  return foldName(name) || name.toLowerCase();
}
