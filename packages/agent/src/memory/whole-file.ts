// Files that are there whole or not at all, for this user only, in folders that are real ones.

import { chmod, link, lstat, mkdir, open, rename, rm } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";

/** `new`: fails with EEXIST where something is. `replace`: takes the place of what is. */
export async function writeWholeFile(
  path: string,
  text: string,
  how: "new" | "replace",
): Promise<void> {
  const next = join(dirname(path), `.${randomUUID()}.tmp`);
  try {
    const file = await open(next, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    if (how === "new") await link(next, path);
    else await rename(next, path);
  } finally {
    await rm(next, { force: true });
  }
}

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
