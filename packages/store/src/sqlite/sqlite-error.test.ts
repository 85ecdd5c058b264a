// Every way SQLite and the system say no, as an error with a code, the place and what to do.

import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { StoreError, type StoreErrorCode } from "../contract/store-error.ts";
import { asStoreError, isCannotOpen, isConstraint, isLocked, isReadOnly } from "./sqlite-error.ts";

const PATH = "/home/me/store/soong.db";

describe("a StoreError", () => {
  test.each<[number, string, StoreErrorCode, RegExp]>([
    [5, "database is locked", "store_locked", /try again/],
    [261, "database is locked", "store_locked", /try again/],
    [6, "database table is locked", "store_locked", /try again/],
    [8, "attempt to write a readonly database", "store_read_only", /check the rights/],
    [
      1032,
      "attempt to write a readonly database",
      "store_unavailable",
      /moved or removed.*open it again/,
    ],
    [10, "disk I/O error", "store_unavailable", /check that it has room/],
    [778, "disk I/O error", "store_unavailable", /check that it has room/],
    [522, "disk I/O error", "store_corrupted", /Copy it away/],
    [11, "database disk image is malformed", "store_corrupted", /Copy it away/],
    [267, "database disk image is malformed", "store_corrupted", /Copy it away/],
    [13, "database or disk is full", "store_full", /free some space/],
    [14, "unable to open database file", "store_unavailable", /check the path/],
    [26, "file is not a database", "not_a_store", /give another directory/i],
  ])(
    "for SQLite's %i says what happened, where, and what to do",
    (errcode, message, code, advice) => {
      verifies("STORE-1");
      const cause = sqliteError(message, errcode);
      const error = asStoreError(cause, PATH);
      expect(error).toBeInstanceOf(StoreError);
      expect(error.code).toBe(code);
      expect(error.message).toContain(PATH);
      expect(error.message).toMatch(advice);
      expect(error.message).toContain(message);
      expect(error.cause).toBe(cause);
      // Where a driver leaves the number out, its words tell as much.
      const isPrimary = errcode < 256;
      if (isPrimary) expect(asStoreError(sqliteError(message), PATH).code).toBe(code);
    },
  );

  test.each<[string, StoreErrorCode]>([
    ["EACCES", "store_read_only"],
    ["EPERM", "store_read_only"],
    ["EROFS", "store_read_only"],
    ["ENOSPC", "store_full"],
    ["EDQUOT", "store_full"],
    ["EFBIG", "store_full"],
    ["ENOTDIR", "store_unavailable"],
    ["EEXIST", "store_unavailable"],
    ["EMFILE", "store_unavailable"],
    ["EIO", "store_unavailable"],
  ])("for the system's %s says where", (systemCode, code) => {
    verifies("STORE-1");
    const error = asStoreError(
      Object.assign(new Error(`${systemCode}: no`), { code: systemCode }),
      PATH,
    );
    expect(error.code).toBe(code);
    expect(error.message).toContain(PATH);
    expect(error.message).toContain(systemCode);
  });

  test("stays the one it is", () => {
    verifies("STORE-1");
    const error = new StoreError("store_too_new", "too new");
    expect(asStoreError(error, PATH)).toBe(error);
  });

  test("for anything else repeats its words, with one full stop", () => {
    verifies("STORE-1");
    expect(asStoreError(new Error("It is Tuesday."), PATH).message).toBe(
      `The store ${PATH}: It is Tuesday.`,
    );
  });
});

test("an error is recognised by its number, its words, or not at all", () => {
  verifies("STORE-1");
  expect(isLocked(sqliteError("", 517))).toBe(true);
  expect(isLocked(sqliteError("database is locked"))).toBe(true);
  expect(isLocked(new Error("database is locked"))).toBe(false);
  expect(isReadOnly(sqliteError("", 776))).toBe(true);
  expect(isCannotOpen(sqliteError("", 14))).toBe(true);
  expect(isConstraint(sqliteError("UNIQUE constraint failed: runs.run_id"))).toBe(true);
  expect(isConstraint(sqliteError("", 2067))).toBe(true);
  expect(isConstraint(undefined)).toBe(false);
});

function sqliteError(message: string, errcode?: number): Error {
  const code = "ERR_SQLITE_ERROR";
  return Object.assign(new Error(message), errcode === undefined ? { code } : { code, errcode });
}
