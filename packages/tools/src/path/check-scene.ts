// The last look before a change of a file is made: the ground it stands on may have moved meanwhile.

import type { HeldLock } from "@soong/platform";
import type { VerifiedDirectory } from "./open-directory.ts";
import { changedSinceApproval, pathChanged } from "./path-failure.ts";

/** The directory may have been moved away and, after a long standstill, the lock been given to another. */
export async function checkScene(
  path: string,
  directory: VerifiedDirectory,
  lock: HeldLock,
): Promise<void> {
  if (!(await directory.isAtJudgedPath())) {
    throw pathChanged(path);
  }
  if (!(await lock.isHeld())) {
    throw changedSinceApproval(path, "may have been written by another process");
  }
}
