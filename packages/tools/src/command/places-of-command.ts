// Where the paths of a command lie: by their letters and by what they lead to (PATH-1, PATH-3).

import { resolve } from "node:path";
import type { Places, Roots } from "@soong/core";
import { isWithin } from "@soong/core/internal";
import type { JudgedPath } from "../path/index.ts";
import { resolveInProcess } from "./process-view.ts";

export { isWithin };

/** What is asked about like a sensitive file; `reason`: why, where its name does not say so. */
export function sensitivePath(
  path: string,
  reason?: string,
  access: "read" | "search" = "read",
): JudgedPath {
  const judged = { kind: "path", access, path, sensitive: true } as const;
  return reason === undefined ? judged : { ...judged, reason };
}

/** In the project or one of the roots the run may write to. */
export function isWithinRoots({ project, write }: Roots, path: string): boolean {
  return [project, ...write].some((root) => root !== "" && isWithin(root, path));
}

/** The canonical path of an argument that is inside the roots and sensitive under no name of its own. */
export function ordinaryPath(
  places: Pick<Places, "roots" | "sensitiveBy">,
  cwd: string,
  given: string,
): string | undefined {
  const path = canonicalPath(cwd, given);
  if (path === undefined || !isWithinRoots(places.roots, path)) return undefined;
  const isSensitive =
    places.sensitiveBy(path) !== undefined || places.sensitiveBy(resolve(cwd, given)) !== undefined;
  return isSensitive ? undefined : path;
}

/** As the system resolves it for a program that runs in `cwd`. Undefined for what is no usable path: empty, too long, a circle of links. */
export function canonicalPath(cwd: string, given: string): string | undefined {
  try {
    return resolveInProcess(cwd, given);
  } catch {
    return undefined;
  }
}
