// A file to read that is not there: the names beside it that may have been meant and that the model may know of. A
// restricted one is not among them.

import { lstatSync } from "node:fs";
import { opendir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { ToolContext, ToolFailure } from "@soong/core";
import { invalidArguments } from "@soong/core/internal";
import { nearestName } from "@soong/schema";
import { restrictedHardLinks } from "../path/index.ts";

const MOST_SUGGESTIONS = 3;
const MOST_NAMES_LOOKED_AT = 5000;

export async function missingFile(
  given: string,
  path: string,
  places: Pick<ToolContext, "restrictedBy" | "restrictedGlobs">,
): Promise<ToolFailure> {
  const links = restrictedHardLinks(places, "list");
  const near = await nearNames(path, (other) => {
    if (places.restrictedBy(other, "list") !== undefined) return true;
    if (links.size === 0) return false;
    const node = lstatSync(other, { throwIfNoEntry: false, bigint: true });
    return node !== undefined && links.has(node);
  });
  const advice =
    near.length === 0
      ? "Look for it with code.list_dir or code.search."
      : `In the same directory: ${near.map((name) => JSON.stringify(name)).join(", ")}.`;
  return invalidArguments(
    "file_not_found",
    `There is no file ${JSON.stringify(given)} (looked for ${JSON.stringify(path)}). ${advice}`,
    { path, near_names: near },
  );
}

/** The nearest first; none where nothing can be listed. */
async function nearNames(path: string, isHidden: (path: string) => boolean): Promise<string[]> {
  const directory = dirname(path);
  const names = new Map<string, string>();
  try {
    for await (const { name } of await opendir(directory)) {
      if (!isHidden(join(directory, name))) names.set(name.toLowerCase(), name);
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
