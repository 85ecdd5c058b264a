// Random numbers from a seed, so that a case can be made again from its number alone.

export interface Random {
  /** From 0, below `limit`. */
  below: (limit: number) => number;
  pick: <T>(items: readonly T[]) => T;
  /** True once in `n`. */
  oneIn: (n: number) => boolean;
}

export function randomFrom(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    pick: (items) => items[below(items.length)] as (typeof items)[number],
    oneIn: (n) => below(n) === 0,
  };
}
