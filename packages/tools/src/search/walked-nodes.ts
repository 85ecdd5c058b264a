// Directories and files met on a walk, opened so that a link put in their way meanwhile is noticed
// (PATH-1) and nothing blocks (PATH-4). Synchronous, because a promise per name costs more than the
// system call; the caller yields to others in between.

import type { Dirent } from "node:fs";
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
} from "node:fs";

/** A string wherever the name is UTF-8, else the bytes. */
export type DiskPath = string | Buffer;

export interface DirectoryEntry {
  /** What is not UTF-8 in it is replaced. */
  readonly name: string;
  readonly disk: DiskPath;
  readonly dirent: Dirent | Dirent<Buffer>;
}

/** What is in the directory at exactly this path, unsorted. Throws the system's error. */
export function readWalkedDirectory(directory: DiskPath): DirectoryEntry[] {
  const fd = openAt(directory, constants.O_DIRECTORY);
  try {
    const place = HAS_HANDLES ? `/proc/self/fd/${fd}` : directory;
    const dirents = readdirSync(place, { withFileTypes: true });
    if (!dirents.some(({ name }) => name.includes(REPLACEMENT))) {
      return dirents.map((dirent) => toEntry(directory, dirent.name, dirent));
    }
    return readdirSync(place, { withFileTypes: true, encoding: "buffer" }).map((dirent) => {
      const name = dirent.name.toString();
      return toEntry(directory, Buffer.from(name).equals(dirent.name) ? name : dirent.name, dirent);
    });
  } finally {
    closeSync(fd);
  }
}

/** A descriptor of the regular file at exactly this path; undefined when there is none. */
export function openWalkedFile(file: DiskPath): number | undefined {
  let fd: number;
  try {
    fd = openAt(file, 0);
  } catch {
    return undefined;
  }
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  return undefined;
}

/** The text of a small regular file; undefined when it is not one, or cannot be read. */
export function readSmallFile(file: DiskPath, mostBytes: number): string | undefined {
  const fd = openWalkedFile(file);
  if (fd === undefined) return undefined;
  try {
    return fstatSync(fd).size > mostBytes ? undefined : readFileSync(fd, "utf8");
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

export function joinDisk(directory: DiskPath, name: DiskPath): DiskPath {
  if (typeof directory === "string" && typeof name === "string") {
    return directory === "/" ? `/${name}` : `${directory}/${name}`;
  }
  const above = Buffer.from(directory);
  const slash = above.length === 1 ? "" : "/";
  return Buffer.concat([above, Buffer.from(slash), Buffer.from(name)]);
}

function toEntry(
  directory: DiskPath,
  name: DiskPath,
  dirent: Dirent | Dirent<Buffer>,
): DirectoryEntry {
  return { name: name.toString(), disk: joinDisk(directory, name), dirent };
}

/** Opens without following a last link; the links above are found by the kernel's name of the handle. */
function openAt(path: DiskPath, flags: number): number {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | flags);
  if (!HAS_HANDLES || isAt(fd, path)) return fd;
  closeSync(fd);
  throw new Error("another directory is in the way");
}

function isAt(fd: number, path: DiskPath): boolean {
  const own = `/proc/self/fd/${fd}`;
  if (typeof path === "string") return readlinkSync(own) === path;
  return readlinkSync(own, { encoding: "buffer" }).equals(path);
}

const HAS_HANDLES = process.platform === "linux" && existsSync("/proc/self/fd");
const REPLACEMENT = "\ufffd";
