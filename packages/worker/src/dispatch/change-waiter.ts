// Waits until a topic of the store is woken, or it is time to look in any case.

import type { Store } from "@soong/store";

export interface ChangeWaiter {
  /** Adds a topic to wait for. */
  listen(topic: string): void;
  /** Returns whether a topic was woken since the last call, or the signal aborted. */
  wait(ms?: number): Promise<boolean>;
  close(): void;
}

export function createChangeWaiter(
  store: Store,
  { signal, pollMs }: { readonly signal: AbortSignal; readonly pollMs: number },
): ChangeWaiter {
  let wake = (): void => {};
  let isWoken = false;
  const onWoken = (): void => {
    isWoken = true;
    wake();
  };
  const topics = new Map<string, (() => void) | undefined>();
  signal.addEventListener("abort", onWoken);
  return {
    listen(topic) {
      if (!topics.has(topic)) topics.set(topic, store.cluster?.listen(topic, onWoken));
    },
    async wait(ms = pollMs) {
      if (!isWoken && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      const wasWoken = isWoken;
      isWoken = false;
      return wasWoken;
    },
    close() {
      for (const unlisten of topics.values()) unlisten?.();
      signal.removeEventListener("abort", onWoken);
    },
  };
}
