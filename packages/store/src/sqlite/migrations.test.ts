// Every version there ever was opens with all that is in it (STORE-4), and none is changed after the fact.

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { createFactWriter } from "../../conformance/fact-writer.ts";
import { openStore } from "../open/open-store.ts";
import { loadSqlite, type Database } from "./driver.ts";
import { APPLICATION_ID } from "./migrate.ts";
import { MIGRATIONS } from "./migrations.ts";

/** Of the text of each version. A released one is never edited: add a version instead. */
const RELEASED: Readonly<Record<number, string>> = {
  1: "46b33cab94bb1c0cdf2a2490aa631a3ffe1b5295789a7e283279590a1489e9c7",
  2: "7f789e9021cc3e1b6ee75f09f70186a7f1fee7e61c06b9c642d6b906c104a7fb",
  3: "af149414e16b8220368bbacdd04b4b6e9c7f4721fdc1ad0cab9b5af159c88563",
};

const FIXTURES = fileURLToPath(new URL("./fixtures/", import.meta.url));

/** What `test/store/fixture-runtime.ts` keeps as the one artifact. */
const KEPT_BYTES = "kept bytes";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "soong-migrations-"));
  mkdirSync(join(home, "store"), { mode: 0o700 });
});
afterEach(() => rm(home, { recursive: true, force: true }));

describe("the versions", () => {
  test("are numbered one after the other", () => {
    verifies("STORE-4");
    expect(MIGRATIONS.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, i) => i + 1));
  });

  test("are never edited once they are out", () => {
    verifies("STORE-4");
    const hashes = MIGRATIONS.map(({ version, sql }) => [
      version,
      createHash("sha256").update(sql).digest("hex"),
    ]);
    expect(Object.fromEntries(hashes)).toEqual(RELEASED);
  });

  test("each have a fixture with something in every table", async () => {
    verifies("STORE-4");
    const wanted = MIGRATIONS.map(({ version }) => `version-${version}.sql`);
    expect(readdirSync(FIXTURES).toSorted()).toEqual(wanted.toSorted());
    for (const { version } of MIGRATIONS) {
      const database = await fromFixture(version);
      expect(pragma(database, "user_version")).toBe(version);
      expect(pragma(database, "application_id")).toBe(APPLICATION_ID);
      for (const table of tablesOf(database)) {
        // What a killed removal leaves: no one was killed.
        if (table === "leavings") continue;
        const rows = database.prepare(`SELECT count(*) AS n FROM ${table}`).get();
        expect({ table, ...(rows as object) }).not.toEqual({ table, n: 0 });
      }
      database.close();
      await rm(pathOfDatabase());
    }
  });
});

