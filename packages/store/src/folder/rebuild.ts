// Writes the files of a run again from all its facts, beside the old ones, and then puts them in their place.
// What others put into the folder is not touched.

import { closeSync, lstatSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { isProcessAlive } from "@soong/platform";
import { checkpointLogs, removeCheckpoint } from "./checkpoint.ts";
import { factPages } from "./catch-up.ts";
import { createLineFile, writeFacts, type LineFile } from "./line-file.ts";
import { FOLDER_FILES, makeFolder, type FileName } from "./open-folder.ts";
import type { ReadFacts } from "./run-folders-contract.ts";

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
