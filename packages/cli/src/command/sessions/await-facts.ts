// When to look for new facts of a session that another process writes: at short intervals on one machine; where machines share
// the store, when it says that there are some.

import { inTime } from "@soong/platform";
import type { Store } from "@soong/store";

export interface FactNews {
  /** Settles when it is time to look. */
  next(): Promise<void>;
  /** Whether nothing has come for so long that its process may be gone. */
  isDoubtful(cameSome: boolean): boolean;
  close(): void;
}

const LOOK_MS = 100;
const DOUBT_MS = 2_000;
/** Of a process on another machine, the lease says whether it is there: it is asked less often. */
const NOTIFIED = { lookMs: 2_000, doubtMs: 10_000 };

export function awaitFacts({ cluster }: Pick<Store, "cluster">, session_id: string): FactNews {
  const { lookMs, doubtMs } =
    cluster === undefined ? { lookMs: LOOK_MS, doubtMs: DOUBT_MS } : NOTIFIED;
  let woken = new AbortController();
  const unlisten = cluster?.listen(`facts/${session_id}`, () => woken.abort());
  let idleSince = performance.now();
  return {
    async next() {
      await inTime(new Promise<never>(() => {}), { ms: lookMs, signal: woken.signal });
      if (woken.signal.aborted) woken = new AbortController();
    },
    isDoubtful(cameSome) {
      const now = performance.now();
      if (!cameSome && now - idleSince < doubtMs) return false;
      idleSince = now;
      return !cameSome;
    },
    close: () => unlisten?.(),
  };
}
