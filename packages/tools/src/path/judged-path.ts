// A path as a call is judged by it: resolved, and with every further name that a rule could know it by (PATH-1,
// PERM-15): as it was given, in another case where the disk ignores that, or through another hard link.

import { dirname, relative, resolve } from "node:path";
import type { Places, RestrictedAccess, Resource, Targets } from "@soong/core";
import { isWithin } from "@soong/core/internal";
import { omitUndefined } from "@soong/schema";
import { isCaseInsensitive } from "./case-insensitive.ts";
import { ranByGit } from "./git-directory.ts";
import { lookAtNode, resolvePath } from "./resolve-path.ts";
import { restrictedNameFinder } from "./restricted-hard-links.ts";

export type JudgedPath = Extract<Resource, { kind: "path" }>;

type JudgingPlaces = Pick<Places, "roots" | "restrictedBy" | "restrictedGlobs">;

/** `ignoresCase` is for tests: a disk of the other kind is seldom at hand. */
export async function judgedPath(
  access: RestrictedAccess,
  given: string,
  places: JudgingPlaces,
  ignoresCase = isCaseInsensitive,
): Promise<JudgedPath> {
  const { restrictedBy, restrictedGlobs, roots } = places;
  const { project } = roots;
  const path = await resolvePath(project, given);
  const named = resolve(project === "" ? "/" : project, given);
  const also = new Set<string>();
  if (restrictedBy(named, access) !== undefined) also.add(named);
  const node = lookAtNode(path);
  const nameFinder = restrictedNameFinder({ restrictedBy, restrictedGlobs, project }, access);
  const linked = node && nameFinder(path, node);
  if (linked !== undefined) also.add(linked);
  also.delete(path);
  let anyCase = false;
  for (const name of [path, named]) {
    if (anyCase || restrictedBy(name, access) !== undefined) continue;
    anyCase = restrictedBy(name, access, true) !== undefined && (await ignoresCase(dirname(name)));
  }
  const isSensitive = [path, ...also].some(
    (name) => restrictedBy(name, access, anyCase)?.kind === "sensitive",
  );
  return {
    kind: "path",
    access,
    path,
    ...omitUndefined({
      self_running: access === "write" ? ranByGit(path) : undefined,
      sensitive: isSensitive || undefined,
      also: also.size === 0 ? undefined : [...also],
      ignores_case: anyCase || undefined,
    }),
  };
}

/** The targets of a call that names one path. */
export async function targetPath(...judged: Parameters<typeof judgedPath>): Promise<Targets> {
  return { resources: [await judgedPath(...judged)] };
}

/** A path as users write it: relative inside the project, absolute elsewhere. */
export function shownPath(project: string, path: string): string {
  return path !== project && isWithin(project, path) ? relative(project, path) : path;
}

/** The path that a call was judged by, from its plan. */
export function plannedPath(resources: readonly Resource[] | undefined): JudgedPath {
  const [target] = resources ?? [];
  if (target?.kind !== "path") throw new Error("a path is touched only as it was planned");
  return target;
}
