// A file written beside its place and moved there: a reader sees the old one or the new one, and never half of either.

import { randomUUID } from "node:crypto";
import { link, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "@soong/core";
import { errnoOf } from "./system-error.ts";

/**
 * Mode 0600, in a folder that is made with mode 0700 where it is missing. The bytes are on the disk before the file has its
 * name. `new` fails with the code EEXIST where something is.
 */
export async function writeWholeFile(
  path: string,
  text: string,
  how: "new" | "replace" = "replace",
): Promise<void> {
  const folder = dirname(path);
  // With the process in its name, so that what one that is gone left can be told from work in progress.
  const next = join(folder, `.${randomUUID()}.${process.pid}.part`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = await open(next, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await (how === "new" ? link(next, path) : rename(next, path));
  } catch (error) {
    const failure = new Error(`${path} cannot be written: ${messageOf(error)}`, { cause: error });
    throw Object.assign(failure, { code: errnoOf(error) });
  } finally {
    await rm(next, { force: true });
  }
}
