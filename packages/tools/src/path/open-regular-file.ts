// Opens for reading exactly the file that was judged, and only if it is a regular file (PATH-1, PATH-4); its
// stamp tells later that it is another file, or was written, without reading it.

import { createHash } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, lstat } from "node:fs/promises";

import { readFully } from "@soong/platform";
import { toPathFailure, fileTooLarge, isFileNotFound, notARegularFile } from "./path-failure.ts";
import {
  type Opening,
  type PinnedNode,
  readKind,
  pinJudged,
  platformOpening,
} from "./pinned-node.ts";

export interface VerifiedFile {
  readonly path: string;
  readonly handle: FileHandle;
  readonly size: number;
  /** The permission bits. */
  readonly mode: number;
  readonly stamp: FileStamp;
  close(): Promise<void>;
}

/** `path` is canonical: what `resolvePath` gave and the plan was judged by. */
export async function openRegularFile(
  path: string,
  opening: Opening = platformOpening,
): Promise<VerifiedFile> {
  let node: PinnedNode | undefined;
  try {
    node = pinJudged(path, opening);
    const { stats } = node;
    const kind = readKind(stats);
    if (kind !== "file") throw notARegularFile(path, kind);
    const handle = await node.reopen(constants.O_RDONLY);
    const mode = Number(stats.mode) & 0o7777;
    const stamp = stampFrom(stats);
    return { path, handle, size: stamp.size, mode, stamp, close: () => handle.close() };
  } catch (error) {
    throw toPathFailure(error, path);
  } finally {
    node?.close();
  }
}

export interface WholeFile {
  bytes: Buffer;
  mode: number;
  /** Taken before the first byte was read: a write during the read makes it out of date. */
  stamp: FileStamp;
  sha256: string;
}

/** Never more than allowed. undefined: nothing is at `path`, which is canonical. */
export async function readWholeFile(
  path: string,
  { maxBytes }: { maxBytes: number },
  opening: Opening = platformOpening,
): Promise<WholeFile | undefined> {
  let file: VerifiedFile | undefined;
  try {
    file = await openRegularFile(path, opening);
    const { handle, size, mode, stamp } = file;
    // One byte of room more than expected, so that the end of the file is seen: it may grow meanwhile.
    const most = maxBytes + 1;
    for (let room = size + 1; room <= most; room = Math.min(room * 2 + GROWTH, most)) {
      const bytes = await readFully(handle, Buffer.allocUnsafe(room), 0);
      if (bytes.length === most) break;
      if (bytes.length === room) continue;
      return { bytes, mode, stamp, sha256: createHash("sha256").update(bytes).digest("hex") };
    }
    throw fileTooLarge(path, maxBytes);
  } catch (error) {
    if (isFileNotFound(error)) return undefined;
    throw toPathFailure(error, path);
  } finally {
    await file?.close();
  }
}

const GROWTH = 64 * 1024;

/** Numbers that JavaScript cannot hold exactly are decimal strings. */
export type FileStamp = { dev: string; ino: string; size: number; mtime_ns: string };

/** The stamp of what is at the canonical `path` now (a link is not followed); undefined: nothing. */
export async function readStamp(path: string): Promise<FileStamp | undefined> {
  try {
    return stampFrom(await lstat(path, { bigint: true }));
  } catch (error) {
    const failure = toPathFailure(error, path);
    if (isFileNotFound(failure)) return undefined;
    throw failure;
  }
}

export function stampFrom({ dev, ino, size, mtimeNs }: BigIntStats): FileStamp {
  return { dev: String(dev), ino: String(ino), size: Number(size), mtime_ns: String(mtimeNs) };
}
