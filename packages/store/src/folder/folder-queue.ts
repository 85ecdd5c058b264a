// Facts on their way to their folders: gathered for a moment, because opening and looking after files costs
// the same for one line as for a hundred. What is lost here is in the journal.

import type { CommittedFact, RunFolders } from "./run-folders-contract.ts";

export interface FolderQueue {
  append(facts: readonly CommittedFact[]): void;
  /** All of it, now. */
  write(): void;
}

/** The user who watches the files does not notice this. */
const SOON_MS = 25;
const LARGE = 1024 * 1024;

export function createFolderQueue(folders: Pick<RunFolders, "append">): FolderQueue {
  let waiting: CommittedFact[] = [];
  let chars = 0;
  let timer: NodeJS.Timeout | undefined;

  return {
    append(facts) {
      for (const fact of facts) {
        waiting.push(fact);
        chars += fact.line.length;
      }
      if (chars > LARGE) write();
      else timer ??= setTimeout(write, SOON_MS);
    },
    write,
  };

  function write(): void {
    clearTimeout(timer);
    timer = undefined;
    const facts = waiting;
    waiting = [];
    chars = 0;
    if (facts.length > 0) folders.append(facts);
  }
}
