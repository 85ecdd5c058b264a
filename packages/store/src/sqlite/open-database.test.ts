// The database file: how it is made, and what is never touched because it is not ours.

import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { loadSqlite, type OpenDatabase } from "./driver.ts";
import { latestVersion } from "./migrate.ts";
import { openDatabase } from "./open-database.ts";

let directory: string;
let path: string;
let open: OpenDatabase;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "soong-database-"));
  path = join(directory, "soong.db");
  open = await loadSqlite();
});
afterEach(() => rm(directory, { recursive: true, force: true }));

describe("a new database", () => {
  test("is private, in WAL mode, durable at every commit, and gives room back", async () => {
    verifies("STORE-1", "ART-4");
    const { database } = await openDatabase(place());
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
    expect(lstatSync(`${path}-wal`).mode & 0o777).toBe(0o600);
    const settings = [
      "journal_mode",
      "synchronous",
      "auto_vacuum",
      "trusted_schema",
      "user_version",
    ];
    const found = settings.map(
      (name) => (database.prepare(`PRAGMA ${name}`).get() as Record<string, unknown>)[name],
    );
    expect(found).toEqual(["wal", 2, 2, 0, latestVersion()]);
    database.close();
  });

  test("is not made for a reader", async () => {
    verifies("STORE-1");
    await expect(openDatabase(place(true))).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringMatching(/There is no store at .*soong\.db\. Give/) as string,
    });
    expect(existsSync(path)).toBe(false);
  });
});

describe("a database that is not ours", () => {
  test.each(["DELETE", "WAL"])(
    "in %s mode stays as it is, with what is beside it",
    async (mode) => {
      verifies("STORE-4");
      const other = join(directory, "other.db");
      const database = open(other);
      database.exec(`PRAGMA journal_mode = ${mode}; CREATE TABLE notes (text)`);
      database.exec("INSERT INTO notes VALUES ('mine')");
      // As its killed owner would leave it: late changes are beside it, and nobody has it open.
      copyFileSync(other, path);
      if (mode === "WAL") copyFileSync(`${other}-wal`, `${path}-wal`);
      database.close();
      const before = [readFileSync(path), mode === "WAL" ? readFileSync(`${path}-wal`) : ""];
      for (const readOnly of [false, true]) {
        await expect(openDatabase(place(readOnly))).rejects.toMatchObject({
          code: "not_a_store",
          message: expect.stringMatching(
            /soong\.db is a database of another program.*give another/,
          ) as string,
        });
      }
      expect([readFileSync(path), mode === "WAL" ? readFileSync(`${path}-wal`) : ""]).toEqual(
        before,
      );
    },
  );

  test("because a link leads to it is not followed, nor made", async () => {
    verifies("STORE-4");
    const elsewhere = join(directory, "elsewhere.db");
    symlinkSync(elsewhere, path);
    for (const content of [undefined, ""]) {
      if (content !== undefined) writeFileSync(elsewhere, content);
      for (const readOnly of [false, true]) {
        await expect(openDatabase(place(readOnly))).rejects.toMatchObject({ code: "not_a_store" });
      }
    }
    expect(readFileSync(elsewhere, "utf8")).toBe("");
  });
});

test("an older version waits for a writer to bring it up to date", async () => {
  verifies("STORE-4");
  const { database } = await openDatabase(place());
  database.exec(`PRAGMA user_version = ${latestVersion() - 1}`);
  database.close();
  await expect(openDatabase(place(true))).rejects.toMatchObject({
    code: "store_unavailable",
    message: expect.stringContaining("opened for writing") as string,
  });
});

test("a name with every sign a path can hold is a name", async () => {
  verifies("STORE-1");
  directory = join(directory, "a?b#c%41 'd\" ü");
  mkdirSync(directory);
  const { database } = await openDatabase(place());
  database.close();
  expect(existsSync(join(directory, "soong.db"))).toBe(true);
});

function place(readOnly = false) {
  return { directory, readOnly, busyTimeoutMs: 1000 };
}
