// The other files of a skill's folder, by their absolute paths, so that the file tools can read them. They are only named.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { controlCharacter } from "../document/index.ts";
import { SKILL_FILE, type Skill } from "./skill.ts";

export interface FilesBeside {
  readonly paths: readonly string[];
  /** Links, files with unprintable names, and what is past the bounds. */
  readonly left_out: number;
}

const MOST_FILES = 200;
const MOST_FOLDERS = 200;
const MOST_DEPTH = 8;

export async function filesBeside({ folder }: Pick<Skill, "folder">): Promise<FilesBeside> {
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
      if (isPlain && entry.isDirectory()) await walk(path, depth + 1);
      else if (isPlain && entry.isFile() && paths.length < MOST_FILES) paths.push(path);
      else left_out += 1;
    }
  }
}
