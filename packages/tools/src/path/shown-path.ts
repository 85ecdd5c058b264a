// A path as people write it.

import { relative } from "node:path";
import { isWithin } from "@soong/core/internal";

/** Relative inside the project, absolute elsewhere. */
export function shownPath(project: string, path: string): string {
  return path !== project && isWithin(project, path) ? relative(project, path) : path;
}