describe.each(MIGRATIONS.map(({ version }) => version))("a store of version %i", (version) => {
  beforeEach(async () => {
    const database = await fromFixture(version);
    const { artifact_id } = database
      .prepare("SELECT artifact_id FROM artifacts WHERE record LIKE '%notes.txt%'")
      .get() as { artifact_id: string };
    database.close();
    // The first fixture has the bytes of its one artifact only here.
    keepArtifact("kept", artifact_id, Buffer.from(KEPT_BYTES));
    const beside = /^-- artifact (\S+) (\S+) (\S*)$/gm;
    for (const [, session_id = "", id = "", bytes = ""] of fixture(version).matchAll(beside)) {
      keepArtifact(session_id, id, Buffer.from(bytes, "base64"));
    }
  });

  test("opens with all its sessions, and every chain holds", async () => {
    verifies("STORE-4");
    const store = await openStore({ directory: home });
    const ids = (await store.sessions()).map(({ session_id }) => session_id);
    expect(ids.toSorted()).toEqual(["branches", "interrupted", "kept"]);
    for (const session_id of ids) {
      const { ok, facts } = await store.verify(session_id, { artifacts: true });
      const { last_seq } = await (await store.readSession(session_id)).record();
      expect({ session_id, ok, facts }).toEqual({ session_id, ok: true, facts: last_seq });
    }
    const [tombstone] = await store.tombstones();
    expect(tombstone).toMatchObject({ session_id: "gone", reason: "of no use", last_seq: 1 });
    await store.close();
  });

  test("gives calls, conversation, artifacts and branches as they were", async () => {
    verifies("STORE-4");
    const store = await openStore({ directory: home });
    const kept = await store.readSession("kept");
    expect(await kept.record()).toMatchObject({
      title: "It's a title",
      project: "/home/me/project",
    });
    expect((await kept.runs()).map(({ status, role }) => [status, role])).toEqual([
      ["completed", "main"],
    ]);
    const calls = (await kept.calls()).map(({ tool_call_id, status }) => [tool_call_id, status]);
    expect(Object.fromEntries(calls)).toMatchObject({
      call_read: "succeeded",
      call_fail: "failed",
      call_forbidden: "denied",
    });
    const [agent] = await kept.agents();
    const path = await kept.activePath(agent?.agent_id ?? "");
    expect(path.map((node) => node.tool_call_id)).toEqual([
      "call_read",
      "call_fail",
      "call_forbidden",
      "call_write",
    ]);
    const artifact = (await kept.artifacts()).find(({ name }) => name === "notes.txt");
    expect(artifact).toMatchObject({ name: "notes.txt", size: KEPT_BYTES.length });
    const bytes = await kept.readArtifact(artifact?.artifact_id ?? "");
    expect(Buffer.from(bytes ?? []).toString()).toBe(KEPT_BYTES);

    const branches = await store.readSession("branches");
    expect((await branches.children("root")).map((node) => node.node_id)).toEqual([
      "left",
      "right",
    ]);
    expect((await branches.activePath("agent_1")).map((node) => node.node_id)).toEqual([
      "root",
      "right",
    ]);
    await store.close();
  });

  test("has its tasks, and takes new ones", async () => {
    verifies("STORE-4");
    const store = await openStore({ directory: home });
    const tasks = store.tasks();
    const kept = await tasks.read({ task_id: "task_kept", steps: "all", counts: true });
    if (version === 1) expect(kept).toEqual({ steps: [], counts: {} });
    else {
      expect(kept.task?.content).toMatchObject({ goal: "naïve ‘quotes’ \u0000" });
      expect(kept.steps.map(({ step_id }) => step_id)).toEqual(["first", "second"]);
      expect(kept.steps[0]).toMatchObject({ run_id: "run_kept", status: "claimed" });
      expect(kept.counts).toEqual({ claimed: 1, pending: 1 });
    }
    const at = new Date().toISOString();
    const [created_at, updated_at] = [at, at];
    const task = { task_id: "new", session_id: "kept", status: "pending", created_at, updated_at };
    const change = { answer: "done", task: { ...task, content: {} } };
    expect(await tasks.change({ task_id: "new" }, () => change)).toBe("done");
    expect((await tasks.list({ limit: 9 })).map(({ task_id }) => task_id)).toEqual(
      version === 1 ? ["new"] : ["new", "task_kept"],
    );
    await store.close();
  });

  test("has its questions, and takes new ones", async () => {
    verifies("STORE-4", "PERM-20");
    const store = await openStore({ directory: home });
    const questions = store.questions();
    const kept = (await questions.list()).map(({ question_id, state }) => [question_id, state]);
    expect(kept).toEqual(
      version < 3
        ? []
        : [
            ["ask_open", "open"],
            ["ask_answered", "answered"],
          ],
    );
    const about = {
      session_id: "kept",
      agent_id: "a",
      kind: "permission",
      tool_name: "t",
    } as const;
    const where = { question_id: "new", run_id: "r", tool_call_id: "c" };
    const asked_at = "2020-01-01T00:00:00.000Z";
    await questions.ask({ ...about, ...where, digest: "d", asked_at, request: {} });
    expect((await questions.list()).map(({ question_id }) => question_id)[0]).toBe("new");
    await store.close();
  });

  test("is recovered and written on", async () => {
    verifies("STORE-4", "STORE-3");
    const store = await openStore({ directory: home });
    const session = await store.openSession("interrupted");
    expect(session.recovered).toMatchObject({
      unknown: ["call_started"],
      skipped: ["call_waiting"],
    });
    createFactWriter(session).add();
    await session.close();
    await store.removeSession("kept");
    await store.close();
    const again = await openStore({ directory: home, readOnly: true });
    expect(await again.verify("interrupted")).toMatchObject({ ok: true });
    expect((await again.tombstones()).map(({ session_id }) => session_id)).toEqual([
      "gone",
      "kept",
    ]);
    await again.close();
  });

  test("has the tables of a new one afterwards", async () => {
    verifies("STORE-4");
    const old = await openStore({ directory: home });
    await old.close();
    const fresh = await openStore({ directory: join(home, "fresh") });
    await fresh.close();
    const open = await loadSqlite();
    const [schema, wanted] = [home, join(home, "fresh")].map((directory) => {
      const database = open(join(directory, "store", "soong.db"), { readOnly: true });
      const rows = database
        .prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY name")
        .all();
      const mode = pragma(database, "journal_mode");
      database.close();
      return { rows, mode };
    });
    expect(schema).toEqual(wanted);
    expect(schema?.mode).toBe("wal");
  });
});

function pathOfDatabase(): string {
  return join(home, "store", "soong.db");
}

async function fromFixture(version: number): Promise<Database> {
  const open = await loadSqlite();
  const database = open(pathOfDatabase());
  database.exec("BEGIN");
  database.exec(fixture(version));
  database.exec("COMMIT");
  return database;
}

function fixture(version: number): string {
  return readFileSync(join(FIXTURES, `version-${version}.sql`), "utf8");
}

function keepArtifact(session_id: string, artifact_id: string, bytes: Buffer): void {
  const folder = join(home, "artifacts", session_id);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, artifact_id), bytes, { mode: 0o600 });
}

function tablesOf(database: Database): string[] {
  const rows = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    .all();
  return (rows as { name: string }[]).map(({ name }) => name);
}

function pragma(database: Database, name: string): unknown {
  return (database.prepare(`PRAGMA ${name}`).get() as Record<string, unknown>)[name];
}
