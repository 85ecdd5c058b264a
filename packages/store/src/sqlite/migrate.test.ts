// Migrating with an invented list of versions: one step at a time, whole or not at all, by one process.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { bundleStore, type StoreBundle } from "../../../../test/store/store-bundle.ts";
import { loadSqlite, type Database, type OpenDatabase } from "./driver.ts";
import { APPLICATION_ID, migrate, refuseForeign } from "./migrate.ts";

const V1 = { version: 1, sql: "CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1), (2);" };
const V2 = { version: 2, sql: "ALTER TABLE a ADD COLUMN y INTEGER; UPDATE a SET y = x * 10;" };
const V3 = { version: 3, sql: "CREATE TABLE b AS SELECT x + y AS z FROM a; DROP TABLE a;" };
const ALL = [V1, V2, V3];

let bundle: StoreBundle;
let open: OpenDatabase;
beforeAll(async () => {
  bundle = await bundleStore();
  open = await loadSqlite();
});
afterAll(() => bundle.remove());

let path: string;
let database: Database;
beforeEach(async () => {
  path = join(await bundle.place(), "soong.db");
  database = open(path, { timeout: 5000 });
  database.exec("PRAGMA journal_mode = WAL");
});
afterEach(() => database.close());

describe("migrating", () => {
  test("goes through every version, from whichever was there", () => {
    verifies("STORE-4");
    for (const known of [[V1], [V1, V2], ALL, ALL]) migrate(database, path, known);
    expect(state(database)).toEqual({ version: 3, tables: ["b"] });
    expect(
      database
        .prepare("SELECT z FROM b")
        .all()
        .map((row) => ({ ...(row as object) })),
    ).toEqual([{ z: 11 }, { z: 22 }]);
  });

  test("marks the file as ours", () => {
    verifies("STORE-4");
    migrate(database, path, [V1]);
    const row = database.prepare("PRAGMA application_id").get() as { application_id: number };
    expect(row.application_id).toBe(APPLICATION_ID);
    expect(Buffer.from(APPLICATION_ID.toString(16), "hex").toString()).toBe("Soon");
  });

  test("stops before a version that fails, with all that was there", () => {
    verifies("STORE-4");
    const broken = { version: 2, sql: `${V2.sql} DELETE FROM a; INSERT INTO nowhere VALUES (1);` };
    expect(() => migrate(database, path, [V1, broken, V3])).toThrow(/nowhere/);
    expect(state(database)).toEqual({ version: 1, tables: ["a"] });
    expect(database.prepare("SELECT count(*) AS n FROM a").get()).toMatchObject({ n: 2 });
    // Nothing is left open: a corrected version continues from there.
    migrate(database, path, ALL);
    expect(state(database)).toEqual({ version: 3, tables: ["b"] });
  });

  test("refuses a newer version and says so, with nothing changed", () => {
    verifies("STORE-4");
    migrate(database, path, ALL);
    expect(() => migrate(database, path, [V1, V2])).toThrow(
      expect.objectContaining({
        code: "store_too_new",
        message: expect.stringMatching(/version 3.*knows up to 2.*use a newer Soong/) as string,
      }) as Error,
    );
    expect(state(database)).toEqual({ version: 3, tables: ["b"] });
  });

  test.each([
    ["has tables of its own", "CREATE TABLE other (x)"],
    ["has a mark of its own", "PRAGMA application_id = 7"],
    ["has a version of its own", "PRAGMA user_version = 1"],
  ])("refuses a database that %s", (_what, sql) => {
    verifies("STORE-4");
    database.exec(sql);
    const before = state(database);
    for (const attempt of [
      () => migrate(database, path, ALL),
      () => refuseForeign(database, path),
    ]) {
      expect(attempt).toThrow(
        expect.objectContaining({
          code: "not_a_store",
          message: expect.stringContaining(path) as string,
        }) as Error,
      );
    }
    expect(state(database)).toEqual(before);
  });
});

describe("migrating in several processes", () => {
  test("is done once", async () => {
    verifies("STORE-4");
    // A version that cannot be applied twice.
    const processes = [1, 2, 3, 4].map(() => bundle.start("migrate", { path, migrations: ALL }));
    for (const one of processes) expect(await one.next()).toEqual({ ready: true });
    for (const one of processes) one.say("go");
    for (const one of processes) {
      expect(await one.ended()).toMatchObject({ code: 0, errors: "" });
      expect(await one.next()).toEqual({ done: true });
    }
    expect(state(database)).toEqual({ version: 3, tables: ["b"] });
  });

  test("leaves a version that opens, wherever the process is killed", async () => {
    verifies("STORE-4");
    migrate(database, path, [V1]);
    const before = rows(database);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    const bytes = readFileSync(path);
    // BEGIN, nothing to do, COMMIT; BEGIN, two statements, two marks, COMMIT; and the same once more.
    const deaths = [5, 8, 11, 14].map(async (dieAt) => {
      const copy = join(await bundle.place(), "soong.db");
      writeFileSync(copy, bytes);
      const child = bundle.start("migrate", { path: copy, migrations: ALL, dieAt });
      child.say("go");
      expect(await child.ended()).toMatchObject({ signal: "SIGKILL" });
      return copy;
    });
    const seen: number[] = [];
    for (const copy of await Promise.all(deaths)) {
      const again = open(copy, { timeout: 5000 });
      const { version, tables } = state(again);
      seen.push(version);
      expect(tables).toEqual(["a"]);
      if (version === 1) expect(rows(again)).toEqual(before);
      migrate(again, copy, ALL);
      expect(state(again)).toEqual({ version: 3, tables: ["b"] });
      expect(again.prepare("SELECT sum(z) AS z FROM b").get()).toMatchObject({ z: 33 });
      again.close();
    }
    expect(seen).toEqual([1, 1, 2, 2]);
  });
});

function state(of: Database): { version: number; tables: string[] } {
  const { user_version } = of.prepare("PRAGMA user_version").get() as { user_version: number };
  const tables = of.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  return { version: user_version, tables: (tables as { name: string }[]).map(({ name }) => name) };
}

function rows(of: Database): unknown {
  return JSON.stringify(of.prepare("SELECT * FROM a").all());
}
