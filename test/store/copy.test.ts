// Sessions copied between SQLite and PostgreSQL: the same facts, byte for byte, with all that belongs to them.

import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifies } from "#laws";
import { describe, expect, onTestFinished, test } from "vitest";
import { createFactWriter } from "../../packages/store/conformance/fact-writer.ts";
import { kernelOn } from "../../packages/store/conformance/kernel-run.ts";
import {
  copySession,
  copyTombstones,
  openStore,
  type Store,
  type StoreOptions,
} from "../../packages/store/src/index.ts";
import { MIGRATIONS } from "../../packages/store/src/sqlite/migrations.ts";
import { COPIED_COLUMNS } from "../../packages/store/src/store/copy-rows.ts";
import { loadSqlite } from "../../packages/store/src/sqlite/driver.ts";
import { usePostgres } from "../postgres/shared.ts";

const FIVE_MB = 5 * 1024 * 1024;
const HOSTILE_ID = "../../é 'quoted\"; DROP TABLE facts; -- \u202e\n%s?$1";

async function newHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "soong-copy-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return home;
}

async function newStore(options: Partial<StoreOptions> = {}): Promise<Store> {
  const store = await openStore({ directory: await newHome(), busyTimeoutMs: 5000, ...options });
  onTestFinished(() => store.close());
  return store;
}

/** A session with something in every table, on several pages. */
async function fill(store: Store, session_id: string, size = 300_000): Promise<void> {
  const opened = await store.createSession({ session_id, title: 'a "title"\0', project: "/p" });
  const { session, startRun } = await kernelOn(opened);
  const run = await startRun();
  await run.call("demo.read", { text: "\u{1F600} \0 \ud800 ?$1", __proto__: 1 });
  await run.call("demo.long", {});
  await run.call("demo.fail", {});
  run.end("completed");
  await session.close();
  await opened.close();
  const again = await store.openSession(session_id);
  const writer = createFactWriter(again);
  const { run_id } = run.identity;
  for (let i = 0; i < 210; i += 1) {
    const node_id = `${session_id} ${i}`;
    const parent = i === 0 ? {} : { parent_id: `${session_id} ${i - 1}` };
    writer.add({ run_id, data: { text: `\u0001 "${i}" \\ é` } }, [
      writer.node({ node_id, run_id, ...parent }),
    ]);
  }
  const about = { session_id, run_id, media_type: "application/octet-stream" };
  const bytes = randomBytes(size);
  await again.artifacts.write(bytes, about);
  await again.artifacts.write(bytes, about);
  await again.artifacts.write("", about);
  await again.close();
  await addQuestions(store, session_id, run_id);
  await addTask(store, session_id);
}

async function addQuestions(store: Store, session_id: string, run_id: string): Promise<void> {
  for (const question_id of ["ask_1", "ask_2"]) {
    await store.questions().ask({
      session_id,
      question_id,
      run_id,
      agent_id: "agent",
      tool_call_id: "call\0",
      kind: "permission",
      tool_name: "demo.write",
      digest: "d",
      asked_at: "2026-01-01T00:00:00.000Z",
      request: { preview: "what\0" },
    });
  }
  await store.questions().answer(session_id, "ask_2", {
    answer: { decision: "deny" },
    answered_by: "me",
    answered_at: "2026-01-01T00:00:01.000Z",
  });
}

async function addTask(store: Store, session_id: string, lease_expires_at?: number): Promise<void> {
  const time = "2026-01-01T00:00:00.000Z";
  const task_id = `task of ${session_id}`;
  await store.tasks().change({ task_id }, () => ({
    answer: undefined,
    task: {
      task_id,
      session_id,
      status: "running",
      created_at: time,
      updated_at: time,
      content: { goal: "é" },
    },
    steps: ["one", "two"].map((step_id, position) => ({
      task_id,
      step_id,
      position,
      status: "ready",
      open_dependencies: position,
      state: { attempts: position },
      definition: { depends_on: position === 0 ? [] : ["one"], content: { title: step_id } },
      ...(lease_expires_at === undefined
        ? {}
        : { run_id: `${task_id} ${step_id}`, lease_expires_at }),
    })),
  }));
}

/** All that can be read of a session. */
async function everything(store: Store, session_id: string) {
  const reader = await store.readSession(session_id);
  const artifacts = await reader.artifacts();
  const task_id = `task of ${session_id}`;
  const { now: _now, ...task } = await store.tasks().read({ task_id, steps: "all", counts: true });
  const agents = await reader.agents();
  return {
    record: await reader.record(),
    facts: await reader.facts({ limit: 10_000 }),
    agents,
    paths: await Promise.all(agents.map(({ agent_id }) => reader.activePath(agent_id))),
    runs: await reader.runs(),
    calls: await reader.calls(),
    artifacts,
    hashes: await Promise.all(
      artifacts.map(async ({ artifact_id }) => hashOf(await reader.readArtifact(artifact_id))),
    ),
    questions: await store.questions().list(session_id),
    task,
    verified: await store.verify(session_id, { artifacts: true }),
  };
}

