// Reads a tool's text into weighted stems: which stems it holds, in which fields, and how strongly
// each speaks for it. A stem and its fields, or an impact and its fields, travel as one integer.
import { FIELD, FIELDS, type FieldName, measureImpact } from "./ranking.ts";
import type { SearchDocument } from "./search-document.ts";
import { stem } from "./stem.ts";
import { isStopWord } from "./stop-words.ts";
import { tokenize } from "./tokenize.ts";
import type { Vocabulary } from "./vocabulary.ts";

export interface DocumentStems {
  /** Each stem once, those of the name first: its number above its fields, see `pack`. */
  stems: number[];
  /** For each of `stems`: the impact, from 0 to `FULL_IMPACT`, above the same fields. */
  impacts: number[];
  nameStems: number;
}

export const FULL_IMPACT = 0xff_ffff;

/** Puts a number of up to 24 bits above the eight bits that say in which fields it was seen. */
export function pack(value: number, fields: number): number {
  return (value << 8) | fields;
}

export function unpackValue(packed: number): number {
  return packed >>> 8;
}

export function unpackFields(packed: number): number {
  return packed & 0xff;
}

export function readDocument(document: SearchDocument, vocabulary: Vocabulary): DocumentStems {
  const found = new Map<number, FoundStem>();

  function count(field: FieldName, words: readonly string[]): void {
    const { weight, lengthPenalty, usualLength } = FIELDS[field];
    // A field of a word or two is not a better one for being so short.
    const length = Math.max(words.length / usualLength, SHORTEST_FAVOURED);
    const each = weight / (1 - lengthPenalty + lengthPenalty * length);
    for (const word of words) {
      const id = vocabulary.intern(stem(word), word);
      const known = found.get(id);
      if (known === undefined) {
        found.set(id, { count: each, fields: FIELD[field] });
      } else {
        known.count += each;
        known.fields |= FIELD[field];
      }
    }
  }

  const compounds: string[] = [];
  count("name", tokenize(document.name, FIELDS.name.maxWords, compounds));
  const nameStems = found.size;
  const aliases = (document.aliases ?? []).slice(0, MAX_ALIASES).join(" ");
  count("alias", compounds.concat(tokenize(aliases, FIELDS.alias.maxWords)));
  count("hint", meaningfulWords("hint", document.search_hint));
  count("title", meaningfulWords("title", document.title));
  count("description", meaningfulWords("description", document.description));
  count("parameter", meaningfulWords("parameter", document.parameters?.join(" ")));
  count("parameter_text", meaningfulWords("parameter_text", document.parameter_text));
  count("tag", meaningfulWords("tag", document.tags?.join(" ")));

  const stems: number[] = [];
  const impacts: number[] = [];
  for (const [id, { count: counted, fields }] of found) {
    stems.push(pack(id, fields));
    impacts.push(pack(Math.round(measureImpact(counted) * FULL_IMPACT), fields));
  }
  return { stems, impacts, nameStems };
}

interface FoundStem {
  count: number;
  fields: number;
}

const MAX_ALIASES = 32;
const SHORTEST_FAVOURED = 0.5;

function meaningfulWords(field: FieldName, text: string | undefined): string[] {
  if (!text) return [];
  const words: string[] = [];
  for (const word of tokenize(text, FIELDS[field].maxWords, words)) {
    if (!isStopWord(word)) words.push(word);
  }
  return words;
}
