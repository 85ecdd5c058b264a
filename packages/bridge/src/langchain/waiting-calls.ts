// Calls that wait for their user's answer, by the answer of the model that they are part of.

import { keepLatest } from "./answer-places.ts";

export class WaitingCalls {
  readonly #answers = new Map<string, Waiting>();

  /** It has paused. */
  add(answer: string, at: number): void {
    const waiting = this.#answers.get(answer) ?? { places: new Set<number>(), answered: new Set() };
    waiting.places.add(at);
    keepLatest(this.#answers, answer, waiting);
  }

  has(answer: string, at: number): boolean {
    return this.#answers.get(answer)?.places.has(at) === true;
  }

  /** It has an answer of its own. */
  take(answer: string, at: number): void {
    this.#remove(answer, [at]);
  }

  /** It has an answer that all calls get which wait: their places in order. Undefined: they paused in another process. */
  takeShared(answer: string, at: number): readonly number[] | undefined {
    const waiting = this.#answers.get(answer);
    if (waiting?.places.has(at) !== true) return undefined;
    const places = [...waiting.places].toSorted((a, b) => a - b);
    waiting.answered.add(at);
    if (waiting.answered.size === places.length) this.#remove(answer, places);
    return places;
  }

  #remove(answer: string, places: readonly number[]): void {
    const waiting = this.#answers.get(answer);
    for (const at of places) waiting?.places.delete(at);
    if (waiting?.places.size === 0) this.#answers.delete(answer);
  }
}

interface Waiting {
  readonly places: Set<number>;
  /** Of those, the ones that have taken the shared answer. */
  readonly answered: Set<number>;
}
