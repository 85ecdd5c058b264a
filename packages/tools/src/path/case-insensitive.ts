// Whether a directory's disk takes `A` and `a` for one name, found out without writing: a name that is
// there is looked up with its case swapped. Names of the path above serve where the directory has none.

import { lstat, opendir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { readErrno, isSameNode } from "@soong/platform";

/** `look` is for tests: a disk of the other kind is seldom at hand. */
export async function isCaseInsensitive(directory: string, look = lstatBig): Promise<boolean> {
  for await (const name of someNames(directory)) {
    const verdict = await foundWithCaseSwapped(directory, name, look);
    if (verdict !== "unclear") return verdict === "found";
  }
  const parent = dirname(directory);
  if (parent === directory) return process.platform === "darwin";
  const verdict = await foundWithCaseSwapped(parent, basename(directory), look);
  return verdict === "unclear" ? isCaseInsensitive(parent, look) : verdict === "found";
}

const MOST_NAMES = 100;

async function* someNames(directory: string): AsyncGenerator<string> {
  try {
    let names = 0;
    for await (const { name } of await opendir(directory)) {
      yield name;
      names += 1;
      if (names === MOST_NAMES) return;
    }
  } catch (error) {
    // A directory that cannot be listed tells nothing; the ones above may.
    if (readErrno(error) === undefined) throw error;
  }
}

async function foundWithCaseSwapped(
  directory: string,
  name: string,
  look: typeof lstatBig,
): Promise<"found" | "missing" | "unclear"> {
  const swapped = swapCase(name);
  if (swapped === name) return "unclear";
  const here = await look(join(directory, name)).catch(() => undefined);
  if (here === undefined) return "unclear";
  try {
    const there = await look(join(directory, swapped));
    if (!isSameNode(here, there)) return "missing";
    // Two hard links of one file look the same as one name found twice; a directory has no second link.
    return here.isDirectory() || here.nlink === 1n ? "found" : "unclear";
  } catch (error) {
    return readErrno(error) === "ENOENT" ? "missing" : "unclear";
  }
}

/** ASCII only: further letters fold differently from disk to disk. */
function swapCase(name: string): string {
  return name.replaceAll(/[a-z]+|[A-Z]+/g, (letters) =>
    letters < "a" ? letters.toLowerCase() : letters.toUpperCase(),
  );
}

function lstatBig(path: string) {
  return lstat(path, { bigint: true });
}
