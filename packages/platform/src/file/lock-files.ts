// The files of the lock directory: reading one, and linking a claim to a name that must be free.

import { constants } from "node:fs";
import { link, open } from "node:fs/promises";

import { lifeOf, parseHolder } from "./lock-holder.ts";
import { errnoOf } from "./system-error.ts";

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
        const life = holder === undefined ? "stranger" : await lifeOf(holder);
        // Of a stranger (or a record cut off by a power cut) only the time of the file tells.
        return life === "dead" || (life === "stranger" && Date.now() - stats.mtimeMs > SILENCE_MS);
      },
    };
  } catch (error) {
    if (errnoOf(error) === "ENOENT") {
      return undefined;
    }
    throw error;
  } finally {
    await handle?.close();
  }
}

/** False: the name is taken. */
export async function linkTo(claimPath: string, name: string): Promise<boolean> {
  try {
    await link(claimPath, name);
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") {
      return false;
    }
    throw error;
  }
}

/** With a path as long as one may be, of which JSON can make six times as much. */
const MOST_RECORD_BYTES = 32 * 1024;
/** A holder that cannot be seen gives a sign of life every few seconds (`lock-claim.ts`). */
const SILENCE_MS = 30_000;
