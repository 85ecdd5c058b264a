// The lock file of one path. A claim is a private file with its holder's record; linking it to the lock's
// name is the one atomic step that takes the lock. While it is held, the holder keeps the file's time
// fresh, for those who cannot see its process.

import { constants, fstatSync, lstatSync } from "node:fs";
import { type FileHandle, link, open, rename, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";

import { readErrno, isSameNode } from "./disk.ts";
import { checkLife, parseHolder, thisHolder } from "./lock-holder.ts";

export interface HeldLock {
  /** "abandoned": the one before us died while it held the lock, perhaps in the middle of its work. */
  readonly found: "free" | "abandoned";
  /** Another host may have taken us for dead after a long silence. */
  isHeld(): boolean;
  release(): Promise<void>;
}

/** `path`: of the file that is locked, for anyone who finds the lock abandoned. */
export async function claimLock(lockPath: string, path?: string) {
  const holder = thisHolder();
  const claimPath = join(dirname(lockPath), `.${holder.nonce}.claim`);
  const handle = await open(claimPath, "wx", 0o600);
  const withdraw = async (): Promise<void> => {
    await removeQuietly(claimPath);
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
    /** undefined: someone else holds it. */
    async attempt(): Promise<HeldLock | undefined> {
      if (await linkTo(claimPath, lockPath)) {
        await removeQuietly(claimPath);
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
  const isHeld = (): boolean => {
    const there = lstatSync(lockPath, { bigint: true, throwIfNoEntry: false });
    return there !== undefined && isSameNode(there, fstatSync(handle.fd, { bigint: true }));
  };
  return {
    found,
    isHeld,
    async release() {
      clearInterval(signOfLife);
      try {
        if (isHeld()) await unlink(lockPath);
      } finally {
        await handle.close();
      }
    },
  };
}

/** A claim or guard that cannot be removed harms no one: nothing refers to it. */
async function removeQuietly(path: string): Promise<void> {
  await unlink(path).catch(() => undefined);
}

/**
 * Replaces the lock of a dead holder by a claim. A second, short lock named after the dead one guards it, so
 * that of several who find it dead one wins and a live lock is never removed. Should the guard's own holder
 * die, a guard named after that one follows, and so on: the process that holds the last one acts. False: it is held by
 * someone alive, or is free meanwhile.
 */
async function replaceAbandoned(claimPath: string, lockPath: string): Promise<boolean> {
  const dead = await readLock(lockPath);
  if (dead === undefined || !(await dead.isAbandoned())) return false;
  const guards: string[] = [];
  for (let below = dead; ;) {
    const guard = `${lockPath}.${below.id}`;
    if (await linkTo(claimPath, guard)) {
      return replaceGuarded(claimPath, lockPath, dead.id, { own: guard, dead: guards });
    }
    const other = await readLock(guard);
    if (other === undefined || !(await other.isAbandoned())) return false;
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
    if (isStillThere) await rename(claimPath, lockPath);
    // Only now that the dead lock is gone for good: a guard taken away earlier would let two others in.
    await Promise.all(guards.dead.map(removeQuietly));
    return isStillThere;
  } finally {
    await removeQuietly(guards.own);
  }
}

export interface FoundLock {
  /** The holder's nonce; of a record that cannot be read, the number of its file. */
  readonly id: string;
  /** Of the file that its holder writes. */
  readonly path: string | undefined;
  isAbandoned(): Promise<boolean>;
}

/** undefined: nothing is there. */
export async function readLock(path: string): Promise<FoundLock | undefined> {
  let handle;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = await handle.stat();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MOST_RECORD_BYTES));
    const holder = parseHolder(buffer.toString("utf8", 0, bytesRead));
    return {
      id: holder?.nonce ?? `file-${stats.ino}`,
      path: holder?.path,
      async isAbandoned() {
        const life = holder === undefined ? "foreign" : checkLife(holder);
        // Of a foreign holder (or a record cut off by a power cut) only the time of the file counts.
        return life === "dead" || (life === "foreign" && Date.now() - stats.mtimeMs > SILENCE_MS);
      },
    };
  } catch (error) {
    if (readErrno(error) === "ENOENT") return undefined;
    throw error;
  } finally {
    await handle?.close();
  }
}

/** False: the name is taken. */
async function linkTo(claimPath: string, name: string): Promise<boolean> {
  try {
    await link(claimPath, name);
    return true;
  } catch (error) {
    if (readErrno(error) === "EEXIST") return false;
    throw error;
  }
}

/** With a path as long as one may be, of which JSON can make six times as much. */
const MOST_RECORD_BYTES = 32 * 1024;
/** A holder that cannot be seen gives a sign of life every few seconds. */
const SILENCE_MS = 30_000;
