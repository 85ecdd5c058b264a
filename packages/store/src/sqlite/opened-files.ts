// Whether what this process has open is still what is at its path. A file that was removed, moved or replaced takes
// every write all the same, and the record is lost without a word; so it is looked at after each commit.

import { statSync, type BigIntStats } from "node:fs";
import { StoreError } from "../contract/index.ts";
import type { OpenDatabase } from "./driver.ts";
import { asStoreError } from "./sqlite-error.ts";

export interface OpenedFiles {
  /** Throws `store_lost` when one of them is not there any more, is another one, or was cut short. */
  check(): void;
  /** A directory that belongs to the record from now on, until the returned function is called. */
  watch(directory: string): () => void;
}

interface Seen {
  readonly path: string;
  readonly dev: bigint;
  readonly ino: bigint;
  /** Undefined for a directory. */
  size: bigint | undefined;
}

/** The database and the two files SQLite keeps beside it; no one removes those while we have it open. */
const SUFFIXES = ["", "-wal", "-shm"];

export function watchOpenedFiles(path: string, open: OpenDatabase): OpenedFiles {
  const watched = new Set<Seen>();
  for (const suffix of SUFFIXES) add(`${path}${suffix}`);
  return {
    check() {
      for (const seen of watched) checkOne(seen);
    },
    watch(directory) {
      const seen = add(directory);
      return () => {
        if (seen !== undefined) watched.delete(seen);
      };
    },
  };

  function add(of: string): Seen | undefined {
    const stats = statsOf(of);
    if (stats === undefined) return undefined;
    const { dev, ino, size } = stats;
    const seen = { path: of, dev, ino, size: stats.isFile() ? size : undefined };
    watched.add(seen);
    return seen;
  }

  function checkOne(seen: Seen): void {
    const stats = statsOf(seen.path);
    if (stats === undefined) throw lost(seen.path, "was removed or moved away");
    if (stats.ino !== seen.ino || stats.dev !== seen.dev) {
      throw lost(seen.path, "was replaced by another one");
    }
    if (seen.size === undefined || seen.size === stats.size) return;
    if (stats.size < seen.size && !isWhole(stats.size)) throw lost(seen.path, "was cut short");
    seen.size = stats.size;

    /** Removing sessions gives room back in the database, and only there; anything else takes facts away. */
    function isWhole(size: bigint): boolean {
      return seen.path === path && size > 0n && isSound();
    }
  }

  /** By a connection of its own: this process may still have in memory what the file has lost. */
  function isSound(): boolean {
    try {
      const fresh = open(path, { readOnly: true });
      try {
        const rows = fresh.prepare("PRAGMA quick_check(1)").all() as { quick_check: string }[];
        return rows.length === 1 && rows[0]?.quick_check === "ok";
      } finally {
        fresh.close();
      }
    } catch {
      return false;
    }
  }

  function lost(what: string, how: string): StoreError {
    const where = what === path ? `The store ${path}` : `${what}, which is part of the store,`;
    return new StoreError(
      "store_lost",
      `${where} ${how} while this process had it open. Nothing more is done or recorded. What was recorded before is in the file that was there: put it back, or start again with an empty home.`,
    );
  }

  function statsOf(of: string): BigIntStats | undefined {
    try {
      return statSync(of, { bigint: true, throwIfNoEntry: false });
    } catch (error) {
      throw asStoreError(error, of);
    }
  }
}
