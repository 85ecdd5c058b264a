// Every number the ranking depends on, and the two formulas they enter. The weights were chosen on one
// half of the queries of the public sets in `bench/search`, and of keywords over 5 800 tools of public servers, and
// checked on the other half; the rest was chosen on both. The optimum is flat, so they are round.

/** Where a word of a tool is, strongest first. The value is its bit in a posting. */
export const FIELD = {
  name: 1,
  alias: 2,
  hint: 4,
  title: 8,
  description: 16,
  parameter: 32,
  parameter_text: 64,
  tag: 128,
} as const;

export type FieldName = keyof typeof FIELD;

interface FieldRanking {
  weight: number;
  /** How much a long field weakens each of its words, from 0 to 1. */
  lengthPenalty: number;
  /** The length at which a field is neither favoured nor weakened. */
  usualLength: number;
  maxWords: number;
}

/**
 * Usual lengths are fixed, not averages over the index: a tool's words then weigh the same regardless of what
 * other tools there are, and adding one touches no other.
 */
export const FIELDS: Readonly<Record<FieldName, Readonly<FieldRanking>>> = {
  name: { weight: 3.8, lengthPenalty: 0.6, usualLength: 3.5, maxWords: 32 },
  alias: { weight: 3.8, lengthPenalty: 0.3, usualLength: 3.5, maxWords: 64 },
  hint: { weight: 3.6, lengthPenalty: 0.3, usualLength: 6, maxWords: 64 },
  title: { weight: 3.4, lengthPenalty: 0.3, usualLength: 3.5, maxWords: 64 },
  description: { weight: 2.5, lengthPenalty: 0.7, usualLength: 9, maxWords: 400 },
  parameter: { weight: 0.5, lengthPenalty: 0.5, usualLength: 4, maxWords: 300 },
  parameter_text: { weight: 0.3, lengthPenalty: 0.5, usualLength: 14, maxWords: 600 },
  tag: { weight: 0.3, lengthPenalty: 0.3, usualLength: 3, maxWords: 32 },
};

export const RANKING = {
  /** Weighted occurrences at which a word has half of its full effect. */
  saturation: 1,
  /** What a tool gains when the query names every part of its name. */
  nameCoverage: 2,
  synonym: 0.5,
  prefix: 0.6,
  /** For each slip. */
  typo: 0.55,
  /** How much a guess loses for being rarer than another, from 0 to 1. */
  commoner: 0.2,
  /** Two words of the query read as one, or one as two. */
  joined: 0.4,
  number: 0.3,
  stopWord: 0.3,
} as const;

/** How much a word speaks for a tool, from 0 to 1, given its weighted occurrences over all fields. */
export function measureImpact(weightedCount: number): number {
  return weightedCount / (RANKING.saturation + weightedCount);
}

/** How much a word tells tools apart: rare words tell more. */
export function rarity(toolsWithWord: number, tools: number): number {
  return Math.log((tools + 1) / (toolsWithWord + 0.5));
}
