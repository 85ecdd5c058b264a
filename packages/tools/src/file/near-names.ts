// Names in a directory that a mistyped one may have meant. Names of sensitive files are not given away.

import { opendir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { nearestName } from "@soong/schema";

const MOST_SUGGESTIONS = 3;
const MOST_NAMES_LOOKED_AT = 5000;

/** Up to three names beside the missing `path`, the nearest first; none where nothing can be listed. */
export async function nearNames(
  path: string,
  isSensitive: (path: string) => boolean,
): Promise<string[]> {
  const directory = dirname(path);
  const names = new Map<string, string>();
  try {
    for await (const { name } of await opendir(directory)) {
      if (!isSensitive(join(directory, name))) names.set(name.toLowerCase(), name);
      if (names.size === MOST_NAMES_LOOKED_AT) break;
    }
  } catch {
    return [];
  }
  const near: string[] = [];
  while (near.length < MOST_SUGGESTIONS) {
    const best = nearestName(basename(path), [...names.keys()]);
    if (best === undefined) break;
    near.push(names.get(best) ?? best);
    names.delete(best);
  }
  return near;
}
