// Removes the temporary files that killed writers left in a directory.

import { lstat, opendir, rm } from "node:fs/promises";

import type { VerifiedDirectory } from "./open-directory.ts";
import { errnoOf } from "@soong/platform";
import { readTemporaryName } from "./temporary-name.ts";

/**
 * Those of `target`, whose lock the caller holds (so that nobody is writing one now), and any of this
 * user that is older than a write ever takes. Once a process and directory, or when the lock was found
 * abandoned: a listing is too dear for every commit.
 */
export async function sweepLeftovers(
  directory: VerifiedDirectory,
  target: string,
  found: "free" | "abandoned",
): Promise<void> {
  if (found === "free" && SWEPT.has(directory.path)) {
    return;
  }
  remember(directory.path);
  try {
    for await (const { name } of await opendir(directory.entry("."))) {
      const whose = readTemporaryName(name, target);
      if (whose !== "no" && (await isLeftover(directory.entry(name), whose))) {
        await rm(directory.entry(name), { force: true });
      }
    }
  } catch (error) {
    // Housekeeping only: a directory that cannot be listed can be written to all the same.
    if (errnoOf(error) === undefined) {
      throw error;
    }
  }
}

const OLD_MS = 60 * 60 * 1000;
const MOST_REMEMBERED = 1000;
const SWEPT = new Set<string>();

function remember(path: string): void {
  if (SWEPT.size >= MOST_REMEMBERED) {
    SWEPT.clear();
  }
  SWEPT.add(path);
}

async function isLeftover(path: string, whose: "of_target" | "of_another"): Promise<boolean> {
  const stats = await lstat(path);
  const isOurs = stats.isFile() && stats.uid === (process.geteuid?.() ?? stats.uid);
  return isOurs && (whose === "of_target" || Date.now() - stats.mtimeMs > OLD_MS);
}
