// What the folders of a store's runs can be asked to do, and what they are made from.

import { lstatSync } from "node:fs";
import { join, resolve } from "node:path";

import type { RunFolderProblem } from "../contract/store.ts";
import { type AtCrashPoint, StoreError, type StoreErrorCode } from "../contract/store-error.ts";
import { catchUp, rebuild } from "./rebuild.ts";
import {
  checkpointLogs,
  closeFolder,
  folderName,
  makeDirectoryOfRuns,
  openFolder,
  type OpenFolder,
  removeFolder,
} from "./open-folder.ts";
import {
  isAsWeLeftIt,
  writeFacts,
  writeFactsIfUntouched,
  type CommittedFact,
  type ReadFacts,
} from "./line-file.ts";

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

// The folders of all runs of a store: which are open, which are given up, and what goes where after a commit.

/** A session may have thousands of runs; each open folder holds three files. */
const MOST_OPEN = 32;

const RUN_END: ReadonlySet<string> = new Set(["run.completed", "run.failed", "run.aborted"]);

export function openRunFolders(options: {
  readonly directory: string;
  readonly at?: AtCrashPoint;
  /** A folder was made that was not there. */
  readonly onMade?: (session_id: string, run_id: string) => void;
}): RunFolders {
  const directory = resolve(options.directory);
  const { at, onMade } = options;
  /** Least recently used first. */
  const open = new Map<string, OpenFolder>();
  const problems = new Map<string, string>();
  let isClosed = false;
  try {
    makeDirectoryOfRuns(directory);
  } catch {
    // The first folder that cannot be made says so; the journal has to continue.
  }
  return {
    append,
    catchUp(run_id, read) {
      attempt(run_id, () => {
        noteNew(run_id, () => read(0)[0]);
        bringUp(run_id, read);
        problems.delete(run_id);
      });
    },
    rebuild(run_id, read) {
      const path = pathOf(run_id);
      letGo(run_id);
      try {
        noteNew(run_id, () => read(0)[0]);
        rebuild(path, read);
      } catch (error) {
        throw folderProblem("rebuilt", path, error);
      }
      problems.delete(run_id);
      return path;
    },
    remove(run_id) {
      const path = pathOf(run_id);
      letGo(run_id);
      try {
        removeFolder(path);
      } catch (error) {
        throw folderProblem("removed", path, error);
      }
      problems.delete(run_id);
    },
    pathOf,
    problems: () => Array.from(problems, ([run_id, message]) => ({ run_id, message })),
    close() {
      isClosed = true;
      for (const run_id of open.keys()) letGo(run_id);
    },
  };

  function append(facts: readonly CommittedFact[]): void {
    if (isClosed) return;
    const byRun = groupByRun(facts);
    if (byRun.size === 0) return;
    at?.("folder.before");
    for (const [run_id, ofRun] of byRun) {
      // After a failure there would be a hole in it.
      if (!problems.has(run_id)) appendToFolder(run_id, ofRun);
    }
    at?.("folder.after");
  }

  function appendToFolder(run_id: string, facts: readonly CommittedFact[]): void {
    let sizeBefore = 0;
    const folder = attempt(run_id, () => {
      noteNew(run_id, () => facts[0]);
      const writable = writableFolder(run_id);
      sizeBefore = writable.events.size;
      writeFacts(writable.events, facts);
      return writable;
    });
    if (folder === undefined) return;
    at?.("folder.events");
    attempt(run_id, () => {
      writeFactsIfUntouched(folder.tools, facts);
      writeFactsIfUntouched(folder.errors, facts);
      checkpointLogs(folder, sizeBefore);
    });
    if (facts.some(({ fact }) => RUN_END.has(fact.type))) letGo(run_id);
  }

  /** Before it is made: one that was noted and not made does no harm. */
  function noteNew(run_id: string, findFirst: () => CommittedFact | undefined): void {
    if (onMade === undefined || open.has(run_id)) return;
    if (lstatSync(pathOf(run_id), { throwIfNoEntry: false }) !== undefined) return;
    const session_id = findFirst()?.fact.session_id;
    if (session_id !== undefined) onMade(session_id, run_id);
  }

  /** Undefined when it failed, and then it is a problem. */
  function attempt<T>(run_id: string, action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      letGo(run_id);
      if (!problems.has(run_id)) {
        problems.set(run_id, folderProblem("written", pathOf(run_id), error).message);
      }
      return undefined;
    }
  }

  function writableFolder(run_id: string): OpenFolder {
    const held = open.get(run_id);
    // Who puts another folder in its place puts another events.jsonl there.
    if (held !== undefined && isAsWeLeftIt(held.events)) {
      open.delete(run_id);
      open.set(run_id, held);
      return held;
    }
    letGo(run_id);
    const folder = openFolder(pathOf(run_id));
    open.set(run_id, folder);
    const isWhole = Object.values(folder.tails).every(({ kind }) => kind === "whole");
    if (!isWhole) throw new Error("its last line is torn or none of ours");
    // Another process may have rebuilt it meanwhile: with all we had written, or without.
    const hasAll = held === undefined || has(folder, held);
    if (!hasAll) throw new Error("lines that were written to it are gone");
    const [oldest] = open.keys();
    if (open.size > MOST_OPEN && oldest !== undefined) letGo(oldest);
    return folder;
  }

  function bringUp(run_id: string, read: ReadFacts): void {
    letGo(run_id);
    const path = pathOf(run_id);
    const folder = openFolder(path);
    let found: ReturnType<typeof catchUp>;
    try {
      found = catchUp(folder, read);
    } finally {
      closeFolder(folder);
    }
    if (found === "damaged") rebuild(path, read);
  }

  function letGo(run_id: string): void {
    const folder = open.get(run_id);
    if (folder === undefined) return;
    open.delete(run_id);
    closeFolder(folder);
  }

  function pathOf(run_id: string): string {
    return join(directory, folderName(run_id));
  }
}

