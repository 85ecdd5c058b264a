// The directory artifacts are in: ours alone (0700), and free of what earlier processes left unfinished.

import { chmod, lstat, mkdir, readdir, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { isProcessAlive } from "@soong/platform";

/** Its canonical path. Throws when someone else owns it: they could put anything into it. */
export async function privateDirectory(given: string): Promise<string> {
  await mkdir(given, { recursive: true, mode: 0o700 });
  const directory = await realpath(given);
  const { uid, mode } = await lstat(directory);
  const own = process.getuid?.();
  if (own !== undefined && uid !== own) {
    throw new Error(`The directory ${directory} belongs to another user; choose one of your own.`);
  }
  if ((mode & 0o077) !== 0) await chmod(directory, 0o700);
  return directory;
}

/** `<id>.<pid>.part`, so that the leavings of a process that is gone can be distinguished from work in progress. */
export function unfinishedName(artifact_id: string): string {
  return `${artifact_id}.${process.pid}.part`;
}

export async function sweepUnfinished(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const pid = /\.(\d+)\.part$/.exec(name)?.[1];
    if (pid === undefined || isProcessAlive(Number(pid))) continue;
    await rm(join(directory, name), { force: true });
  }
}
