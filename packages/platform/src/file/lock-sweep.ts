// Removes the claims that killed waiters left in a lock directory: once a process, that is enough.

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

import { readLock } from "./lock-files.ts";

export async function sweepClaims(lockDirectory: string): Promise<void> {
  if (SWEPT.has(lockDirectory)) {
    return;
  }
  SWEPT.add(lockDirectory);
  for (const name of await readdir(lockDirectory)) {
    if (/^\.[0-9a-f]{32}\.claim$/.test(name)) {
      const claimPath = join(lockDirectory, name);
      const claim = await readLock(claimPath);
      if (claim !== undefined && (await claim.isAbandoned())) {
        await rm(claimPath, { force: true });
      }
    }
  }
}

const SWEPT = new Set<string>();
