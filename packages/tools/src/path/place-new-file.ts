// Gives a temporary file the name of a file that must not exist yet: a file that appeared meanwhile is
// never overwritten.

import { link, open, rename, unlink } from "node:fs/promises";

import { changedSinceApproval } from "./path-failure.ts";
import { errnoOf } from "@soong/platform";
import type { Target } from "./pre-image.ts";

/** The temporary name may be left, as a second one of the same file. `makeLink` is for tests. */
export async function placeNewFile(
  temporaryPath: string,
  target: Pick<Target, "path" | "name">,
  makeLink: typeof link = link,
): Promise<void> {
  try {
    try {
      await makeLink(temporaryPath, target.name);
    } catch (error) {
      if (!CANNOT_LINK.has(errnoOf(error) ?? "")) {
        throw error;
      }
      await takeName(temporaryPath, target.name);
    }
  } catch (error) {
    throw errnoOf(error) === "EEXIST" ? changedSinceApproval(target.path, "appeared") : error;
  }
}

/** What file systems without hard links answer. */
const CANNOT_LINK = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EINVAL"]);

/** An empty file takes the name, then the whole one replaces it. */
async function takeName(temporaryPath: string, name: string): Promise<void> {
  const placeholder = await open(name, "wx");
  await placeholder.close();
  try {
    await rename(temporaryPath, name);
  } catch (error) {
    await unlink(name);
    throw error;
  }
}
