// All facts of a run after a seq, page by page.

import type { CommittedFact, ReadFacts } from "./run-folders-contract.ts";

export function* factPages(read: ReadFacts, after: number): Generator<readonly CommittedFact[]> {
  for (let seq = after; ;) {
    const page = read(seq);
    const last = page.at(-1);
    if (last === undefined) return;
    // Or we should read the same page for ever.
    if (last.fact.seq <= seq) throw new Error(`the facts after ${seq} end at ${last.fact.seq}`);
    yield page;
    seq = last.fact.seq;
  }
}
