// Where memories are: `user/<id>.md` and `projects/<key>/<id>.md` under one folder. They are read on each request; an
// invalid file is reported as a problem and does not affect the others, and no link is followed.

import { chmod, lstat, mkdir, realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Places, Restriction, Targets } from "@soong/core";
import type { Problem } from "@soong/platform";
import { findOtherNames, listFolder, readTextFile, rejectDocument } from "../document/index.ts";
import {
  parseEntry,
  type ParsedEntry,
  MEMORY_LIMITS,
  sha256,
  type MemoryEntry,
  type MemoryOwner,
} from "./memory-entry.ts";

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
  const found = createCollection();
  for (const owner of owners) {
    const isOpen = owner.scope === "user" || (await isOwnFolder(join(root, PROJECTS), found));
    if (isOpen) await collect(join(root, ...getMemoryPath(owner)), owner, found, isExcluded);
  }
  return found;
}

/** Of all owners, for the user to look through. */
export async function listMemories(folder: string): Promise<ReadMemories> {
  const root = await realpath(folder).catch(() => folder);
  const found = createCollection();
  await collect(join(root, USER), { scope: "user" }, found);
  const projects = join(root, PROJECTS);
  const wanted = { max: MOST_PROJECTS, isMeant: () => true };
  if (!(await isOwnFolder(projects, found))) return found;
  for (const key of await listFolder(projects, found.problems, wanted)) {
    await collect(join(projects, key), undefined, found);
  }
  return found;
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

interface Collection extends ReadMemories {
  readonly entries: MemoryEntry[];
  readonly problems: Problem[];
  restricted: number;
}

function createCollection(): Collection {
  return { entries: [], problems: [], restricted: 0 };
}

const AT_ONCE = 32;

async function collect(
  folder: string,
  owner: MemoryOwner | undefined,
  found: Collection,
  isExcluded?: IsExcluded,
): Promise<void> {
  if (!(await isOwnFolder(folder, found))) return;
  const names = await listFolder(folder, found.problems, {
    max: MEMORY_LIMITS.entriesOfOwner,
    what: "memories",
    isMeant: ({ name }) => name.endsWith(".md"),
  });
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const reading = names.slice(at, at + AT_ONCE).map(async (name) => {
      const file = join(folder, name);
      const isLeftOut = (await isExcluded?.(file, folder)) === true;
      return isLeftOut ? undefined : readEntry(file, folder, owner);
    });
    for (const read of await Promise.all(reading)) {
      if (read === undefined) found.restricted += 1;
      else if (read.ok) found.entries.push(read.entry);
      else found.problems.push(...read.problems);
    }
  }
}

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
  if (!read.ok) return read;
  const parsed = parseEntry(read.text, { file, owner, changed_at: stats.mtime.toISOString() });
  if (!parsed.ok || parsed.entry.scope === "user") return parsed;
  return projectKey(parsed.entry.project) === basename(folder)
    ? parsed
    : rejectDocument(file, "project is of another folder than the file is in");
}

/** A folder that is not there is no link either. */
async function isOwnFolder(folder: string, { problems }: Collection): Promise<boolean> {
  const stats = await lstat(folder).catch(() => undefined);
  if (stats?.isSymbolicLink() !== true) return true;
  problems.push(...rejectDocument(folder, NO_LINKS).problems);
  return false;
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

// Which memories a rule or a guard keeps from being read (PERM-15). The home is sensitive as a whole (PATH-6), and recalling is
// the way to the memories in it: that alone restricts nothing here.

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
  const isLinked = node !== undefined && node.nlink >= 2;
  return isLinked ? [file, ...(await findOtherNames(file, places))] : [file];
}

function findMemoryRestriction(
  names: readonly string[],
  { restrictedBy }: Places,
): Restriction | undefined {
  const found = names.flatMap((name) => restrictedBy(name, "read") ?? []);
  return found.find(({ kind }) => kind !== "sensitive");
}
