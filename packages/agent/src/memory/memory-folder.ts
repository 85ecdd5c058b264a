// Where memories are: `user/<id>.md` and `projects/<key>/<id>.md` under one folder. They are read on each request; an
// invalid file is reported as a problem and does not affect the others, and no link is followed.

import { lstat, readdir, realpath, chmod, mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { messageOf } from "@soong/core";
import type { Problem } from "@soong/platform";
import { readTextFile, rejectDocument } from "../document/index.ts";
import { parseEntry, type ParsedEntry } from "./entry-file.ts";
import { MEMORY_LIMITS, sha256, type MemoryEntry, type MemoryOwner } from "./memory-entry.ts";

export interface ReadMemories {
  readonly entries: readonly MemoryEntry[];
  readonly problems: readonly Problem[];
  /** How many files a rule or guard kept from being read. */
  readonly restricted: number;
}

/** Asked with a file and its folder, both absolute. */
export type IsExcluded = (file: string, folder: string) => Promise<boolean>;

const MOST_PROJECTS = 2_000;

/** `folder`: `${SOONG_AGENT_HOME}/memory`; one that is not there holds nothing. */
export async function readMemories(
  folder: string,
  owners: readonly MemoryOwner[],
  isExcluded?: IsExcluded,
): Promise<ReadMemories> {
  const root = await realpath(folder).catch(() => folder);
  const found = emptyCollection(isExcluded);
  for (const owner of owners) {
    if (owner.scope === "project" && (await isLink(join(root, PROJECTS)))) {
      found.problems.push(...rejectDocument(join(root, PROJECTS), NO_LINKS).problems);
    } else await collect(join(root, ...getMemoryPath(owner)), owner, found);
  }
  return toReadMemories(found);
}

/** Of all owners, for the user to look through. */
export async function listMemories(folder: string): Promise<ReadMemories> {
  const root = await realpath(folder).catch(() => folder);
  const found = emptyCollection();
  await collect(join(root, USER), { scope: "user" }, found);
  for (const key of await listFolder(join(root, PROJECTS), found)) {
    await collect(join(root, PROJECTS, key), undefined, found);
  }
  return toReadMemories(found);
}

/** Below the folder. */
export function getMemoryPath(owner: MemoryOwner): string[] {
  return owner.scope === "user" ? [USER] : [PROJECTS, projectKey(owner.project)];
}

/** Its last name for a reader, a hash of all of it to make it unique. */
export function projectKey(project: string): string {
  const name = basename(project)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 40);
  return `${name === "" ? "project" : name}-${sha256(project).slice(0, 16)}`;
}

const USER = "user";
const PROJECTS = "projects";
const NO_LINKS = "is a link; memories are never read through one";

interface Collection {
  readonly entries: MemoryEntry[];
  readonly problems: Problem[];
  readonly isExcluded: IsExcluded | undefined;
  restricted: number;
}

function emptyCollection(isExcluded?: IsExcluded): Collection {
  return { entries: [], problems: [], isExcluded, restricted: 0 };
}

function toReadMemories({ entries, problems, restricted }: Collection): ReadMemories {
  return { entries, problems, restricted };
}

async function collect(
  folder: string,
  owner: MemoryOwner | undefined,
  found: Collection,
): Promise<void> {
  const names = (await listFolder(folder, found)).filter((name) => name.endsWith(".md"));
  const { entriesOfOwner: most } = MEMORY_LIMITS;
  if (names.length > most) {
    const message = `holds ${names.length} memories; the first ${most} by name are read`;
    found.problems.push(...rejectDocument(folder, message).problems);
  }
  const files = names.slice(0, most).map((name) => join(folder, name));
  for (let at = 0; at < files.length; at += AT_ONCE) {
    const some = files.slice(at, at + AT_ONCE);
    const reading = some.map(async (file) =>
      (await found.isExcluded?.(file, folder)) === true
        ? undefined
        : readEntry(file, folder, owner),
    );
    for (const read of await Promise.all(reading)) {
      if (read === undefined) found.restricted += 1;
      else if (read.ok) found.entries.push(read.entry);
      else found.problems.push(...read.problems);
    }
  }
}

const AT_ONCE = 32;

async function readEntry(
  file: string,
  folder: string,
  owner: MemoryOwner | undefined,
): Promise<ParsedEntry> {
  const stats = await lstat(file).catch(() => undefined);
  // It went while the others were read.
  if (stats === undefined) return { ok: false, problems: [] };
  if (stats.isSymbolicLink()) return rejectDocument(file, NO_LINKS);
  const read = await readTextFile(file, MEMORY_LIMITS.fileBytes);
  if (!read.ok) return rejectDocument(file, read.message);
  const parsed = parseEntry(read.text, { file, owner, changed_at: stats.mtime.toISOString() });
  return parsed.ok && isElsewhere(parsed.entry, folder)
    ? rejectDocument(file, "project is of another folder than the file is in")
    : parsed;
}

function isElsewhere(entry: MemoryEntry, folder: string): boolean {
  return entry.scope === "project" && projectKey(entry.project) !== basename(folder);
}

async function listFolder(folder: string, { problems }: Collection): Promise<string[]> {
  try {
    if (await isLink(folder)) {
      problems.push(...rejectDocument(folder, NO_LINKS).problems);
      return [];
    }
    const names = await readdir(folder);
    const shown = names.filter((name) => !name.startsWith(".")).toSorted();
    return basename(folder) === PROJECTS ? shown.slice(0, MOST_PROJECTS) : shown;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== "ENOENT")
      problems.push(...rejectDocument(folder, `cannot be read: ${messageOf(error)}`).problems);
    return [];
  }
}

async function isLink(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isSymbolicLink() === true;
}

/** Each below the one before it, and none of them a link: what is written stays below `root`. */
export async function makeOwnFolders(root: string, names: readonly string[]): Promise<string> {
  let path = root;
  for (const name of names) {
    path = join(path, name);
    await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
      if ((error as { code?: string }).code !== "EEXIST") throw error;
    });
    const stats = await lstat(path);
    if (!stats.isDirectory()) {
      throw new Error(`${path} is not a directory (a link is not followed)`);
    }
    if ((stats.mode & 0o077) !== 0) await chmod(path, 0o700);
  }
  return path;
}
