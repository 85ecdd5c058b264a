// The skills, read from their folder on each request. An invalid one is reported as a problem and does not affect the
// others; none is read from outside the folder, also not through links.

import { readdir, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { messageOf, type Restriction } from "@soong/core";
import type { Problem } from "@soong/platform";
import { readTextFile, rejectDocument } from "../document/index.ts";
import { parseSkill, type ParsedSkill } from "./parse-skill.ts";
import { isSkillName, SKILL_FILE, type Skill } from "./skill.ts";

export interface LoadedSkills {
  /** By name. */
  readonly skills: readonly Skill[];
  readonly problems: readonly Problem[];
  /** Those that were not read, because something restricts their file. */
  readonly restricted: readonly RestrictedSkill[];
}

export interface RestrictedSkill {
  readonly name: string;
  readonly restriction: Restriction;
}

const MOST_SKILLS = 500;
const MOST_FILE_BYTES = 256 * 1024;

/** `folder`: `${SOONG_AGENT_HOME}/skills`; one that is not there holds nothing. */
export async function loadSkills(
  folder: string,
  restrictionOf: (name: string) => Promise<Restriction | undefined> = unrestricted,
): Promise<LoadedSkills> {
  const skills: Skill[] = [];
  const problems: Problem[] = [];
  const restricted: RestrictedSkill[] = [];
  for (const name of await listSkillFolders(folder, problems)) {
    const restriction = await restrictionOf(name);
    if (restriction !== undefined) {
      restricted.push({ name, restriction });
      continue;
    }
    const read = await readSkill(folder, name);
    if (read.ok) skills.push(read.skill);
    else problems.push(...read.problems);
  }
  return { skills, problems, restricted };
}

async function unrestricted(): Promise<undefined> {}

/** By the name of its folder. */
export async function readSkill(folder: string, name: string): Promise<ParsedSkill> {
  const place = join(folder, name);
  if (!isSkillName(name)) {
    const message =
      "has a name no skill can have: lower-case letters, digits and single hyphens between them, 64 characters at most";
    return rejectDocument(place, message);
  }
  const root = await realpath(folder).catch(() => folder);
  const found = await resolveWithin(root, place);
  if (!found.ok) return rejectDocument(place, found.message);
  const file = await resolveWithin(root, join(found.path, SKILL_FILE));
  if (!file.ok) {
    const message = file.missing
      ? `has no ${SKILL_FILE}; a skill is a folder with one`
      : file.message;
    return rejectDocument(file.missing ? place : join(place, SKILL_FILE), message);
  }
  const read = await readTextFile(file.path, MOST_FILE_BYTES);
  if (!read.ok) return rejectDocument(join(place, SKILL_FILE), read.message);
  return parseSkill(read.text, join(found.path, SKILL_FILE));
}

type Found =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly missing: boolean; readonly message: string };

async function resolveWithin(root: string, path: string): Promise<Found> {
  try {
    const real = await realpath(path);
    if (real.startsWith(root + sep)) return { ok: true, path: real };
    const message = "is a link that leads out of the skills folder; copy the skill there instead";
    return { ok: false, missing: false, message };
  } catch (error) {
    const missing = (error as { code?: string }).code === "ENOENT";
    const why = missing ? "there is nothing of that name" : messageOf(error);
    return { ok: false, missing, message: `cannot be read: ${why}` };
  }
}

async function listSkillFolders(folder: string, problems: Problem[]): Promise<string[]> {
  let names: string[];
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink());
    names = folders.map(({ name }) => name).filter((name) => !name.startsWith("."));
  } catch (error) {
    if ((error as { code?: string }).code !== "ENOENT") {
      const message = `cannot be read: ${messageOf(error)}`;
      problems.push(...rejectDocument(folder, message).problems);
    }
    return [];
  }
  if (names.length > MOST_SKILLS) {
    const message = `holds ${names.length} folders; the first ${MOST_SKILLS} by name are read`;
    problems.push(...rejectDocument(folder, message).problems);
  }
  return names.toSorted().slice(0, MOST_SKILLS);
}
