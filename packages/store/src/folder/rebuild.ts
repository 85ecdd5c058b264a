// Writes the files of a run again from all its facts, beside the old ones, and then puts them in their place.
// What others put into the folder is not touched.

import { closeSync, lstatSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { isProcessAlive } from "@soong/platform";
import {
  checkpointLogs,
  removeCheckpoint,
  FOLDER_FILES,
  makeFolder,
  type FileName,
  wholeUpTo,
  type OpenFolder,
} from "./open-folder.ts";
import {
  createLineFile,
  writeFacts,
  type LineFile,
  cutTornEnd,
  type ReadFacts,
  type CommittedFact,
} from "./line-file.ts";

/** The old files stay as they are until all of the new ones are written. */
export function rebuild(path: string, read: ReadFacts): void {
  makeFolder(path);
  for (const { inFolder } of Object.values(FOLDER_FILES)) refuseUnlessFile(join(path, inFolder));
  sweepUnfinished(path);
  const made: LineFile[] = [];
  try {
    const events = create("events");
    const tools = create("tools");
    const errors = create("errors");
    for (const page of factPages(read, 0)) for (const file of made) writeFacts(file, page);
    removeCheckpoint(path);
    for (const { inFolder } of Object.values(FOLDER_FILES)) {
      renameSync(unfinishedPath(path, inFolder), join(path, inFolder));
    }
    checkpointLogs({ path, events, tools, errors }, 0);
  } finally {
    for (const { fd, path: unfinished } of made) {
      closeSync(fd);
      rmSync(unfinished, { force: true });
    }
  }

  function create(name: FileName): LineFile {
    const { inFolder, lineOf } = FOLDER_FILES[name];
    const file = createLineFile(unfinishedPath(path, inFolder), lineOf);
    made.push(file);
    return file;
  }
}

/** With the process in its name, so that the leavings of one that is gone can be distinguished from work in progress. */
function unfinishedPath(path: string, inFolder: string): string {
  return join(path, "logs", `.${basename(inFolder)}.${process.pid}.new`);
}

function sweepUnfinished(path: string): void {
  for (const name of readdirSync(join(path, "logs"))) {
    const pid = /^\.\w+\.jsonl\.(\d+)\.new$/.exec(name)?.[1];
    if (pid === undefined) continue;
    if (Number(pid) !== process.pid && isProcessAlive(Number(pid))) continue;
    rmSync(join(path, "logs", name), { force: true });
  }
}

/** A link or directory in its place was put there by someone: that is theirs to clear up. */
function refuseUnlessFile(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined || stat.isFile()) return;
  throw new Error(`${path} is ${stat.isSymbolicLink() ? "a symbolic link" : "not a file"}`);
}

// Brings an open folder up to the facts of its run. What each file lacks follows from its own last line,
// which has to be what the journal says it is.

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
function* factPages(read: ReadFacts, after: number): Generator<readonly CommittedFact[]> {
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
