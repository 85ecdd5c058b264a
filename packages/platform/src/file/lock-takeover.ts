// Replaces the lock of a dead holder by a claim. A second, short lock named after the dead one guards it,
// so that of several who find it dead one wins and a live lock is never removed. Should the guard's own
// holder die, a guard named after that one follows, and so on: whoever holds the last one acts.

import { rename, rm } from "node:fs/promises";

import { linkTo, readLock } from "./lock-files.ts";

/** False: it is held by somebody alive, or is free meanwhile. */
export async function replaceAbandoned(claimPath: string, lockPath: string): Promise<boolean> {
  const dead = await readLock(lockPath);
  if (dead === undefined || !(await dead.isAbandoned())) {
    return false;
  }
  const guards: string[] = [];
  for (let below = dead; ;) {
    const guard = `${lockPath}.${below.id}`;
    if (await linkTo(claimPath, guard)) {
      return replaceGuarded(claimPath, lockPath, dead.id, { own: guard, dead: guards });
    }
    const other = await readLock(guard);
    if (other === undefined || !(await other.isAbandoned())) {
      return false;
    }
    guards.push(guard);
    below = other;
  }
}

/** By the holder of the last guard. The lock may be another's since it was found dead: then it stays. */
export async function replaceGuarded(
  claimPath: string,
  lockPath: string,
  deadId: string,
  guards: { own: string; dead: readonly string[] },
): Promise<boolean> {
  try {
    const isStillThere = (await readLock(lockPath))?.id === deadId;
    if (isStillThere) {
      await rename(claimPath, lockPath);
    }
    // Only now that the dead lock is gone for good: a guard taken away earlier would let two others in.
    await Promise.all(guards.dead.map(remove));
    return isStillThere;
  } finally {
    await remove(guards.own);
  }
}

async function remove(guard: string): Promise<void> {
  await rm(guard, { force: true }).catch(() => undefined);
}
