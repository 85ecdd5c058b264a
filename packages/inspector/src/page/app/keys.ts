// Single keys and sequences like `g s`. Pure: what a key means now follows from what is bound and what was pressed last.

export interface Keys {
  /** Later bindings go before earlier ones. The function ends it. */
  bind(actions: KeyActions): () => void;
  /** True when the key meant something. */
  press(key: string, time: number): boolean;
  /** Whether the next key is the second of a sequence. */
  isBegun(time: number): boolean;
}

/** By key, or by sequence: `g s`. */
export type KeyActions = Readonly<Record<string, () => void>>;

const LONGEST_BETWEEN_MS = 1_500;

export function createKeys(): Keys {
  const bound: KeyActions[] = [];
  let before: { key: string; time: number } | undefined;

  function find(sequence: string): (() => void) | undefined {
    return bound.findLast((actions) => Object.hasOwn(actions, sequence))?.[sequence];
  }

  function begins(key: string): boolean {
    return bound.some((actions) => Object.keys(actions).some((name) => name.startsWith(`${key} `)));
  }

  const isInTime = (time: number) =>
    before !== undefined && time - before.time <= LONGEST_BETWEEN_MS;

  return {
    isBegun: isInTime,
    bind(actions) {
      bound.push(actions);
      return () => {
        const at = bound.indexOf(actions);
        if (at >= 0) bound.splice(at, 1);
      };
    },
    press(key, time) {
      const first = isInTime(time) ? before : undefined;
      before = undefined;
      const action = (first && find(`${first.key} ${key}`)) ?? find(key);
      if (action !== undefined) {
        action();
        return true;
      }
      if (!begins(key)) return false;
      before = { key, time };
      return true;
    },
  };
}
