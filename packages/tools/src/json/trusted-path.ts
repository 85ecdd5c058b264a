// Whether somebody else could have written what is read here. A file that grants rights (a tool, a hook) is
// believed only where this user and root alone can change it. Elsewhere than on POSIX nothing can be told.

import type { Stats } from "node:fs";
import { lstat, realpath } from "node:fs/promises";
import { dirname } from "node:path";

/** Why others could change what is in this directory, as a clause; undefined when they could not. */
export async function directoryTrustProblem(directory: string): Promise<string | undefined> {
  const real = await realpath(directory);
  const own = changeableByOthers(await lstat(real));
  if (own !== undefined) return own;
  for (let above = dirname(real); ; above = dirname(above)) {
    const stats = await lstat(above);
    // In a sticky directory nobody moves what is not theirs.
    if (isWritableByAnyone(stats) && (stats.mode & STICKY) === 0) {
      return `is inside ${above}, which anyone can write to; ${mend("chmod o-w", above)}`;
    }
    if (above === dirname(above)) return undefined;
  }
}

/** The same of one file; a link or anything else that is not a plain file is no better. */
export async function fileTrustProblem(file: string): Promise<string | undefined> {
  const stats = await lstat(file);
  if (stats.isSymbolicLink()) return "is a symbolic link; put the file itself here";
  if (!stats.isFile()) return `is ${kindOf(stats)}; a regular file is expected`;
  return changeableByOthers(stats);
}

const STICKY = 0o1000;
const ROOT = 0;

function changeableByOthers(stats: Stats): string | undefined {
  const self = process.getuid?.();
  if (self === undefined) return undefined;
  if (stats.uid !== self && stats.uid !== ROOT) {
    return `belongs to the user with the id ${stats.uid}, who could change what it grants; chown it to yourself`;
  }
  return isWritableByAnyone(stats)
    ? "can be written by anyone, who could change what it grants; run chmod o-w on it"
    : undefined;
}

function isWritableByAnyone(stats: Stats): boolean {
  return process.getuid !== undefined && (stats.mode & 0o002) !== 0;
}

function mend(command: string, path: string): string {
  return `run ${command} on ${path} or move it`;
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return "a directory";
  if (stats.isFIFO()) return "a FIFO";
  return stats.isSocket() ? "a socket" : "a device";
}
