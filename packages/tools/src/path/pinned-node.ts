// A node of the file system held fast: what was found under a judged path, whether it still is there,
// and a way to reach that node and no other. How it is held is the platform's (`opening.ts`).

import { type BigIntStats, constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";

import type { NodeKind } from "./path-failure.ts";

export interface Opening {
  /** Takes hold of what `name` leads to, following no final link; `judged` is where it must be. */
  pin(name: string, judged: string): Promise<PinnedNode>;
}

export interface PinnedNode {
  readonly stats: BigIntStats;
  /** Leads to this very node and, for a directory, to what is in it. */
  readonly name: string;
  isAtJudgedPath(): Promise<boolean>;
  /** Opens this very node for real; fails with path_changed rather than open another. */
  reopen(flags: number): Promise<FileHandle>;
  close(): Promise<void>;
}

export function kindOf(stats: BigIntStats): NodeKind | "file" {
  switch (Number(stats.mode) & constants.S_IFMT) {
    case constants.S_IFREG:
      return "file";
    case constants.S_IFDIR:
      return "directory";
    case constants.S_IFLNK:
      return "symlink";
    case constants.S_IFIFO:
      return "fifo";
    case constants.S_IFSOCK:
      return "socket";
    default:
      return "device";
  }
}
