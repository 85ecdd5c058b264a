// The live stream of facts (EVENT-4). A reader holds nothing but the seq it has seen and pages the
// journal from there, so reading late, slowly or never costs the run nothing and nothing is dropped.
// It shows what is committed: a fact that a crash took back would come again, as another one under the same id.

import type { Fact } from "./fact.ts";
import type { Journal } from "./journal.ts";
import type { SessionRecorder, WantedFacts } from "./recorder.ts";

export interface LiveFactsOptions {
  /** Begin after this seq; 0 reads from the start. */
  after?: number;
  /** Only facts of this run. */
  run_id?: string;
}

const PAGE = 256;

/** Ends when the session is closed and everything in it has been read. */
export function liveFacts(
  journal: Pick<Journal, "read" | "committed">,
  recorder: Pick<SessionRecorder, "subscribe" | "closed">,
  { after = 0, run_id }: LiveFactsOptions = {},
): AsyncIterableIterator<Fact> {
  let unread = true;
  let ended = false;
  let wake: (() => void) | undefined;
  const facts = readFacts();
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => facts.next(),
    return() {
      // A reader that waits for the next fact would never get to hear of it.
      ended = true;
      wake?.();
      return facts.return(undefined);
    },
  };

  async function* readFacts(): AsyncGenerator<Fact, undefined> {
    // Where a fact can be read before it is committed, only the commit is news: once a turn instead of once a fact.
    const appended = journal.committed === undefined ? ring : () => recorder.closed && ring();
    const subscribed = [recorder.subscribe(appended), journal.committed?.subscribe(ring)];
    try {
      for (let seen = after; ;) {
        // Cleared before reading: a fact appended meanwhile must not be slept through.
        unread = false;
        const committed = (journal.committed?.seq ?? Number.POSITIVE_INFINITY) - seen;
        const page = committed > 0 ? await journal.read(seen, Math.min(PAGE, committed)) : [];
        for (const fact of page) {
          if (ended) break;
          seen = fact.seq;
          unread = true;
          if (run_id === undefined || fact.run_id === run_id) yield fact;
        }
        if (ended) break;
        if (unread) continue;
        if (recorder.closed) break;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      for (const cancel of subscribed) cancel?.();
    }
    return undefined;
  }

  function ring(): void {
    unread = true;
    wake?.();
    wake = undefined;
  }
}

/** Called with each fact once it is committed, in order; makes it when it is called. Must not throw. */
export type FactListener = (fact: () => Fact) => void;

/**
 * Follows some types of facts from now on, until it is taken back. Costs nothing for the others: an iterator reads, and so
 * makes, every fact.
 */
export function watchFacts(
  journal: Pick<Journal, "committed">,
  recorder: Pick<SessionRecorder, "watch">,
  wanted: WantedFacts,
  listener: FactListener,
): () => void {
  const { committed } = journal;
  if (committed === undefined) return recorder.watch(wanted, tell);
  const waiting: { readonly seq: number; readonly fact: () => Fact }[] = [];
  const stopWatching = recorder.watch(wanted, (fact, seq) => {
    waiting.push({ seq, fact });
    tellCommitted();
  });
  const stopFollowing = committed.subscribe(tellCommitted);
  return () => {
    stopWatching();
    stopFollowing();
  };

  function tellCommitted(): void {
    const later = waiting.findIndex(({ seq }) => seq > (committed?.seq ?? 0));
    for (const { fact } of waiting.splice(0, later === -1 ? waiting.length : later)) tell(fact);
  }

  /** It is called where facts are recorded: what it throws is its own, and fails neither the journal nor a call. */
  function tell(fact: () => Fact): void {
    try {
      listener(fact);
    } catch (error) {
      const thrown: Error = error as Error;
      void Promise.reject(thrown);
    }
  }
}
