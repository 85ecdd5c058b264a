// Numbers that look random and come back with their seed.

export interface RandomNumbers {
  /** From 0 to below 1. */
  next(): number;
  /** Whole, from `least` to `most`. */
  between(least: number, most: number): number;
  pick<T>(from: readonly T[]): T;
  shuffle<T>(given: readonly T[]): T[];
}

export function randomNumbers(seed: number): RandomNumbers {
  let state = seed >>> 0;
  const numbers: RandomNumbers = {
    next() {
      // mulberry32
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    },
    between: (least, most) => least + Math.floor(numbers.next() * (most - least + 1)),
    pick: (from) => from[numbers.between(0, from.length - 1)] as (typeof from)[number],
    shuffle(given) {
      const shuffled = [...given];
      for (let i = shuffled.length - 1; i > 0; i -= 1) {
        const j = numbers.between(0, i);
        [shuffled[i], shuffled[j]] = [shuffled[j], shuffled[i]] as [never, never];
      }
      return shuffled;
    },
  };
  return numbers;
}
