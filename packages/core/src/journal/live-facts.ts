// The live stream of facts (EVENT-4). A reader holds nothing but the seq it has seen and pages the
// journal from there, so reading late, slowly or never costs the run nothing and nothing is dropped.
// It shows what is committed: a fact that a crash took back would come again, as another one under the same id.

import type { Fact } from "./fact.ts";
import type { Journal } from "./journal.ts";
import type { SessionRecorder } from "./recorder.ts";

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
  options: LiveFactsOptions = {},
): AsyncIterableIterator<Fact> {
  let seen = options.after ?? 0;
  let page: readonly Fact[] = [];
  let at = 0;
  let unread = true;
  let ended = false;
  let wake: (() => void) | undefined;
  let unsubscribe: (() => void) | undefined;

  /** Whoever asks for several facts at once gets them in order: each waits for the one before. */
  let asked: Promise<unknown> | undefined;

  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next() {
      const answer = asked === undefined ? read() : asked.then(read);
      const settled: Promise<unknown> = answer.then(forget, forget);
      asked = settled;
      return answer;

      function forget(): void {
        if (asked === settled) asked = undefined;
      }
    },
    async return() {
      finish();
      return { done: true, value: undefined };
    },
  };

  async function read(): Promise<IteratorResult<Fact, undefined>> {
    unsubscribe ??= subscribe();
    while (!ended) {
      const fact = page[at];
      if (fact !== undefined) {
        at += 1;
        seen = fact.seq;
        if (options.run_id === undefined || fact.run_id === options.run_id) {
          return { done: false, value: fact };
        }
      } else if (unread) {
        // Cleared before reading: a fact appended meanwhile must not be slept through.
        unread = false;
        const read = await journal.read(seen, PAGE);
        const until = journal.committed?.seq ?? Number.POSITIVE_INFINITY;
        page = read.filter(({ seq }) => seq <= until);
        at = 0;
        unread ||= page.length > 0;
      } else if (recorder.closed) {
        finish();
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
    return { done: true, value: undefined };
  }

  function subscribe(): () => void {
    const subscribed = [recorder.subscribe(ring), journal.committed?.subscribe(ring)];
    return () => {
      for (const cancel of subscribed) cancel?.();
    };
  }

  function ring(): void {
    unread = true;
    wake?.();
    wake = undefined;
  }

  function finish(): void {
    ended = true;
    unsubscribe?.();
    wake?.();
  }
}
