// Which file a given name means (PATH-1): the canonical absolute path, links resolved in the order the
// kernel would, also above what does not exist yet and through links that lead to nothing. POSIX names;
// nothing is expanded or decoded, so `~` and `%20` are ordinary characters.

import {
  type BigIntStats,
  type Dirent,
  type Stats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";
import { realpath } from "node:fs/promises";
import { join } from "node:path";

import { readErrno } from "@soong/platform";
import { toPathFailure, invalidPath } from "./path-failure.ts";

export async function resolvePath(base: string, given: string): Promise<string> {
  const joined = joinRaw(base, given);
  try {
    return await realpath(joined);
  } catch {
    // Something is missing, loops or may not be searched: the walk finds out which.
    return walkPathNow(base, given);
  }
}

/** The same without a promise, for a tool's synchronous `classify`. */
export function resolvePathNow(base: string, given: string): string {
  const joined = joinRaw(base, given);
  try {
    return realpathSync.native(joined);
  } catch {
    return walkPathNow(base, given);
  }
}

/**
 * The same for the path of a rule (PERM-15). Its names are those on the disk, which may have them in another Unicode form; undefined for what
 * cannot be looked up.
 */
export function resolveRulePath(path: string): string | undefined {
  try {
    const resolved = resolvePathNow("/", path);
    if (ASCII.test(resolved) || exists(resolved)) return resolved;
    const spelled = resolved
      .split("/")
      .reduce((parent, name) => join(parent, nameOnDisk(parent, name)), "/");
    return spelled === resolved ? resolved : resolvePathNow("/", spelled);
  } catch {
    return undefined;
  }
}

const ASCII = /^[\0-\x7f]*$/;

function nameOnDisk(directory: string, name: string): string {
  if (ASCII.test(name) || exists(join(directory, name))) return name;
  const composed = name.normalize("NFC");
  for (const entry of entriesOf(directory)) {
    if (entry.name.normalize("NFC") === composed) return entry.name;
  }
  return name;
}

/** Step by step: `visit` gets every entry on the way, links among them, before the entry is followed. */
export function walkPathNow(
  base: string,
  given: string,
  visit: (entry: string) => void = () => {},
  targetOf: (entry: string) => string | undefined = linkTargetNow,
): string {
  const walk = walkLinks(joinRaw(base, given));
  let step = walk.next();
  while (step.done !== true) {
    visit(step.value);
    step = walk.next(targetOf(step.value));
  }
  return step.value;
}

const MOST_PATH_BYTES = 4095;
const MOST_NAME_BYTES = 255;
/** The kernel's own limit for one lookup. */
const MOST_LINKS = 40;

/** Not `path.resolve`: that takes `link/..` away by its letters, the kernel goes to the link's target. */
function joinRaw(base: string, given: string): string {
  if (!base.startsWith("/")) {
    throw new TypeError(`The base of a path must be absolute, not ${JSON.stringify(base)}.`);
  }
  if (given === "") throw invalidPath(given, "it is empty");
  if (given.includes("\0")) throw invalidPath(given, "it holds a NUL character");
  if (Buffer.from(given).toString() !== given) {
    throw invalidPath(given, "it holds half of a character (a lone surrogate)");
  }
  if (Buffer.byteLength(given) > MOST_PATH_BYTES) {
    throw invalidPath(`${given.slice(0, 80)}…`, `it is longer than ${MOST_PATH_BYTES} bytes`);
  }
  return given.startsWith("/") ? given : `${base}/${given}`;
}

/** Yields each path whose link target it needs to know, ends with the canonical path. */
function* walkLinks(start: string): Generator<string, string, string | undefined> {
  const ahead = start.split("/").toReversed();
  const resolved: string[] = [];
  let links = 0;
  for (let name = ahead.pop(); name !== undefined; name = ahead.pop()) {
    if (name === "" || name === ".") continue;
    if (name === "..") {
      resolved.pop();
      continue;
    }
    if (Buffer.byteLength(name) > MOST_NAME_BYTES) {
      throw invalidPath(start, `a name in it is longer than ${MOST_NAME_BYTES} bytes`);
    }
    resolved.push(name);
    const here = `/${resolved.join("/")}`;
    if (Buffer.byteLength(here) > MOST_PATH_BYTES) {
      throw invalidPath(start, `resolved, it is longer than ${MOST_PATH_BYTES} bytes`);
    }
    const target = yield here;
    if (target === undefined) continue;
    links += 1;
    if (links > MOST_LINKS) throw invalidPath(start, "its links lead in a circle, or are too many");
    if (target.startsWith("/")) {
      resolved.length = 0;
    } else {
      resolved.pop();
    }
    ahead.push(...target.split("/").toReversed());
  }
  return `/${resolved.join("/")}`;
}

/** Undefined for what is no link. */
export function linkTargetNow(path: string): string | undefined {
  try {
    // Most entries are no links, and an error for each is slow.
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    return isLink ? readlinkSync(path) : undefined;
  } catch (error) {
    // EINVAL is the kernel's word for "not a link".
    if (["EINVAL", "ENOENT", "ENOTDIR"].includes(readErrno(error) ?? "")) return undefined;
    throw toPathFailure(error, path);
  }
}

// What is at a path now, for judging what a command would meet. A path that cannot be looked at (too long a name, a circle of
// links, no right to enter) is not there for the command either.

/** A link counts, wherever it leads. */
export function exists(path: string): boolean {
  return lookAt(path) !== undefined;
}

export function existsThroughLinks(path: string): boolean {
  return lookAt(path, statSync) !== undefined;
}

/** Also through links. */
export function isDirectory(path: string): boolean {
  return lookAt(path, statSync)?.isDirectory() === true;
}

export function lookAt(path: string, look: (path: string) => Stats = lstatSync): Stats | undefined {
  try {
    return look(path);
  } catch {
    return undefined;
  }
}

/** Undefined for what is no plain file of this size; a pipe holds no one up. */
export function readSmall(
  path: string,
  mostBytes: number,
  { followsLinks = false } = {},
): Buffer | undefined {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  let opened: number | undefined;
  try {
    opened = openSync(path, O_RDONLY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW));
    const kind = fstatSync(opened);
    return kind.isFile() && kind.size <= mostBytes ? readFileSync(opened) : undefined;
  } catch {
    return undefined;
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}

/** In numbers that tell one node from another. */
export function lookAtNode(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

/** Nothing for what cannot be listed. One at a time: a directory may hold millions. */
export function* entriesOf(directory: string): Generator<Dirent, void> {
  try {
    const opened = opendirSync(directory);
    try {
      for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) yield entry;
    } finally {
      opened.closeSync();
    }
  } catch {
    // As above.
  }
}
