// A path as a call is judged by it: resolved, and with every further name that a rule could know it by (PATH-1,
// PERM-15): as it was given, in another case where the disk ignores that, or through another hard link.

import { lstat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Places, RestrictedAccess, Resource } from "@soong/core";
import { omitUndefined } from "@soong/schema";
import { isCaseInsensitive } from "./case-insensitive.ts";
import { ranByGit } from "./git-directory.ts";
import { resolvePath } from "./resolve-path.ts";
import { restrictedNameFinder } from "./restricted-hard-links.ts";

export type JudgedPath = Extract<Resource, { kind: "path" }>;

/** `ignoresCase` is for tests: a disk of the other kind is seldom at hand. */
export async function judgedPath(
  access: RestrictedAccess,
  given: string,
  places: Pick<Places, "roots" | "restrictedBy" | "restrictedGlobs">,
  ignoresCase = isCaseInsensitive,
): Promise<JudgedPath> {
  const { project } = places.roots;
  const path = await resolvePath(project, given);
  const named = resolve(project === "" ? "/" : project, given);
  const also = new Set<string>();
  if (places.restrictedBy(named, access) !== undefined) also.add(named);
  const linked = await otherHardLink(path, access, places);
  if (linked !== undefined) also.add(linked);
  also.delete(path);
  const anyCase = await isRestrictedInAnyCase([path, named], access, places, ignoresCase);
  const isSensitive = [path, ...also].some(
    (name) => places.restrictedBy(name, access, anyCase)?.kind === "sensitive",
  );
  const self_running = access === "write" ? ranByGit(path) : undefined;
  return {
    kind: "path",
    access,
    path,
    ...omitUndefined({ self_running }),
    ...(isSensitive ? { sensitive: true } : {}),
    ...(also.size === 0 ? {} : { also: [...also] }),
    ...(anyCase ? { ignores_case: true } : {}),
  };
}

async function otherHardLink(
  path: string,
  access: RestrictedAccess,
  places: Pick<Places, "roots" | "restrictedBy" | "restrictedGlobs">,
): Promise<string | undefined> {
  const { restrictedBy, restrictedGlobs, roots } = places;
  const node = await lstat(path, { bigint: true }).catch(() => undefined);
  if (node === undefined) return undefined;
  const { project } = roots;
  return restrictedNameFinder({ restrictedBy, restrictedGlobs, project }, access)(path, node);
}

async function isRestrictedInAnyCase(
  paths: readonly string[],
  access: RestrictedAccess,
  { restrictedBy }: Pick<Places, "restrictedBy">,
  ignoresCase: typeof isCaseInsensitive,
): Promise<boolean> {
  for (const path of paths) {
    if (restrictedBy(path, access) !== undefined) continue;
    if (restrictedBy(path, access, true) === undefined) continue;
    if (await ignoresCase(dirname(path))) return true;
  }
  return false;
}