function hashOf(bytes: Uint8Array | undefined): string {
  return createHash("sha256")
    .update(bytes ?? "missing")
    .digest("hex");
}

type Stores = readonly [from: Store, to: Store];

const WAYS: readonly (readonly [string, () => Promise<Stores>])[] = [
  ["SQLite to SQLite", async () => [await newStore(), await newStore()]],
  [
    "SQLite to PostgreSQL",
    async () => [await newStore(), await newStore({ url: await usePostgres() })],
  ],
  [
    "PostgreSQL to SQLite",
    async () => [await newStore({ url: await usePostgres() }), await newStore()],
  ],
  [
    "PostgreSQL to PostgreSQL, another schema",
    async () => {
      const url = await usePostgres();
      return [await newStore({ url }), await newStore({ url: `${url}?schema=other` })];
    },
  ],
];

describe.each(WAYS)("a session copied from %s", (_way, open) => {
  test("is what it was, with the same head, and is not copied twice", async () => {
    verifies("EVENT-6", "STORE-1");
    const [from, to] = await open();
    await fill(from, "plain", FIVE_MB);
    await fill(from, HOSTILE_ID);
    for (const session_id of ["plain", HOSTILE_ID]) {
      const before = await everything(from, session_id);
      expect(before.verified.ok).toBe(true);
      const copied = await copySession(from, to, session_id);
      const { head_hash, last_seq: facts } = before.record;
      expect(copied).toMatchObject({ state: "copied", head_hash, facts, artifacts: 5 });
      expect(await everything(to, session_id)).toEqual(before);
      expect(await copySession(from, to, session_id)).toMatchObject({ state: "already_there" });
      expect(await everything(from, session_id)).toEqual(before);
    }
    expect(await to.countSessions()).toBe(2);
  });

  test("continues there, and is refused from then on", async () => {
    verifies("STORE-1");
    const [from, to] = await open();
    await fill(from, "s");
    await copySession(from, to, "s");
    const session = await to.openSession("s");
    createFactWriter(session).add();
    await session.artifacts.write("more", {
      session_id: "s",
      run_id: "r",
      media_type: "text/plain",
    });
    await session.close();
    expect(await to.verify("s", { artifacts: true })).toMatchObject({ ok: true });
    await expect(copySession(from, to, "s")).rejects.toMatchObject({
      code: "session_exists",
      message: expect.stringMatching(
        /was continued in .* since it was copied: \d+ facts there, \d+ here.*to have both, copy it to another home/,
      ) as string,
    });
    const own = await from.openSession("s");
    createFactWriter(own).add({ type: "task.noted", data: { of: "the source" } });
    await own.close();
    await expect(copySession(from, to, "s")).rejects.toMatchObject({
      code: "session_exists",
      message: expect.stringMatching(/with another history: \d+ facts there, \d+ here/) as string,
    });
  });

  test("is not copied again when it was continued here since, which is said", async () => {
    verifies("STORE-1");
    const [from, to] = await open();
    await fill(from, "s");
    await copySession(from, to, "s");
    const own = await from.openSession("s");
    createFactWriter(own).add();
    await own.close();
    await expect(copySession(from, to, "s")).rejects.toMatchObject({
      code: "session_exists",
      message: expect.stringMatching(
        /and was continued here since: \d+ facts there, \d+ here/,
      ) as string,
    });
  });

  test("is not copied while a process has it, or a worker does a step of it", async () => {
    verifies("STORE-3");
    const [from, to] = await open();
    const held = await from.createSession({ session_id: "held" });
    createFactWriter(held).add();
    await held.journal.flush();
    await expect(copySession(from, to, "held")).rejects.toMatchObject({ code: "session_in_use" });
    await held.close();
    await addTask(from, "held", Date.now() + 600_000);
    await expect(copySession(from, to, "held")).rejects.toMatchObject({
      code: "session_in_use",
      message: expect.stringContaining("a worker at step one of task") as string,
    });
    expect(await to.sessions()).toEqual([]);
  });

  test("is there whole or not at all when it ends midway, and can be copied then", async () => {
    verifies("STORE-3");
    const [from, to] = await open();
    await fill(from, "s");
    for (const at of [1, 3, 5]) {
      const stop = new AbortController();
      let seen = 0;
      const copying = copySession(from, to, "s", {
        signal: stop.signal,
        onProgress: () => void ((seen += 1) === at && stop.abort(new Error("enough"))),
      });
      await expect(copying).rejects.toThrow("enough");
      expect(await to.sessions()).toEqual([]);
    }
    expect(await copySession(from, to, "s")).toMatchObject({ state: "copied" });
    expect(await everything(to, "s")).toEqual(await everything(from, "s"));
  });

  test("is copied once when two do it at the same time", async () => {
    verifies("STORE-1");
    const [from, to] = await open();
    await fill(from, "s");
    const done = await Promise.all([copySession(from, to, "s"), copySession(from, to, "s")]);
    expect(done.map(({ state }) => state).toSorted()).toEqual(["already_there", "copied"]);
    expect(await everything(to, "s")).toEqual(await everything(from, "s"));
  });

  test("stays removed where it was removed", async () => {
    verifies("ART-4");
    const [from, to] = await open();
    await fill(from, "s");
    await fill(from, "gone");
    await copySession(from, to, "s");
    await to.removeSession("s", "not needed");
    expect(await copySession(from, to, "s")).toMatchObject({ state: "removed_there" });
    expect(await to.sessions()).toEqual([]);
    await from.removeSession("gone", 'a "reason"');
    expect(await copyTombstones(from, to)).toBe(1);
    expect(await copyTombstones(from, to)).toBe(0);
    expect((await to.tombstones()).at(-1)).toEqual((await from.tombstones()).at(-1));
  });
});

