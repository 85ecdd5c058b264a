// The stamp of a file: enough to notice that it is another file, or was written, without reading it.

import type { BigIntStats } from "node:fs";
import { lstat } from "node:fs/promises";

import { failureOf } from "./path-failure.ts";
import { errnoOf } from "@soong/platform";

/** Numbers that JavaScript cannot hold exactly are decimal strings. */
export type FileStamp = { dev: string; ino: string; size: number; mtime_ns: string };

/** The stamp of what stands at the canonical `path` now (a link is not followed); undefined: nothing. */
export async function stampOf(path: string): Promise<FileStamp | undefined> {
  try {
    return stampFrom(await lstat(path, { bigint: true }));
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "ENOENT" || errno === "ENOTDIR") {
      return undefined;
    }
    throw failureOf(error, path);
  }
}

export function stampFrom(stats: BigIntStats): FileStamp {
  return {
    dev: String(stats.dev),
    ino: String(stats.ino),
    size: Number(stats.size),
    mtime_ns: String(stats.mtimeNs),
  };
}
