// The folder module: the readable files of each run (EVENT-5), made from committed facts alone. The journal
// is the truth; what is here may be lost and is written again from it.

export { createFolderQueue, type FolderQueue } from "./folder-queue.ts";
export { openRunFolders } from "./run-folders.ts";
export type { CommittedFact, ReadFacts, RunFolders } from "./run-folders-contract.ts";
