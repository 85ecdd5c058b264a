// A path in the input of a tool that does not resolve it itself (PERM-15), looked up on this disk: through links, hard
// links and, where the disk ignores it, any case.

import { resolve } from "node:path";
import type { FindPath } from "@soong/core";
import { exists, isDirectory, judgedPath } from "../path/index.ts";
import { restrictedBelow } from "./paths-in-reach.ts";
import { canonicalPath, isBelowOpenFile } from "./places-of-command.ts";

/** To be given to a session. */
export const findPath: FindPath = async ({ path, directory, access, mayWalk }, places) => {
  const { restrictedBy, restrictedGlobs } = places;
  const roots = { project: path.startsWith("/") ? "/" : directory, write: [] };
  const judge = (given: string) =>
    judgedPath(access, given, { restrictedBy, restrictedGlobs, roots });
  // The tool runs in that directory, and /proc/self is its own process there.
  const seen = canonicalPath(directory, path);
  if (seen !== undefined && isBelowOpenFile(seen)) {
    const reason = "it leads through an open file of the program, so where it leads is not known";
    return {
      resource: { kind: "path", access, path: seen, sensitive: true, reason },
      exists: true,
    };
  }
  const plain = seen === undefined ? await judge(path) : await judge(path).catch(() => undefined);
  const resource =
    plain !== undefined && (seen ?? plain.path) === plain.path ? plain : await judge(seen ?? path);
  const isThere = [resource.path, resolve(directory, path)].some(exists);
  const isRestricted = restrictedBy(resource.path, access) !== undefined;
  const reached =
    mayWalk && !isRestricted && isDirectory(resource.path)
      ? restrictedBelow(() => [resource.path], places)
      : [];
  return {
    resource: { ...resource, ...(reached.length === 0 ? {} : { may_reach: reached }) },
    exists: isThere,
  };
};
