// Opens for reading exactly the file that was judged, and only if it is a regular file (PATH-1, PATH-4).

import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";

import { stampFrom } from "./file-stamp.ts";
import type { FileStamp } from "./file-stamp.ts";
import { platformOpening } from "./opening.ts";
import { failureOf, notARegularFile } from "./path-failure.ts";
import { pinJudged } from "./pin-judged.ts";
import { kindOf } from "./pinned-node.ts";
import type { Opening, PinnedNode } from "./pinned-node.ts";

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
    node = await pinJudged(path, opening);
    const kind = kindOf(node.stats);
    if (kind !== "file") {
      throw notARegularFile(path, kind);
    }
    const handle = await node.reopen(constants.O_RDONLY);
    return {
      path,
      handle,
      size: Number(node.stats.size),
      mode: Number(node.stats.mode) & 0o7777,
      stamp: stampFrom(node.stats),
      close: () => handle.close(),
    };
  } catch (error) {
    throw failureOf(error, path);
  } finally {
    await node?.close();
  }
}
