// Files as the system has them: the code of its errors, which node a name leads to, files that are read within
// a bound, JSON files of ours, and files that are written whole.

import { randomUUID } from "node:crypto";
import { type BigIntStats, constants, type Stats } from "node:fs";
import {
  type FileHandle,
  link,
  mkdir,
  open,
  readFile,
  rename,
  rm,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "@soong/core";

/** Undefined where the error is not one of the operating system. */
export function readErrno(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || !("syscall" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

export function isSameNode(a: BigIntStats, b: BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

/** As much of `buffer` as there are bytes from `position` on. */
export async function readFully(
  handle: FileHandle,
  buffer: Buffer,
  position: number,
): Promise<Buffer> {
  let filled = 0;
  while (filled < buffer.length) {
    const left = buffer.length - filled;
    const { bytesRead } = await handle.read(buffer, filled, left, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

export type BoundedFile =
  | { readonly kind: "file"; readonly bytes: Buffer; readonly stats: Stats }
  | { readonly kind: "directory" | "special" | "too_large" };

/** A regular file as it is; one that grows while it is read is bounded, too. Throws the system's errors. */
export async function readBoundedFile(path: string, maxBytes: number): Promise<BoundedFile> {
  // Without waiting: a pipe without a writer would block for ever.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) return { kind: "directory" };
    if (!stats.isFile()) return { kind: "special" };
    const most = maxBytes + 1;
    // One byte of room more than expected shows that the file has grown.
    for (let room = stats.size + 1; room <= most; room = most) {
      const bytes = await readFully(handle, Buffer.allocUnsafe(room), 0);
      if (bytes.length === most) break;
      if (bytes.length < room) return { kind: "file", bytes, stats };
    }
    return { kind: "too_large" };
  } finally {
    await handle.close();
  }
}

/**
 * A file of ours, as JSON. That there is none is an answer; that it cannot be read is not. `about` says what the file holds, and
 * what to do when it is broken.
 */
export async function readJsonFile(path: string, about: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (readErrno(error) === "ENOENT") return undefined;
    throw new Error(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // What the parser says would show a piece of the file.
    throw new Error(`${path} is not JSON. ${about}`);
  }
}

/**
 * A file written beside its place and moved there: a reader sees the old one or the new one, and never half of either. Mode 0600, in a folder that is made with mode 0700 where it is missing. The bytes are on the disk before the file has its
 * name. `new` fails with the code EEXIST where something is. A text may come in parts, which are written as they come.
 */
export async function writeWholeFile(
  path: string,
  text: string | AsyncIterable<string>,
  how: "new" | "replace" = "replace",
): Promise<void> {
  const folder = dirname(path);
  // With the process in its name, so that leftovers of a dead process can be distinguished from work in progress.
  const next = join(folder, `.${randomUUID()}.${process.pid}.part`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = await open(next, "wx", 0o600);
    try {
      await writeFile(file, text);
      await file.sync();
    } finally {
      await file.close();
    }
    await (how === "new" ? link(next, path) : rename(next, path));
  } catch (error) {
    const failure = new Error(`${path} cannot be written: ${messageOf(error)}`, { cause: error });
    throw Object.assign(failure, { code: readErrno(error) });
  } finally {
    await rm(next, { force: true });
  }
}
