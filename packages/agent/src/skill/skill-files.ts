// The other files of a skill's folder: named when it is loaded, and read one at a time on request. No link is followed.

import { readdir, realpath } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import {
  ToolFailure,
  type Places,
  type Resource,
  type Restriction,
  type Targets,
} from "@soong/core";
import { nearestName } from "@soong/schema";
import { controlCharacter, shorten } from "@soong/platform";
import { findOtherNames, readTextFile } from "../document/index.ts";
import { SKILL_FILE, type Skill, isSkillName } from "./skill.ts";

export interface FilesBeside {
  /** Relative to the skill's folder. */
  readonly paths: readonly string[];
  /** Links, files with unprintable names, restricted ones, and what is past the bounds. */
  readonly left_out: number;
}

const MOST_FILES = 200;
const MOST_FOLDERS = 200;
const MOST_DEPTH = 8;
const MOST_FILE_BYTES = 4 * 1024 * 1024;

/** `isHidden` is asked with absolute paths. */
export async function filesBeside(
  { folder }: Pick<Skill, "folder">,
  isHidden: (path: string) => boolean = () => false,
): Promise<FilesBeside> {
  const paths: string[] = [];
  let left_out = 0;
  let folders = 0;
  await walk(folder, 1);
  return { paths, left_out };

  async function walk(at: string, depth: number): Promise<void> {
    folders += 1;
    if (depth > MOST_DEPTH || folders > MOST_FOLDERS) {
      left_out += 1;
      return;
    }
    const entries = await readdir(at, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(at, entry.name);
      if (entry.name.startsWith(".") || path === join(folder, SKILL_FILE)) continue;
      const isPlain = controlCharacter(entry.name) === undefined && !/[\t\r\n]/.test(entry.name);
      const isShown = isPlain && !isHidden(path);
      if (isShown && entry.isDirectory()) await walk(path, depth + 1);
      else if (isShown && entry.isFile() && paths.length < MOST_FILES) {
        paths.push(relative(folder, path));
      } else left_out += 1;
    }
  }
}

/** The text of one of them, as it is listed. `isHidden` keeps names from the hint. */
export async function readFileBeside(
  skill: Pick<Skill, "name" | "folder">,
  file: string,
  isHidden: (path: string) => boolean,
): Promise<string> {
  const { paths } = await filesBeside(skill);
  if (!paths.includes(file)) {
    const shown = await filesBeside(skill, isHidden);
    throw noSuchFile(skill, file, shown.paths);
  }
  const read = await readTextFile(join(skill.folder, file), MOST_FILE_BYTES);
  if (read.ok) return read.text;
  throw new ToolFailure({
    code: "skill_file_unusable",
    error_class: "invalid_arguments",
    message: `The file ${JSON.stringify(file)} of the skill "${skill.name}" ${read.message}.`,
    recovery: "change_arguments",
  });
}

function noSuchFile(
  { name }: Pick<Skill, "name">,
  file: string,
  paths: readonly string[],
): ToolFailure {
  const given = shorten(file, 200);
  const meant = nearestName(given, paths);
  const some = paths.slice(0, 10).map((path) => JSON.stringify(path));
  const more = paths.length > some.length ? `, and ${paths.length - some.length} more` : "";
  const others =
    some.length === 0 ? "It has no files to read." : `Its files: ${some.join(", ")}${more}.`;
  const hint = meant === undefined ? others : `Did you mean ${JSON.stringify(meant)}?`;
  return new ToolFailure({
    code: "unknown_skill_file",
    error_class: "invalid_arguments",
    message: `The skill "${name}" has no file ${JSON.stringify(given)}. ${hint}`,
    recovery: "change_arguments",
  });
}

// What a call about a skill would read, where a rule, a guard or the file's own name restricts it (PERM-15). The home is
// sensitive as a whole (PATH-6), and these tools are the way to the skills in it: that alone names nothing here.

/** Of SKILL.md, and of `file` beside it, whether there is such a file or not. */
export async function listSkillTargets(
  folder: string,
  { name, file = SKILL_FILE }: { readonly name: string; readonly file?: string },
  places: Places,
): Promise<Targets> {
  const resources: Resource[] = [];
  if (!isSkillName(name)) return { resources };
  const named = join(folder, name);
  const real = await realpath(named).catch(() => named);
  for (const path of new Set([join(real, SKILL_FILE), join(real, file)])) {
    if (!path.startsWith(real + sep)) continue;
    const names = await findFileNames(named, real, path, places);
    if (names.every((one) => findRestriction(one, real, "read", places) === undefined)) continue;
    const [first = "", ...also] = names;
    resources.push({ kind: "path", access: "read", path: first, ...(also[0] ? { also } : {}) });
  }
  return { resources };
}

/** What restricts SKILL.md: its text, its description included, is then not to be read for a list. */
export async function findSkillRestriction(
  folder: string,
  name: string,
  places: Places,
): Promise<Restriction | undefined> {
  const named = join(folder, name);
  const real = await realpath(named).catch(() => named);
  const names = await findFileNames(named, real, join(real, SKILL_FILE), places);
  const found = names.flatMap((path) => findRestriction(path, real, "read", places) ?? []);
  return found.find(({ decision }) => decision === "deny") ?? found[0];
}

export function isNameRestricted(path: string, { folder }: Skill, places: Places): boolean {
  return findRestriction(path, folder, "list", places) !== undefined;
}

/** Where the links of a file lead first, then the other names it has. */
async function findFileNames(
  named: string,
  folder: string,
  path: string,
  places: Places,
): Promise<string[]> {
  const real = await realpath(path).catch(() => path);
  const others = await findOtherNames(real, places);
  return [...new Set([real, path, join(named, relative(folder, path)), ...others])];
}

function findRestriction(
  path: string,
  skillFolder: string,
  access: "read" | "list",
  { restrictedBy }: Places,
): Restriction | undefined {
  const found = restrictedBy(path, access);
  if (found?.kind !== "sensitive") return found;
  // The same name outside the home.
  return restrictedBy(join("/any-directory", relative(skillFolder, path)), access);
}
