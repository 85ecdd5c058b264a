// When a session is to be looked at again. Where machines share the store it says when there are facts, and looking every few
// seconds is only for what was missed; else every beat is a look.

import type { Store } from "@soong/store";

export interface FactNews {
  isDue(): boolean;
  /** From now on it is due when something more has come. */
  looked(): void;
  close(): void;
}

/** In case a notification was lost. */
const LOOK_ANYWAY_MS = 5_000;

/** `woken`: called when it becomes due by a notification. */
export function followFactNews(
  { cluster }: Pick<Store, "cluster">,
  session_id: string,
  woken: () => void,
): FactNews {
  if (cluster === undefined) return { isDue: () => true, looked: () => {}, close: () => {} };
  let isDue = true;
  let lookedAt = Number.NEGATIVE_INFINITY;
  const unlisten = cluster.listen(`facts/${session_id}`, () => {
    isDue = true;
    woken();
  });
  return {
    isDue: () => isDue || performance.now() - lookedAt > LOOK_ANYWAY_MS,
    looked() {
      isDue = false;
      lookedAt = performance.now();
    },
    close: unlisten,
  };
}
