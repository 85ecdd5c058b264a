// The lock of a session: one at a time, freed by letting go, with nothing but an empty private file on disk.

import { mkdirSync, readdirSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { verifies } from "#laws";
import { loadSqlite, type OpenDatabase } from "./driver.ts";
import { takeLock } from "./open-database.ts";

let directory: string;
let path: string;
let open: OpenDatabase;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "soong-lock-"));
  path = join(directory, "s1");
  open = await loadSqlite();
});
afterEach(() => rm(directory, { recursive: true, force: true }));

test("one has it until it lets go, however often it says so", () => {
  verifies("STORE-3");
  const lock = takeLock(open, path);
  expect(lock).toBeDefined();
  expect(takeLock(open, path)).toBeUndefined();
  // Being refused frees nothing.
  expect(takeLock(open, path)).toBeUndefined();
  lock?.release();
  const next = takeLock(open, path);
  expect(next).toBeDefined();
  lock?.release();
  expect(takeLock(open, path)).toBeUndefined();
  next?.release();
});

test("sessions do not get in each other's way", () => {
  verifies("STORE-3");
  const locks = ["a", "b", "c"].map((name) => takeLock(open, join(directory, name)));
  for (const lock of locks) expect(lock).toBeDefined();
  for (const lock of locks) lock?.release();
});

test("there is nothing on disk but an empty file of its owner's", () => {
  verifies("STORE-3");
  const lock = takeLock(open, path);
  expect(readdirSync(directory)).toEqual(["s1"]);
  expect(statSync(path).size).toBe(0);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  lock?.release();
  expect(readdirSync(directory)).toEqual(["s1"]);
  expect(statSync(path).size).toBe(0);
});

test("what cannot be locked is an error, not a held lock", () => {
  verifies("STORE-3");
  mkdirSync(path);
  expect(() => takeLock(open, path)).toThrow(
    expect.objectContaining({ code: "not_a_store" }) as Error,
  );
  expect(() => takeLock(open, join(directory, "none", "s1"))).toThrow(/ENOENT/);
});
