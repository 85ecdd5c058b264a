// A path as the process of a command resolves it: in /proc/self, and through every link that leads there, its own directory,
// root and open files are found, not those of the process that judges.

import { linkTargetNow, resolvePathNow, walkPathNow } from "../path/index.ts";

/** Canonical. Fails as `resolvePathNow` does. */
export function resolveInProcess(cwd: string, given: string): string {
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
