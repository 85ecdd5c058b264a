// Walks a directory tree in a fixed order: names bytewise, what is in a directory right after it. Links
// are never followed. It says what it would omit and why; the caller decides.

import { lstatSync, type Dirent, type Stats } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { ToolFailure, type PreparedPlan } from "@soong/core";
import { lookAt, openDirectory, openRegularFile, plannedPath } from "../path/index.ts";
import { isIgnored, rulesAbove, rulesInside, type IgnoreRules } from "./ignore-rules.ts";
import { readWalkedDirectory, type DirectoryEntry, type DiskPath } from "./walked-nodes.ts";

export type EntryType = "file" | "directory" | "symlink" | "fifo" | "socket" | "device";

export interface WalkedEntry {
  /** Relative to the root of the walk; what is not UTF-8 in it is replaced. */
  readonly path: string;
  readonly disk: DiskPath;
  readonly type: EntryType;
  readonly leftOut: "hidden" | "ignored" | undefined;
  /** Whether its entries come next: so for a directory that is not omitted. May be set. */
  descend: boolean;
}

export interface WalkOptions {
  /** A canonical path. */
  readonly root: string;
  /** Whether names that begin with a dot are taken, and what git ignores. */
  readonly hidden: boolean;
  readonly ignored: boolean;
  /** Receives every directory below the root that could not be read. */
  readonly onUnreadable: () => void;
}

export function* walkTree(options: WalkOptions): Generator<WalkedEntry, void, void> {
  const { root, onUnreadable } = options;
  const levels = [openLevel(root, root, "", options.ignored ? undefined : rulesAbove(root))];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const entry = level.entries[level.next];
    level.next += 1;
    if (entry === undefined) {
      levels.pop();
      continue;
    }
    const type = entryType(entry);
    const isDirectory = type === "directory";
    const { name, disk } = entry;
    const { directory, rules } = level;
    const isHidden = !options.hidden && name.startsWith(".");
    const ignored = rules && isIgnored(rules, directory, name, isDirectory) ? "ignored" : undefined;
    const leftOut = isHidden ? "hidden" : ignored;
    const descend = isDirectory && leftOut === undefined && name !== ".git";
    const walked: WalkedEntry = { path: level.prefix + name, disk, type, leftOut, descend };
    yield walked;
    if (!walked.descend || !isDirectory) continue;
    try {
      levels.push(openLevel(join(directory, name), disk, `${walked.path}/`, rules));
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
  const rules = outer && rulesInside(outer, { path: directory, disk }, entries);
  return { directory, prefix, entries: sortByName(entries), rules, next: 0 };
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

export interface Place {
  readonly path: string;
  readonly kind: "directory" | "file";
}

/**
 * What a listing or a search looks at, once it may be looked at. What is neither file nor directory, and what cannot
 * be reached, is refused, each with its own error.
 */
export async function judgedPlace(plan: PreparedPlan | undefined): Promise<Place> {
  const { path, access } = plannedPath(plan?.resources);
  // The opening below says what is wrong.
  const isDirectory = lookAt(path)?.isDirectory() === true;
  const opened = isDirectory ? await openDirectory(path) : await openRegularFile(path);
  await opened.close();
  if (isDirectory || access !== "list") return { path, kind: isDirectory ? "directory" : "file" };
  throw new ToolFailure({
    code: "not_a_directory",
    message: `${JSON.stringify(path)} is a file, not a directory. Read it instead.`,
    recovery: "use_another_tool",
    details: { path },
  });
}

/** Yields to the event loop during a long synchronous walk, and notices there that the call was cancelled. */
export function createEventLoopYield(signal: AbortSignal) {
  let asked = 0;
  let since = performance.now();
  return {
    /** Cheap; ask for every item. */
    isDue(): boolean {
      asked += 1;
      return asked % ITEMS_BETWEEN_LOOKS === 0 && performance.now() - since > MOST_MS;
    },
    /** Throws the reason when the call was cancelled meanwhile. */
    async pause(): Promise<void> {
      await setImmediate();
      signal.throwIfAborted();
      since = performance.now();
    },
  };
}

const ITEMS_BETWEEN_LOOKS = 32;
const MOST_MS = 8;
