// Brings an open folder up to the facts of its run. What each file lacks follows from its own last line,
// which has to be what the journal says it is.

import { checkpointLogs, wholeUpTo } from "./checkpoint.ts";
import { cutTornEnd, writeFacts } from "./line-file.ts";
import type { FileName, OpenFolder } from "./open-folder.ts";
import type { CommittedFact, ReadFacts } from "./run-folders-contract.ts";

const NAMES: readonly FileName[] = ["events", "tools", "errors"];

/** A damaged one has to be written again. */
export function catchUp(folder: OpenFolder, read: ReadFacts): "whole" | "damaged" {
  const { events, tails } = folder;
  if (NAMES.some((name) => tails[name].kind === "damaged")) return "damaged";
  const logs = wholeUpTo(folder);
  // From one fact earlier, so that the last line of events.jsonl can be compared.
  const after = Math.max(0, Math.min(events.lastSeq, logs.tools, logs.errors) - 1);
  const toCompare = new Map<number, FileName[]>();
  for (const name of NAMES) {
    const { lastSeq } = folder[name];
    if (lastSeq > after) toCompare.set(lastSeq, [...(toCompare.get(lastSeq) ?? []), name]);
  }
  const sizeBefore = events.size;
  for (const name of NAMES) if (tails[name].kind === "torn") cutTornEnd(folder[name]);
  for (const page of factPages(read, after)) {
    for (const committed of page) {
      const names = toCompare.get(committed.fact.seq) ?? [];
      if (names.some((name) => !isLastLine(folder, name, committed))) return "damaged";
      toCompare.delete(committed.fact.seq);
    }
    for (const name of NAMES) writeFacts(folder[name], page);
  }
  // A last line that is of no fact of the run.
  if (toCompare.size > 0) return "damaged";
  checkpointLogs(folder, sizeBefore);
  return "whole";
}

function isLastLine(folder: OpenFolder, name: FileName, committed: CommittedFact): boolean {
  const tail = folder.tails[name];
  return tail.kind !== "damaged" && tail.lastLine === folder[name].lineOf(committed);
}

/** All facts of a run after a seq, page by page. */
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
