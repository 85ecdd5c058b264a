// News that may come in a flood: said at once, and of what comes soon after only the last, when the time is over.

import type { Clock } from "@soong/core";

export interface OftenAtMost<T> {
  /** News under the same key stand for each other. */
  say(key: string, news: T): void;
  close(): void;
}

export function oftenAtMost<T>(ms: number, clock: Clock, tell: (news: T) => void): OftenAtMost<T> {
  const resting = new Map<string, { held: T | undefined; disarm: () => void }>();

  return {
    say(key, news) {
      const rest = resting.get(key);
      if (rest === undefined) {
        begin(key);
        tell(news);
      } else rest.held = news;
    },
    close() {
      for (const { disarm } of resting.values()) disarm();
      resting.clear();
    },
  };

  function begin(key: string): void {
    const disarm = clock.after(ms, () => {
      const held = resting.get(key)?.held;
      resting.delete(key);
      if (held === undefined) return;
      begin(key);
      tell(held);
    });
    resting.set(key, { held: undefined, disarm });
  }
}
