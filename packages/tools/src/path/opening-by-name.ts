// Pinning without /proc: best effort. What the name leads to is looked at before and after it is opened
// and must be one and the same node at the judged path. A swap to and fro between two looks goes
// unseen, and what is in a directory is reached by name: those windows stay open here.

import { type BigIntStats, constants } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";

import { pathChanged } from "./path-failure.ts";
import { isSameNode } from "@soong/platform";
import type { Opening } from "./pinned-node.ts";

export const openingByName: Opening = {
  async pin(name, judged) {
    const stats = await lstat(name, { bigint: true });
    return {
      stats,
      name: judged,
      isAtJudgedPath: () => isAt(judged, stats),
      async reopen(flags) {
        const handle = await open(judged, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK);
        try {
          const opened = await handle.stat({ bigint: true });
          if (!isSameNode(opened, stats) || !(await isAt(judged, stats))) {
            throw pathChanged(judged);
          }
          return handle;
        } catch (error) {
          await handle.close();
          throw error;
        }
      },
      close: () => Promise.resolve(),
    };
  },
};

async function isAt(judged: string, stats: BigIntStats): Promise<boolean> {
  try {
    const now = await lstat(judged, { bigint: true });
    // A link's own place is its parent's: realpath would follow it.
    const place = now.isSymbolicLink() ? parentOf(judged) : judged;
    return isSameNode(now, stats) && (await realpath(place)) === place;
  } catch {
    return false;
  }
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf("/")));
}
