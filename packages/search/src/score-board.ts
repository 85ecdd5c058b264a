// The running scores of one search, an entry for each tool. Nothing is cleared between searches: an
// entry counts only when it carries the stamp of the search or of the word it was written for.
import { fieldsOf, FULL_IMPACT, valueOf } from "./document-stems.ts";
import { FIELD } from "./ranking.ts";

export interface ScoreBoard {
  /** The slots credited since `begin`: the first `count` entries. */
  readonly credited: Int32Array;
  readonly count: number;
  /** By slot, for those credited. */
  readonly scores: Float64Array;
  /** By slot, for those credited: the sum of the weights of the words that stand in the name. */
  readonly nameWeights: Float64Array;
  /** Starts a search over slots below `slots`. */
  begin(slots: number): void;
  /** Starts a word of the query: within it a tool keeps its best gain only. */
  beginWord(): void;
  /**
   * Credits the tools of a posting list: pairs of slot and packed impact in `postings`, from `from`
   * up to `to`. The stems of one word have to come in falling weight.
   */
  credit(postings: Int32Array, from: number, to: number, weight: number): void;
}

export function createScoreBoard(): ScoreBoard {
  let scores = new Float64Array(0);
  let nameWeights = new Float64Array(0);
  let lastGains = new Float64Array(0);
  let lastWords = new Float64Array(0);
  let lastNameWords = new Float64Array(0);
  let credited = new Int32Array(0);
  let count = 0;
  /** Counts words over all searches, so that a stamp is never used twice. */
  let word = 0;
  let firstWord = 0;

  return {
    get credited() {
      return credited;
    },
    get count() {
      return count;
    },
    get scores() {
      return scores;
    },
    get nameWeights() {
      return nameWeights;
    },
    begin(slots) {
      if (slots > scores.length) {
        const size = Math.ceil(slots * 1.25);
        scores = new Float64Array(size);
        nameWeights = new Float64Array(size);
        lastGains = new Float64Array(size);
        lastWords = new Float64Array(size);
        lastNameWords = new Float64Array(size);
        credited = new Int32Array(size);
      }
      count = 0;
      firstWord = word + 1;
    },
    beginWord() {
      word += 1;
    },
    credit(postings, from, to, weight) {
      const scale = weight / FULL_IMPACT;
      for (let at = from; at < to; at += 2) {
        const slot = postings[at] as number;
        const packed = postings[at + 1] as number;
        const gain = scale * valueOf(packed);
        const lastWord = lastWords[slot] as number;
        if (lastWord < firstWord) {
          credited[count] = slot;
          count += 1;
          scores[slot] = gain;
          nameWeights[slot] = 0;
          lastGains[slot] = gain;
          lastWords[slot] = word;
        } else if (lastWord !== word) {
          scores[slot] = (scores[slot] as number) + gain;
          lastGains[slot] = gain;
          lastWords[slot] = word;
        } else if (gain > (lastGains[slot] as number)) {
          scores[slot] = (scores[slot] as number) + gain - (lastGains[slot] as number);
          lastGains[slot] = gain;
        }
        if ((fieldsOf(packed) & FIELD.name) !== 0 && lastNameWords[slot] !== word) {
          nameWeights[slot] = (nameWeights[slot] as number) + weight;
          lastNameWords[slot] = word;
        }
      }
    },
  };
}
