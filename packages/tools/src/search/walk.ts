// Walks a directory tree in a fixed order: names bytewise, what is in a directory right after it. Links
// are never followed. It says what it would leave out and why; whoever walks decides.

import { lstatSync } from "node:fs";
import type { Dirent, Stats } from "node:fs";
import { isIgnored, rulesAbove, rulesInside, type IgnoreRules } from "./ignore-rules.ts";
import { readWalkedDirectory, type DirectoryEntry, type DiskPath } from "./walked-nodes.ts";

export type EntryType = "file" | "directory" | "symlink" | "fifo" | "socket" | "device";

export interface WalkedEntry {
  readonly name: string;
  /** Relative to the root of the walk; what is not UTF-8 in it is replaced. */
  readonly path: string;
  readonly disk: DiskPath;
  readonly type: EntryType;
  readonly leftOut: "hidden" | "ignored" | undefined;
  /** Whether its entries come next: so for a directory that is not left out. May be set. */
  descend: boolean;
}

export interface WalkOptions {
  /** A canonical path. */
  readonly root: string;
  readonly hidden: "taken" | "left out";
  readonly ignored: "taken" | "left out";
  /** Told of every directory below the root that could not be read. */
  readonly onUnreadable: () => void;
}

export function* walkTree(options: WalkOptions): Generator<WalkedEntry, void, void> {
  const { root, onUnreadable } = options;
  const rules = options.ignored === "left out" ? rulesAbove(root) : undefined;
  const levels = [openLevel(root, root, "", rules)];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const entry = level.entries[level.next];
    level.next += 1;
    if (entry === undefined) {
      levels.pop();
      continue;
    }
    const type = entryType(entry);
    const isDirectory = type === "directory";
    const leftOut = reasonToLeaveOut(options, level, entry.name, isDirectory);
    const walked: WalkedEntry = {
      name: entry.name,
      path: level.prefix + entry.name,
      disk: entry.disk,
      type,
      leftOut,
      descend: isDirectory && leftOut === undefined && entry.name !== ".git",
    };
    yield walked;
    if (!walked.descend || !isDirectory) continue;
    const directory =
      level.directory === "/" ? `/${entry.name}` : `${level.directory}/${entry.name}`;
    try {
      levels.push(openLevel(directory, entry.disk, `${walked.path}/`, level.rules));
    } catch {
      onUnreadable();
    }
  }
}

interface Level {
  readonly directory: string;
  readonly prefix: string;
  readonly entries: DirectoryEntry[];
  readonly rules: IgnoreRules | undefined;
  next: number;
}

function openLevel(
  directory: string,
  disk: DiskPath,
  prefix: string,
  outer: IgnoreRules | undefined,
): Level {
  const entries = readWalkedDirectory(disk);
  const rules =
    outer === undefined ? undefined : rulesInside(outer, { path: directory, disk }, entries);
  return { directory, prefix, entries: sortByName(entries), rules, next: 0 };
}

function reasonToLeaveOut(
  { hidden }: WalkOptions,
  { rules, directory }: Level,
  name: string,
  isDirectory: boolean,
): WalkedEntry["leftOut"] {
  if (hidden === "left out" && name.startsWith(".")) return "hidden";
  return rules !== undefined && isIgnored(rules, directory, name, isDirectory)
    ? "ignored"
    : undefined;
}

function sortByName(entries: DirectoryEntry[]): DirectoryEntry[] {
  // Code units are in the order of UTF-8 bytes, except from the surrogates on.
  if (entries.some(({ name }) => FROM_SURROGATES.test(name))) {
    return entries
      .map((entry) => ({ entry, bytes: Buffer.from(entry.disk) }))
      .toSorted((a, b) => Buffer.compare(a.bytes, b.bytes))
      .map(({ entry }) => entry);
  }
  return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

const FROM_SURROGATES = /[\ud800-\uffff]/;

function entryType({ dirent, disk }: DirectoryEntry): EntryType {
  const type = typeFrom(dirent);
  if (type !== undefined) return type;
  // Some file systems do not say in a directory what its entries are.
  const stats = lstatSync(disk, { throwIfNoEntry: false });
  return (stats === undefined ? undefined : typeFrom(stats)) ?? "device";
}

function typeFrom(node: Dirent | Dirent<Buffer> | Stats): EntryType | undefined {
  if (node.isFile()) return "file";
  if (node.isDirectory()) return "directory";
  if (node.isSymbolicLink()) return "symlink";
  if (node.isFIFO()) return "fifo";
  if (node.isSocket()) return "socket";
  return node.isBlockDevice() || node.isCharacterDevice() ? "device" : undefined;
}
