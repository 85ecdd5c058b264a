// Where the paths of a command lie: by their letters and by what they lead to (PATH-1, PATH-3).

import { resolve } from "node:path";
import type { Places, Roots } from "@soong/core";
import { isWithin } from "@soong/core/internal";
import { linkTargetNow, resolvePathNow, walkPathNow, type JudgedPath } from "../path/index.ts";

export { isWithin };

/** A path that requires approval like a sensitive file; `reason`: why, if its name does not show that. */
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

/**
 * A path as the process of a command resolves it: in /proc/self, and through every link that leads there, its own directory, root and
 * open files are found, not those of the process that judges. Fails as `resolvePathNow` does.
 */
function resolveInProcess(cwd: string, given: string): string {
  let isOwn = false;
  let openFile: string | undefined;
  const followed = (entry: string): string | undefined => {
    if (!entry.startsWith("/proc/")) return linkTargetNow(entry);
    isOwn = true;
    const target = ownTarget(entry, cwd);
    if (target === undefined && OPEN_FILE.test(entry)) openFile ??= entry;
    return target;
  };
  const path = walkPathNow(cwd, given, () => {}, followed);
  // What exists may be spelled otherwise on its disk.
  if (!isOwn) return resolvePathNow(cwd, given);
  return openFile === undefined || path === openFile ? path : `${openFile}/?`;
}

/** Only the process knows what its open files are: a path that leads through one can be any. */
export function isBelowOpenFile(path: string): boolean {
  return BELOW_OPEN_FILE.test(path);
}

const OPEN_FILE = /^\/proc\/(?:self|\d+)\/(?:task\/[^/]+\/)?fd\/\d+$/;
const BELOW_OPEN_FILE = /^\/proc\/(?:self|\d+)\/(?:task\/[^/]+\/)?fd\/\d+\/./;
const OWN_LINK = /^\/proc\/(self|\d+)\/(?:task\/[^/]+\/)?(?:(cwd|root)|fd\/\d+|exe)$/;

function ownTarget(entry: string, cwd: string): string | undefined {
  if (entry === "/proc/self") return undefined;
  if (entry === "/proc/thread-self") return "self/task/self";
  const [isLink, id, place] = OWN_LINK.exec(entry) ?? [];
  if (isLink === undefined) return linkTargetNow(entry);
  // A process that is not there yet may be the one that is started.
  const known = id === "self" ? undefined : linkTargetNow(entry);
  return known ?? (place === undefined ? undefined : place === "cwd" ? cwd : "/");
}
