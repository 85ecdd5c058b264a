// A throttle for news: the first is sent at once, of what follows within the interval only the last, at its end.

import type { Clock } from "@soong/core";

export interface Throttle<T> {
  /** Of news under the same key the last one counts. */
  send(key: string, news: T): void;
  close(): void;
}

export function createThrottle<T>(ms: number, clock: Clock, send: (news: T) => void): Throttle<T> {
  const resting = new Map<string, { held: T | undefined; disarm: () => void }>();

  return {
    send(key, news) {
      const rest = resting.get(key);
      if (rest === undefined) {
        begin(key);
        send(news);
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
      send(held);
    });
    resting.set(key, { held: undefined, disarm });
  }
}
