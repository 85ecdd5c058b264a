// What SQLite says, as an error the user can act on.

import { StoreError, type StoreErrorCode } from "../contract/store-error.ts";

type Meaning = readonly [StoreErrorCode, string];

const LOCKED: Meaning = [
  "store_locked",
  "another process has held it for too long; try again when it is done",
];
const FULL: Meaning = [
  "store_full",
  "there is no room left; free some space on that disk and open it again",
];
const DAMAGED: Meaning = [
  "store_corrupted",
  "it is damaged; nothing more is written to it. Copy it away before any attempt at repair",
];

/** Primary result codes; an extended one has its primary in the low byte. */
const MEANING: Readonly<Record<number, Meaning>> = {
  5: LOCKED,
  6: LOCKED,
  8: ["store_read_only", "it cannot be written; check the rights of the file and its directory"],
  3: ["store_read_only", "this user may not do that; check the rights of the file"],
  10: [
    "store_unavailable",
    "the disk reported an error; check that it has room and works, then open it again",
  ],
  11: DAMAGED,
  13: FULL,
  14: ["store_unavailable", "it cannot be opened; check the path and its rights"],
  26: [
    "not_a_store",
    "it is not a SQLite file, or its beginning is damaged; nothing was changed. Give another directory, or copy the file away before any attempt at repair",
  ],
};

/** Extended codes that mean something else than their primary. */
const EXACT_MEANING: Readonly<Record<number, Meaning>> = {
  // SQLITE_READONLY_DBMOVED
  1032: ["store_unavailable", "it was moved or removed while it was open; open it again"],
  // SQLITE_IOERR_SHORT_READ, SQLITE_IOERR_DATA and SQLITE_IOERR_CORRUPTFS
  522: DAMAGED,
  8202: DAMAGED,
  8458: DAMAGED,
};

const MEANING_OF_SYSTEM: Readonly<Record<string, Meaning>> = {
  EACCES: ["store_read_only", "this user may not write there; check the rights"],
  EPERM: ["store_read_only", "this user may not write there; check the rights"],
  EROFS: ["store_read_only", "it is on a disk that can only be read; give another directory"],
  ENOSPC: FULL,
  EDQUOT: ["store_full", "the quota is used up; free some space and open it again"],
  EFBIG: ["store_full", "no file may grow that large here; raise that limit and open it again"],
  ENOTDIR: [
    "store_unavailable",
    "part of the path is a file, not a directory; give another directory",
  ],
  EEXIST: [
    "store_unavailable",
    "there is something else where its directory should be; move it away, or give another directory",
  ],
  EMFILE: [
    "store_unavailable",
    "this process has too many files open; close some and open it again",
  ],
};

interface SqliteError extends Error {
  code?: string;
  errcode?: number;
}

export function isLocked(error: unknown): boolean {
  return primaryCode(error) === 5 || primaryCode(error) === 6;
}

export function isReadOnly(error: unknown): boolean {
  return primaryCode(error) === 8;
}

export function isCannotOpen(error: unknown): boolean {
  return primaryCode(error) === 14;
}

/** A row of that key is there already. */
export function isConstraint(error: unknown): boolean {
  return primaryCode(error) === 19;
}

export function asStoreError(error: unknown, path: string): StoreError {
  if (error instanceof StoreError) return error;
  const { message, code: systemCode = "" } = error as NodeJS.ErrnoException;
  const [code, meaning] = EXACT_MEANING[resultCode(error)] ??
    MEANING[primaryCode(error)] ??
    MEANING_OF_SYSTEM[systemCode] ?? ["store_unavailable", ""];
  const because = meaning === "" ? message.replace(/\.$/, "") : `${meaning} (${message})`;
  return new StoreError(code, `The store ${path}: ${because}.`, { cause: error });
}

function primaryCode(error: unknown): number {
  return resultCode(error) & 0xff;
}

function resultCode(error: unknown): number {
  const isSqlite = error instanceof Error && (error as SqliteError).code === "ERR_SQLITE_ERROR";
  if (!isSqlite) return 0;
  const { errcode, message } = error as SqliteError;
  return errcode ?? CODES_BY_WORDS.find(([words]) => message.includes(words))?.[1] ?? 0;
}

/** The package for older Nodes leaves the code out where several rows are read; SQLite's words are fixed. */
const CODES_BY_WORDS: readonly (readonly [string, number])[] = [
  ["database is locked", 5],
  ["table is locked", 6],
  ["readonly database", 8],
  ["disk I/O error", 10],
  ["disk image is malformed", 11],
  ["disk is full", 13],
  ["unable to open database file", 14],
  ["constraint failed", 19],
  ["file is not a database", 26],
];
