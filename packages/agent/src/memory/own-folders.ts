// Folders of our own below one that is: real ones, for this user only.

import { chmod, lstat, mkdir } from "node:fs/promises";
import { join } from "node:path";

/** Each below the one before it, and none of them a link: what is written stays below `root`. */
export async function makeOwnFolders(root: string, names: readonly string[]): Promise<string> {
  let path = root;
  for (const name of names) {
    path = join(path, name);
    await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
      if ((error as { code?: string }).code !== "EEXIST") throw error;
    });
    const stats = await lstat(path);
    if (!stats.isDirectory()) {
      throw new Error(`${path} is not a directory (a link is not followed)`);
    }
    if ((stats.mode & 0o077) !== 0) await chmod(path, 0o700);
  }
  return path;
}
