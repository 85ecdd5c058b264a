// A node of the file system held fast (PATH-1): what was found under a judged path, whether it still is
// there, and a way to reach that node and no other. Through handles on Linux, by name elsewhere, best effort;
// both are tested on either. Nothing here waits for a disk that has just resolved the path, so no other thread is
// asked: a call of code.read_file takes 200 µs less of CPU time.

import {
  type BigIntStats,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";

import { isSameNode } from "@soong/platform";
import { type NodeKind, pathChanged } from "./path-failure.ts";
import { lookAtNode } from "./resolve-path.ts";

export interface Opening {
  /** Takes hold of what `name` leads to, following no final link; `judged` is where it must be. */
  pin(name: string, judged: string): PinnedNode;
}

export interface PinnedNode {
  readonly stats: BigIntStats;
  /** Leads to this very node and, for a directory, to what is in it. */
  readonly name: string;
  readonly isAtJudgedPath: () => boolean;
  /** Opens this very node for real; fails with path_changed rather than open another. */
  reopen(flags: number): Promise<FileHandle>;
  readonly close: () => void;
}

/**
 * Takes hold of what is at a judged path, and makes sure that it is there. Errors of the operating
 * system go through as they are: only the caller knows what it was looking for. `name` is another way to
 * the same place, through the handle of its directory.
 */
export function pinJudged(judged: string, opening: Opening, name: string = judged): PinnedNode {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
    const node = opening.pin(name, judged);
    if (closeOnError(node.close, node.isAtJudgedPath)) return node;
    node.close();
  }
  throw pathChanged(judged);
}

/** A file replaced by a whole new one between two looks is everyday work: then look again. */
const MOST_ATTEMPTS = 5;

/**
 * On Linux: an O_PATH handle on the node itself, which opens nothing (no FIFO waits, no device acts), and the
 * kernel's own name for that handle under /proc/self/fd. What is reached through the handle's name is that
 * node, even if others are renamed or linked meanwhile: there is no window.
 */
export const openingByHandle: Opening = {
  pin(name, judged) {
    const fd = openSync(name, O_PATH | constants.O_NOFOLLOW);
    const close = (): void => closeSync(fd);
    const stats = closeOnError(close, () => fstatSync(fd, { bigint: true }));
    const own = `/proc/self/fd/${fd}`;
    return {
      stats,
      name: own,
      isAtJudgedPath: () =>
        readlinkSync(own) === judged &&
        // The kernel's name for a removed node has this at its end, which may be a name, too.
        (!judged.endsWith(" (deleted)") || isNodeAt(judged, stats)),
      reopen: (flags) => open(own, flags),
      close,
    };
  },
};

/** Node's constants leave it out; the value is the same on every architecture Node runs on. */
const O_PATH = 0o10000000;

/**
 * Without /proc: what the name leads to is looked at before and after it is opened and must be one and the same
 * node at the judged path. A swap to and fro between two looks goes unseen, and what is in a directory is
 * reached by name: those windows stay open here.
 */
export const openingByName: Opening = {
  pin(name, judged) {
    const stats = lstatSync(name, { bigint: true });
    const isAtJudgedPath = (): boolean => {
      // A link's own place is its parent's: realpath would follow it.
      const place = stats.isSymbolicLink() ? dirname(judged) : judged;
      try {
        return isNodeAt(judged, stats) && realpathSync.native(place) === place;
      } catch {
        return false;
      }
    };
    return {
      stats,
      name: judged,
      isAtJudgedPath,
      async reopen(flags) {
        const handle = await open(judged, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK);
        const isSame = closeOnError(
          () => void handle.close(),
          () => isSameNode(fstatSync(handle.fd, { bigint: true }), stats) && isAtJudgedPath(),
        );
        if (isSame) return handle;
        await handle.close();
        throw pathChanged(judged);
      },
      close() {},
    };
  },
};

export const platformOpening: Opening =
  process.platform === "linux" && existsSync("/proc/self/fd") ? openingByHandle : openingByName;

export function readKind(stats: BigIntStats): NodeKind | "file" {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "directory";
  if (stats.isSymbolicLink()) return "symlink";
  if (stats.isFIFO()) return "fifo";
  return stats.isSocket() ? "socket" : "device";
}

function isNodeAt(path: string, stats: BigIntStats): boolean {
  const now = lookAtNode(path);
  return now !== undefined && isSameNode(now, stats);
}

function closeOnError<T>(close: () => void, work: () => T): T {
  try {
    return work();
  } catch (error) {
    close();
    throw error;
  }
}
