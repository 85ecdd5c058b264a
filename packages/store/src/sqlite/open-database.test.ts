// The database file: how it is made, and what is never touched because it is not ours.

import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import type { CrashPoint } from "../contract/store-error.ts";
import { loadSqlite, type OpenDatabase } from "./driver.ts";
import { latestVersion, migrate } from "./migrate.ts";
import { MIGRATIONS } from "./migrations.ts";
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
  test("is private, in WAL mode, durable at every commit, and gives space back", async () => {
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
      code: "store_absent",
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
      // As its killed owner would leave it: late changes are beside it, and no one has it open.
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

describe("a store of an older version", () => {
  const versions = [0, ...MIGRATIONS.map(({ version }) => version)];

  test.each(versions)("%i is read as it is, without what it does not have yet", async (version) => {
    verifies("STORE-4");
    const older = open(path);
    older.exec("PRAGMA journal_mode = WAL");
    migrate(
      older,
      path,
      MIGRATIONS.filter((one) => one.version <= version),
    );
    if (version > 0) {
      older.exec("INSERT INTO leavings VALUES ('a session', 'a run')");
    }
    older.close();
    const before = readFileSync(path);
    const { database } = await openDatabase(place(true));
    for (const [, table = ""] of allTables()) {
      const rows = database.prepare(`SELECT * FROM ${table}`).all();
      expect([table, rows.length]).toEqual([table, version > 0 && table === "leavings" ? 1 : 0]);
    }
    database.close();
    expect(readFileSync(path)).toEqual(before);
  });

  function allTables(): RegExpMatchArray[] {
    return MIGRATIONS.flatMap(({ sql }) => [...sql.matchAll(/CREATE TABLE (\w+)/g)]);
  }
});

describe("a store whose making did not finish", () => {
  const points: readonly CrashPoint[] = ["create.file", "create.wal", "create.tables"];

  test.each(points)("at %s is empty for a reader, and made by the next writer", async (killed) => {
    verifies("STORE-3", "STORE-4");
    const copy = join(directory, "killed");
    await openDatabase({
      ...place(),
      at(point) {
        // What a kill leaves: everything that was written, and nothing that comes later.
        if (point === killed) copyTo(copy);
      },
    }).then(({ database }) => database.close());
    directory = copy;
    await expectEmpty(true);
    await expectEmpty(false);
  });

  test("with a half-written first page is empty as well", async () => {
    verifies("STORE-3");
    // As SQLite leaves it when it is killed before the page it has saved is on disk.
    const journal = Buffer.alloc(512);
    Buffer.from("d9d505f920a163d7", "hex").copy(journal);
    journal.writeUInt32BE(0, 8);
    journal.writeUInt32BE(0, 16);
    journal.writeUInt32BE(512, 20);
    journal.writeUInt32BE(4096, 24);
    writeFileSync(`${path}-journal`, journal);
    writeFileSync(path, Buffer.alloc(4096, 7));
    await expectEmpty(true);
    await expectEmpty(false);
  });

  function copyTo(copy: string): void {
    const names = readdirSync(directory);
    mkdirSync(copy);
    for (const name of names) copyFileSync(join(directory, name), join(copy, name));
  }

  async function expectEmpty(readOnly: boolean): Promise<void> {
    const { database } = await openDatabase(place(readOnly));
    expect(database.prepare("SELECT * FROM sessions").all()).toEqual([]);
    database.close();
  }
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
