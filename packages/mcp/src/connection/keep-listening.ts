// The stream on which a server of the newer era tells of changes: when it ends it is opened again, with pauses,
// and what may have been missed meanwhile counts as changed (MCP-3).

import { type Client, ProtocolError, type SubscriptionFilter } from "@modelcontextprotocol/client";
import type { Clock } from "@soong/core";

export interface ListeningParts {
  readonly client: Pick<Client, "listen">;
  readonly filter: SubscriptionFilter;
  readonly clock: Clock;
  /** The stream is there again. */
  readonly onGap: () => void;
}

/** A server that promises news and never begins to tell any is as good as one without. */
const FIRST_TRIES = 3;
/** A stream that lasted so long was a good one: the next pause is short again. */
const GOOD_MS = 60_000;

/** Nothing is waited for. The returned function ends it; it never rejects. */
export function keepListening({ client, filter, clock, onGap }: ListeningParts): () => void {
  const stop = new AbortController();
  let cancelPause = () => {};
  let failures = 0;
  let wasOpen = false;
  void listen();
  return () => {
    stop.abort();
    cancelPause();
  };

  async function listen(): Promise<void> {
    try {
      const stream = await client.listen(filter, { signal: stop.signal });
      if (wasOpen) onGap();
      wasOpen = true;
      const since = clock.monotonic();
      const end = await stream.closed;
      if (end === "local") return;
      failures = clock.monotonic() - since >= GOOD_MS ? 1 : failures + 1;
    } catch (error) {
      failures += 1;
      // It answered, and will answer the same again.
      const isNo = error instanceof ProtocolError || (!wasOpen && failures >= FIRST_TRIES);
      if (isNo) return;
    }
    if (stop.signal.aborted) return;
    cancelPause = clock.after(backoffMs(failures), () => void listen());
  }
}

// How long a server that failed is not contacted: a second, then twice as long each time, up to a minute.

const FIRST_MS = 1000;
const LONGEST_MS = 60_000;

/** `failures` in a row, this one counted. */
export function backoffMs(failures: number): number {
  return Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 20), LONGEST_MS);
}
