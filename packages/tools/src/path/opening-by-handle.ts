// Pinning on Linux: an O_PATH handle on the node itself, which opens nothing (no FIFO waits, no device
// acts), and the kernel's own name for that handle under /proc/self/fd. What is reached through the
// handle's name is that node, whatever is renamed or linked meanwhile: there is no window.

import { type BigIntStats, constants } from "node:fs";
import { lstat, open, readlink } from "node:fs/promises";

import { isSameNode } from "@soong/platform";
import type { Opening } from "./pinned-node.ts";

export const openingByHandle: Opening = {
  async pin(name, judged) {
    const handle = await open(name, O_PATH | constants.O_NOFOLLOW);
    try {
      const stats = await handle.stat({ bigint: true });
      const own = `/proc/self/fd/${handle.fd}`;
      return {
        stats,
        name: own,
        isAtJudgedPath: async () =>
          (await readlink(own)) === judged && (await isNotRemoved(judged, stats)),
        reopen: (flags) => open(own, flags),
        close: () => handle.close(),
      };
    } catch (error) {
      await handle.close();
      throw error;
    }
  },
};

/** Node's constants leave it out; the value is the same on every architecture Node runs on. */
const O_PATH = 0o10000000;

/** The kernel's name for a removed node is the old name with this at its end, which may be a name, too. */
async function isNotRemoved(judged: string, stats: BigIntStats): Promise<boolean> {
  if (!judged.endsWith(" (deleted)")) {
    return true;
  }
  try {
    return isSameNode(await lstat(judged, { bigint: true }), stats);
  } catch {
    return false;
  }
}
