// Which memories a rule or a guard keeps from being read (PERM-15). The home is sensitive as a whole (PATH-6), and recalling is
// the way to the memories in it: that alone restricts nothing here.

import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Places, Restriction, Targets } from "@soong/core";
import type { MemoryOwner } from "./memory-entry.ts";
import { getMemoryPath } from "./memory-folder.ts";

/** The folders that would be looked into, where reading them is restricted. */
export async function listRecallTargets(
  folder: string,
  owners: readonly MemoryOwner[],
  places: Places,
): Promise<Targets> {
  const root = await realpath(folder).catch(() => folder);
  const paths = owners.map((owner) => join(root, ...getMemoryPath(owner)));
  const restricted = paths.filter((path) => findMemoryRestriction([path], places) !== undefined);
  return { resources: restricted.map((path) => ({ kind: "path", access: "read", path })) };
}

/** Whether a file of the folder is excluded. What restricts the folder itself was judged with the call. */
export function createMemoryFilter(
  places: Places,
  { wasJudged }: { readonly wasJudged: boolean },
): (file: string, folder: string) => Promise<boolean> {
  return async (file, folder) => {
    const found = findMemoryRestriction(await findMemoryNames(file, places), places);
    if (found === undefined) return false;
    const ofFolder = wasJudged ? findMemoryRestriction([folder], places) : undefined;
    return ofFolder?.kind !== found.kind || ofFolder.by !== found.by;
  };
}

async function findMemoryNames(file: string, places: Places): Promise<string[]> {
  const node = await lstat(file).catch(() => undefined);
  if (node === undefined || node.nlink < 2) return [file];
  const given = { path: file, directory: "/", access: "read", mayWalk: false } as const;
  const found = await Promise.resolve(places.findPath?.(given, places)).catch(() => undefined);
  return [file, ...(found?.resource.also ?? [])];
}

function findMemoryRestriction(
  names: readonly string[],
  { restrictedBy }: Places,
): Restriction | undefined {
  const found = names.flatMap((name) => restrictedBy(name, "read") ?? []);
  return found.find(({ kind }) => kind !== "sensitive");
}
