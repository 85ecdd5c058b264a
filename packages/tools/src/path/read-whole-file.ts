// Reads a judged file into memory, never more of it than allowed, with the sha256 of what was read.

import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";

import { ToolFailure } from "@soong/core";

import type { FileStamp } from "./file-stamp.ts";
import { openRegularFile } from "./open-regular-file.ts";
import { platformOpening } from "./opening.ts";
import { failureOf, fileTooLarge } from "./path-failure.ts";
import type { Opening } from "./pinned-node.ts";

export interface WholeFile {
  bytes: Buffer;
  mode: number;
  /** Taken before the first byte was read: a write during the read makes it out of date. */
  stamp: FileStamp;
  sha256: string;
}

/** undefined: nothing is at `path`, which is canonical. */
export async function readWholeFile(
  path: string,
  options: { maxBytes: number },
  opening: Opening = platformOpening,
): Promise<WholeFile | undefined> {
  const { maxBytes } = options;
  const file = await openRegularFile(path, opening).catch(undefinedWhenMissing);
  if (file === undefined) {
    return undefined;
  }
  try {
    if (file.size > maxBytes) {
      throw fileTooLarge(path, maxBytes);
    }
    const bytes = await readAtMost(file.handle, file.size, maxBytes);
    if (bytes === undefined) {
      throw fileTooLarge(path, maxBytes);
    }
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    return { bytes, mode: file.mode, stamp: file.stamp, sha256 };
  } catch (error) {
    throw failureOf(error, path);
  } finally {
    await file.close();
  }
}

const GROWTH = 64 * 1024;

/** Its size is only a first guess: the file may grow while it is read. undefined: more than allowed. */
async function readAtMost(
  handle: FileHandle,
  size: number,
  maxBytes: number,
): Promise<Buffer | undefined> {
  // One byte of room more than expected, so that the end of the file is seen without growing.
  let buffer = Buffer.allocUnsafe(size + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) {
      return buffer.subarray(0, length);
    }
    length += bytesRead;
    if (length > maxBytes) {
      return undefined;
    }
    if (length === buffer.length) {
      const room = Math.min(Math.max(GROWTH, length), maxBytes + 1 - length);
      buffer = Buffer.concat([buffer, Buffer.allocUnsafe(room)]);
    }
  }
}

function undefinedWhenMissing(error: unknown): undefined {
  if (!(error instanceof ToolFailure) || error.error.code !== "file_not_found") {
    throw error;
  }
}
