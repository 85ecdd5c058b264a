// What the folders of a store's runs can be asked to do, and what they are made from.

import type { Fact } from "@soong/core";
import type { RunFolderProblem } from "../contract/index.ts";

export interface CommittedFact {
  readonly fact: Fact;
  /** The journal's exact text of the fact, without a line end. */
  readonly line: string;
}

/** A page of the facts of one run after a seq, oldest first; empty when there are no more. */
export type ReadFacts = (afterSeq: number) => readonly CommittedFact[];

/** All of it is synchronous: it runs right after a commit, so the order of lines is that of seq. */
export interface RunFolders {
  /**
   * Facts of any runs, in seq order, right after they were committed. Those without a run belong to no
   * folder, those a folder has already are passed over. Never throws: a folder that cannot be written is
   * left as it is until it is caught up or rebuilt, and `problems` names it. A folder that an earlier
   * process wrote wants `catchUp` first.
   */
  append(facts: readonly CommittedFact[]): void;
  /**
   * Brings the folder of a run up to its facts: cuts a torn last line, adds what is missing, and writes
   * all of it when it is not there or damaged. Never throws, as `append`.
   */
  catchUp(run_id: string, read: ReadFacts): void;
  /**
   * Writes it again beside the old one, then swaps it in; what is in workspace/, deliverables/ and
   * archive/ stays. Answers with its path. Throws a StoreError when it cannot, and the old one stays.
   */
  rebuild(run_id: string, read: ReadFacts): string;
  /** All of it, with what the user or tool put there. Throws a StoreError when something has to stay. */
  remove(run_id: string): void;
  pathOf(run_id: string): string;
  /** The first problem of each folder that could not be written and has not been made whole since. */
  problems(): readonly RunFolderProblem[];
  /** Lets go of open files. From then on `append` does nothing. */
  close(): void;
}