describe("a session that is not as it was recorded", () => {
  test.each([
    ["a fact", "UPDATE facts SET line = replace(line, 'info', 'debug') WHERE type = 'task.noted'"],
    ["a node", "UPDATE nodes SET text = replace(text, 'message', 'massage')"],
    ["a node too many", "INSERT INTO nodes SELECT session_no, 'x', NULL, 1, '{}' FROM sessions"],
    ["a run", "UPDATE runs SET status = 'failed'"],
    ["the head", `UPDATE sessions SET head_hash = '${"a".repeat(64)}'`],
    ["the record of an artifact", "UPDATE artifacts SET record = 'x'"],
    ["the fields of an artifact", "UPDATE artifacts SET record = '{}'"],
    ["what is open", `UPDATE sessions SET open_state = '{"calls":[],"runs":5,"active":7}'`],
    ["the id of an artifact", `UPDATE artifacts SET record = replace(record, '"art_', '"../art_')`],
  ])("is not copied: %s was changed", async (_what, statement) => {
    verifies("EVENT-6");
    const directory = await newHome();
    const from = await newStore({ directory });
    await fill(from, "s");
    await from.close();
    const database = (await loadSqlite())(join(directory, "store", "soong.db"));
    database.exec(statement);
    database.close();
    const to = await newStore();
    const changed = await newStore({ directory });
    await expect(copySession(changed, to, "s")).rejects.toMatchObject({ code: "store_corrupted" });
    expect(await to.sessions()).toEqual([]);
  });

  test("is not copied: bytes of an artifact were changed, and nothing is left of the attempt", async () => {
    verifies("EVENT-6", "ART-1");
    const [directory, there] = [await newHome(), await newHome()];
    const from = await newStore({ directory });
    await fill(from, "s");
    const folder = join(directory, "artifacts", "s");
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), "changed");
    const to = await newStore({ directory: there });
    await expect(copySession(from, to, "s")).rejects.toThrow(
      /Artifact art_\w+ of session s is not/,
    );
    expect(await to.sessions()).toEqual([]);
    expect(
      existsSync(join(there, "artifacts")) ? readdirSync(join(there, "artifacts")) : [],
    ).toEqual([]);
  });
});

test("a session that is added to while it is read is not copied", async () => {
  verifies("STORE-3");
  const directory = await newHome();
  const from = await newStore({ directory });
  await fill(from, "s");
  const to = await newStore();
  const database = (await loadSqlite())(join(directory, "store", "soong.db"));
  const onProgress = () => database.exec(`UPDATE sessions SET head_hash = '${"a".repeat(64)}'`);
  const copying = copySession(from, to, "s", { onProgress });
  await expect(copying).rejects.toMatchObject({ code: "session_in_use" });
  database.close();
  expect(await to.sessions()).toEqual([]);
});

test("the artifacts of a home stay when it uses a database elsewhere for the same session", async () => {
  verifies("ART-1");
  const directory = await newHome();
  const from = await newStore({ directory });
  const to = await newStore({ directory, url: await usePostgres() });
  await fill(from, "s");
  await copySession(from, to, "s");
  await (await to.openSession("s")).close();
  await to.removeSession("s");
  expect(await from.verify("s", { artifacts: true })).toMatchObject({ ok: true });
});

test("every column of every table is copied, or is a database's own", async () => {
  verifies("STORE-4");
  const database = (await loadSqlite())(":memory:");
  for (const { sql } of MIGRATIONS) database.exec(sql);
  for (const [table, copied] of Object.entries(COPIED_COLUMNS)) {
    const columns = database.prepare(`SELECT name FROM pragma_table_info('${table}')`).all();
    const names = columns.map((column) => (column as { name: string }).name);
    const own = ["session_no", "task_no", "place"];
    const wanted = names.filter((name) => !own.includes(name));
    expect([table, copied.filter((name) => names.includes(name))]).toEqual([table, wanted]);
  }
  database.close();
});
