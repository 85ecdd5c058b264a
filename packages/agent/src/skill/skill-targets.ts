// What a call about a skill would read, where a rule, a guard or the file's own name restricts it (PERM-15). The home is
// sensitive as a whole (PATH-6), and these tools are the way to the skills in it: that alone names nothing here.

import { realpath } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { Places, Resource, Restriction, Targets } from "@soong/core";
import { isSkillName, SKILL_FILE, type Skill } from "./skill.ts";

type RestrictingPlaces = Pick<Places, "restrictedBy">;

/** Of SKILL.md, and of `file` beside it, whether there is such a file or not. */
export async function listSkillTargets(
  folder: string,
  { name, file }: { readonly name: string; readonly file?: string },
  places: Places,
): Promise<Targets> {
  if (!isSkillName(name)) return { resources: [] };
  const named = join(folder, name);
  const real = await realpath(named).catch(() => named);
  const beside = file === undefined ? undefined : join(real, file);
  const paths = [
    await findFileNames(join(real, SKILL_FILE), join(named, SKILL_FILE), places),
    ...(beside?.startsWith(real + sep) === true
      ? [await findFileNames(beside, join(named, relative(real, beside)), places)]
      : []),
  ];
  return { resources: paths.flatMap((names) => restrictedResource(names, real, places)) };
}

/** What restricts SKILL.md: its text, its description included, is then not to be read for a list. */
export async function findSkillRestriction(
  folder: string,
  name: string,
  places: Places,
): Promise<Restriction | undefined> {
  const named = join(folder, name);
  const real = await realpath(named).catch(() => named);
  const names = await findFileNames(join(real, SKILL_FILE), join(named, SKILL_FILE), places);
  const found = names.flatMap((path) => restrictionIn(path, real, "read", places) ?? []);
  return found.find(({ decision }) => decision === "deny") ?? found[0];
}

export function isNameRestricted(
  path: string,
  { folder }: Pick<Skill, "folder">,
  places: RestrictingPlaces,
): boolean {
  return restrictionIn(path, folder, "list", places) !== undefined;
}

/** Where its links lead first, then the other names it has, hard links that a rule names among them. */
async function findFileNames(path: string, other: string, places: Places): Promise<string[]> {
  const real = await realpath(path).catch(() => path);
  const given = { path: real, directory: "/", access: "read", mayWalk: false } as const;
  const found = await Promise.resolve(places.findPath?.(given, places)).catch(() => undefined);
  return [...new Set([real, path, other, ...(found?.resource.also ?? [])])];
}

function restrictedResource(
  names: readonly string[],
  skillFolder: string,
  places: RestrictingPlaces,
): Resource[] {
  const [path = "", ...also] = names;
  if (names.every((name) => restrictionIn(name, skillFolder, "read", places) === undefined)) {
    return [];
  }
  return [{ kind: "path", access: "read", path, ...(also.length === 0 ? {} : { also }) }];
}

function restrictionIn(
  path: string,
  skillFolder: string,
  access: "read" | "list",
  { restrictedBy }: RestrictingPlaces,
): Restriction | undefined {
  const found = restrictedBy(path, access);
  if (found?.kind !== "sensitive") return found;
  // The same name outside the home.
  return restrictedBy(join("/any-directory", relative(skillFolder, path)), access);
}
