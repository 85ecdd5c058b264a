// The running scores of one search, an entry for each tool. Nothing is cleared between searches: an
// entry counts only when it carries the stamp of the search or of the word it was written for.
import { unpackFields, FULL_IMPACT, unpackValue } from "./document-stems.ts";
import { FIELD } from "./ranking.ts";

export class ScoreBoard {
  /** The slots credited since `begin`. */
  credited: number[] = [];
  /** By slot, for those credited. */
  scores = new Float64Array(0);
  /** By slot, for those credited: the sum of the weights of the words that stand in the name. */
  nameWeights = new Float64Array(0);
  #lastGains = new Float64Array(0);
  #lastWords = new Float64Array(0);
  #lastNameWords = new Float64Array(0);
  /** Counts words over all searches, so that a stamp is never used twice. */
  #word = 0;
  #firstWord = 0;

  /** Starts a search over slots below `slots`. */
  begin(slots: number): void {
    if (slots > this.scores.length) {
      const size = Math.ceil(slots * 1.25);
      this.scores = new Float64Array(size);
      this.nameWeights = new Float64Array(size);
      this.#lastGains = new Float64Array(size);
      this.#lastWords = new Float64Array(size);
      this.#lastNameWords = new Float64Array(size);
    }
    this.credited = [];
    this.#firstWord = this.#word + 1;
  }

  /** Starts a word of the query: within it a tool keeps its best gain only. */
  beginWord(): void {
    this.#word += 1;
  }

  /** Credits the tools of a stem: pairs of slot and packed impact. The stems of one word have to come in falling weight. */
  credit(postings: readonly number[], weight: number): void {
    const { scores, nameWeights, credited } = this;
    const lastGains = this.#lastGains;
    const lastWords = this.#lastWords;
    const lastNameWords = this.#lastNameWords;
    const word = this.#word;
    const firstWord = this.#firstWord;
    const scale = weight / FULL_IMPACT;
    for (let at = 0; at < postings.length; at += 2) {
      const slot = postings[at]!;
      const packed = postings[at + 1]!;
      const gain = scale * unpackValue(packed);
      const lastWord = lastWords[slot]!;
      const before = lastWord === word ? lastGains[slot]! : 0;
      if (lastWord < firstWord) {
        credited.push(slot);
        scores[slot] = 0;
        nameWeights[slot] = 0;
      }
      if (gain > before || lastWord !== word) {
        scores[slot] = scores[slot]! + gain - before;
        lastGains[slot] = gain;
        lastWords[slot] = word;
      }
      if ((unpackFields(packed) & FIELD.name) !== 0 && lastNameWords[slot] !== word) {
        nameWeights[slot] = nameWeights[slot]! + weight;
        lastNameWords[slot] = word;
      }
    }
  }
}
