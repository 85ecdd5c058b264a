// The lock file of one path. A claim is a private file with its holder's record; linking it to the lock's
// name is the one atomic step that takes the lock. While it is held, the holder keeps the file's time
// fresh, for those who cannot see its process.

import { type FileHandle, lstat, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

import { linkTo } from "./lock-files.ts";
import { thisHolder } from "./lock-holder.ts";
import { replaceAbandoned } from "./lock-takeover.ts";
import { errnoOf, isSameNode } from "./system-error.ts";

export interface LockClaim {
  /** undefined: somebody else holds it. */
  attempt(): Promise<HeldLock | undefined>;
  withdraw(): Promise<void>;
}

export interface HeldLock {
  /** "abandoned": the one before us died while it held the lock, perhaps in the middle of its work. */
  readonly found: "free" | "abandoned";
  /** A stranger may have taken us for dead, when nothing was heard of us for long. */
  isHeld(): Promise<boolean>;
  release(): Promise<void>;
}

/** `path`: of the file that is locked, for whoever finds the lock abandoned. */
export async function claimLock(lockPath: string, path?: string): Promise<LockClaim> {
  const holder = await thisHolder();
  const claimPath = join(dirname(lockPath), `.${holder.nonce}.claim`);
  const handle = await open(claimPath, "wx", 0o600);
  const withdraw = async (): Promise<void> => {
    await removeClaim(claimPath);
    await handle.close();
  };
  try {
    await handle.writeFile(JSON.stringify({ ...holder, path }));
  } catch (error) {
    await withdraw();
    throw error;
  }
  return {
    withdraw,
    async attempt() {
      if (await linkTo(claimPath, lockPath)) {
        await removeClaim(claimPath);
        return hold(lockPath, handle, "free");
      }
      return (await replaceAbandoned(claimPath, lockPath))
        ? hold(lockPath, handle, "abandoned")
        : undefined;
    },
  };
}

const SIGN_OF_LIFE_MS = 5_000;

/** The handle stays open, so that the number of its file cannot become another file's. */
function hold(lockPath: string, handle: FileHandle, found: HeldLock["found"]): HeldLock {
  const signOfLife = setInterval(() => {
    const now = new Date();
    handle.utimes(now, now).catch(() => undefined);
  }, SIGN_OF_LIFE_MS);
  signOfLife.unref();
  const isHeld = async (): Promise<boolean> => {
    try {
      const ours = await handle.stat({ bigint: true });
      return isSameNode(await lstat(lockPath, { bigint: true }), ours);
    } catch (error) {
      if (errnoOf(error) === "ENOENT") {
        return false;
      }
      throw error;
    }
  };
  return {
    found,
    isHeld,
    async release() {
      clearInterval(signOfLife);
      try {
        if (await isHeld()) {
          await rm(lockPath, { force: true });
        }
      } finally {
        await handle.close();
      }
    },
  };
}

/** A claim that cannot be removed harms nobody: nothing refers to it. */
async function removeClaim(claimPath: string): Promise<void> {
  await rm(claimPath, { force: true }).catch(() => undefined);
}
