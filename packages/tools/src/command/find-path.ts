// A path in the input of a tool that does not resolve it itself (PERM-15), looked up on this disk: through links, hard
// links and, where the disk ignores it, any case.

import { lstatSync } from "node:fs";
import { resolve } from "node:path";
import type { FindPath } from "@soong/core";
import { isDirectory, judgedPath } from "../path/index.ts";
import { restrictedBelow } from "./paths-in-reach.ts";

/** To be given to a session. */
export const findPath: FindPath = async ({ path, directory, access, mayWalk }, places) => {
  const { restrictedBy, restrictedGlobs } = places;
  const roots = { project: directory, write: [] };
  const resource = await judgedPath(access, path, { restrictedBy, restrictedGlobs, roots });
  const exists = [resource.path, resolve(directory, path)].some(isThere);
  const isRestricted = restrictedBy(resource.path, access) !== undefined;
  const reached =
    mayWalk && !isRestricted && isDirectory(resource.path)
      ? restrictedBelow(() => [resource.path], places)
      : [];
  return {
    resource: { ...resource, ...(reached.length === 0 ? {} : { may_reach: reached }) },
    exists,
  };
};

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
