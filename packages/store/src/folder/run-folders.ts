// The folders of all runs of a store: which are open, which are given up, and what goes where after a commit.

import { join, resolve } from "node:path";
import type { AtCrashPoint } from "../contract/index.ts";
import { catchUp } from "./catch-up.ts";
import { checkpointLogs } from "./checkpoint.ts";
import {
  closeFolder,
  folderName,
  makeDirectoryOfRuns,
  openFolder,
  type OpenFolder,
  removeFolder,
} from "./open-folder.ts";
import { folderProblem } from "./folder-problem.ts";
import { isAsWeLeftIt, writeFacts, writeFactsIfUntouched } from "./line-file.ts";
import { rebuild } from "./rebuild.ts";
import type { CommittedFact, ReadFacts, RunFolders } from "./run-folders-contract.ts";

/** A session may have thousands of runs; each open folder holds three files. */
const MOST_OPEN = 32;

const RUN_END: ReadonlySet<string> = new Set(["run.completed", "run.failed", "run.aborted"]);

export function openRunFolders(options: {
  readonly directory: string;
  readonly at?: AtCrashPoint;
}): RunFolders {
  const directory = resolve(options.directory);
  const { at } = options;
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
        bringUp(run_id, read);
        problems.delete(run_id);
      });
    },
    rebuild(run_id, read) {
      const path = pathOf(run_id);
      letGo(run_id);
      try {
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
  return filesOf(folder).every(({ lastSeq }, i) => lastSeq >= (filesOf(held)[i]?.lastSeq ?? 0));
}

function filesOf({ events, tools, errors }: OpenFolder) {
  return [events, tools, errors];
}
