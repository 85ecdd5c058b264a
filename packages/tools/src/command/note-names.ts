// What the names in a proven command's arguments mean, noted before they are judged and compared before any of its
// output is shown (PATH-1). The program opens the names itself, so a name could be swapped for a link after the
// judgement and swapped back. Every swap sets the ctime of the directory that holds the name, and no process can set
// that back. Only the names are compared: what `grep -r` or git finds below them is not.

import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Roots } from "@soong/core";
import { walkPathNow } from "../path/index.ts";
import { isWithin } from "./places-of-command.ts";

export interface NotedNames {
  /** Nothing read until now can have come from another file than the one that was judged. */
  readonly unchanged: () => boolean;
}

/** Undefined while a directory on the way changes too often for its ctime to tell one change from the next. */
export async function noteNames(
  cwd: string,
  names: readonly string[],
  roots: Roots,
): Promise<NotedNames | undefined> {
  let noted = lookAt(cwd, names, roots);
  for (let left = MOST_WAITS; !isOld(noted.newest); left -= 1) {
    if (left === 0) return undefined;
    await delay(SETTLE_MS);
    const again = lookAt(cwd, names, roots);
    const isSettled = again.seen === noted.seen;
    noted = again;
    if (isSettled) break;
  }
  const { seen } = noted;
  return { unchanged: () => lookAt(cwd, names, roots).seen === seen };
}

/** Longer than one tick of the clock that file systems take their times from: 10 ms at most. */
const SETTLE_MS = 20;
const MOST_WAITS = 5;

function isOld(ctimeNs: bigint): boolean {
  return ctimeNs < BigInt(Date.now() - SETTLE_MS) * 1_000_000n;
}

interface SeenNames {
  /** Each entry on the way with its inode and type, and the ctime of the directory that holds it. */
  readonly seen: string;
  readonly newest: bigint;
}

function lookAt(cwd: string, names: readonly string[], roots: Roots): SeenNames {
  const seen: string[] = [];
  let newest = 0n;
  for (const name of [cwd, ...names]) {
    try {
      walkPathNow(cwd, name, (entry) => {
        // The directory before the entry: a swap in between then shows in the next look.
        const held = leadsToRoot(roots, entry) ? undefined : nodeAt(dirname(entry))?.ctimeNs;
        if (held !== undefined && held > newest) newest = held;
        const node = nodeAt(entry);
        const type = node === undefined ? "missing" : node.mode & TYPE_BITS;
        seen.push(JSON.stringify([entry, `${held} ${node?.dev} ${node?.ino} ${type}`]));
      });
    } catch {
      // A circle of links, or no path at all: what was seen of it counts.
      seen.push("unusable");
    }
  }
  return { seen: seen.join("\n"), newest };
}

const TYPE_BITS = 0o170000n;

/** Above the project and the write roots unrelated programs come and go: there the inode has to do. */
function leadsToRoot({ project, write }: Roots, entry: string): boolean {
  const roots = [project, ...write].filter((root) => root !== "");
  return (
    roots.some((root) => isWithin(entry, root)) &&
    !roots.some((root) => root !== entry && isWithin(root, entry))
  );
}

function nodeAt(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false, bigint: true });
  } catch {
    return undefined;
  }
}
