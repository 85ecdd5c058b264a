// Sensitive names that git has the content of: to mask such a file hides nothing, for its objects are there to read, and git takes
// it for changed and refuses to add or stash anything. Names alone prove nothing, for a command may write the index: it is the
// hash of the very content that has to be there, which only those can name who know it.

import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { isWithin } from "@soong/core/internal";
import { readSmall } from "../path/index.ts";
import { linkedDirectory } from "./git-places.ts";

/** `repositories`: the `.git` of work trees. */
export function createCommittedTest(repositories: readonly string[]): (path: string) => boolean {
  const trees = repositories
    .filter((git) => basename(git) === ".git")
    .map((git) => ({ tree: dirname(git), index: join(linkedDirectory(git) ?? git, "index") }))
    .toSorted((a, b) => b.tree.length - a.tree.length);
  const indexes = new Map<string, Buffer | undefined>();
  return (path) => {
    const around = trees.find(({ tree }) => isWithin(tree, path));
    if (around === undefined) return false;
    if (!indexes.has(around.index)) indexes.set(around.index, readIndex(around.index));
    const index = indexes.get(around.index);
    const name = Buffer.from(`${path.slice(around.tree.length + 1)}\0`);
    const hash = index === undefined ? undefined : findHash(index, name);
    if (hash === undefined) return false;
    const content = readSmall(path, MOST_BYTES);
    return content !== undefined && hash.equals(blobHash(content));
  };
}

const MOST_BYTES = 1024 * 1024;
const MOST_INDEX_BYTES = 64 * 1024 * 1024;
const HASH_BYTES = 20;

/** Of the versions in which every entry has its whole path. */
function readIndex(path: string): Buffer | undefined {
  const index = readSmall(path, MOST_INDEX_BYTES);
  const isKnown =
    index?.toString("latin1", 0, 4) === "DIRC" && [2, 3].includes(index.readUInt32BE(4));
  return isKnown ? index : undefined;
}

/** An entry: stat data, hash, flags with the length of the path, the path and a NUL. */
function findHash(index: Buffer, name: Buffer): Buffer | undefined {
  for (let at = index.indexOf(name); at !== -1; at = index.indexOf(name, at + 1)) {
    const isPath = at >= 74 && (index.readUInt16BE(at - 2) & 0xfff) === name.length - 1;
    if (isPath) return index.subarray(at - 2 - HASH_BYTES, at - 2);
  }
  return undefined;
}

function blobHash(content: Buffer): Buffer {
  return createHash("sha1").update(`blob ${content.length}\0`).update(content).digest();
}