function groupByRun(facts: readonly CommittedFact[]): Map<string, CommittedFact[]> {
  const byRun = new Map<string, CommittedFact[]>();
  for (const committed of facts) {
    const { run_id } = committed.fact;
    if (run_id === undefined) continue;
    const ofRun = byRun.get(run_id);
    if (ofRun === undefined) byRun.set(run_id, [committed]);
    else ofRun.push(committed);
  }
  return byRun;
}

function has(folder: OpenFolder, held: OpenFolder): boolean {
  return listFiles(folder).every(({ lastSeq }, i) => lastSeq >= (listFiles(held)[i]?.lastSeq ?? 0));
}

function listFiles({ events, tools, errors }: OpenFolder) {
  return [events, tools, errors];
}

// Facts on their way to their folders: gathered for a moment, because opening and looking after files costs
// the same for one line as for a hundred. What is lost here is in the journal.

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

// Why the folder of a run could not be written, for the user: the journal continues without it.

const CODES: Readonly<Record<string, StoreErrorCode>> = {
  ENOSPC: "store_full",
  EDQUOT: "store_full",
  EFBIG: "store_full",
  EROFS: "store_read_only",
  EACCES: "store_read_only",
  EPERM: "store_read_only",
};

function folderProblem(
  verb: "written" | "rebuilt" | "removed",
  path: string,
  error: unknown,
): StoreError {
  const reason = error instanceof Error ? error.message : String(error);
  const code = CODES[(error as NodeJS.ErrnoException | undefined)?.code ?? ""];
  const advice = verb === "removed" ? "Remove it by hand." : "Put that right, then rebuild it.";
  return new StoreError(
    code ?? "store_unavailable",
    `The run folder ${path} cannot be ${verb}: ${reason}. The journal is not affected. ${advice}`,
    { cause: error },
  );
}
