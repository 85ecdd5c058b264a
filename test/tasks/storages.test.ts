// Both storages of tasks against the same checks, and what only the one on SQLite can show: other processes' handles,
// sessions that are removed, stores that are only read.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import {
  createMemoryTasks,
  createTasks,
  type TaskStorage,
} from "../../packages/tasks/src/index.ts";
import { taskStorageChecks } from "../../packages/store/conformance/index.ts";
import { openStore, StoreError, type Store } from "../../packages/store/src/index.ts";
import { loadSqlite } from "../../packages/store/src/sqlite/driver.ts";
import { createTaskStage, SESSION } from "./task-stage.ts";

let directory: string;
const opened: Store[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "soong-tasks-"));
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  await rm(directory, { recursive: true, force: true });
});

const checks = taskStorageChecks.map((check) => [check.name, check] as const);

test.each(checks)("in memory: %s", async (_name, check) => {
  verifies("TASK-4");
  const storage = createMemoryTasks();
  await expect(
    check.run({ storage, other: storage, sessions: ["s1", "s2"] }),
  ).resolves.toBeUndefined();
});

test.each(checks)("on SQLite: %s", async (_name, check) => {
  verifies("TASK-4");
  const [storage, other] = [(await openWithSessions()).tasks(), (await open()).tasks()];
  await expect(check.run({ storage, other, sessions: ["s1", "s2"] })).resolves.toBeUndefined();
});

describe("tasks on SQLite", () => {
  test("that were changed by hand keep no one from the others, and are not written any more", async () => {
    verifies("TASK-1");
    const storage = (await openWithSessions()).tasks();
    const { tasks, create, orchestrator: caller } = createTaskStage(storage);
    const [broken, sound] = [await create({ a: [], b: ["a"] }), await create({ a: [] })];
    const [odd, empty] = [await create({ a: [] }), await create({ a: [] })];
    const database = (await loadSqlite())(join(directory, "store", "soong.db"));
    database.exec(`
      UPDATE tasks SET content = 'null' WHERE task_id = '${broken}';
      UPDATE tasks SET content = '{"title":5}' WHERE task_id = '${odd}';
      UPDATE tasks SET content = '{}' WHERE task_id = '${empty}';
      UPDATE task_steps SET state = '{' WHERE task_no = 1 AND step_id = 'a';
      UPDATE task_steps SET state = '{"earlier":5,"claim":7}', run_id = 'r', lease_expires_at = 9000000000000000
        WHERE task_no = 1 AND step_id = 'b';
      UPDATE task_step_definitions SET content = '[]' WHERE task_no = 1 AND step_id = 'a';
      UPDATE task_step_definitions SET depends_on = '"x"' WHERE task_no = 1 AND step_id = 'b';`);
    database.close();
    const UNREADABLE = "(what is stored of it cannot be read)";
    const titles = (await tasks.reader.list()).map(({ task_id, title }) => [task_id, title]);
    expect(titles).toEqual([
      [empty, "(cannot be read)"],
      [odd, "(cannot be read)"],
      [sound, "T"],
      [broken, UNREADABLE],
    ]);
    expect((await tasks.reader.get(broken))?.task.title).toBe(UNREADABLE);
    expect(await tasks.reader.steps(broken)).toMatchObject([
      { step_id: "a", title: UNREADABLE, status: "ready" },
      { step_id: "b", title: "Do b", depends_on: [] },
    ]);
    const change = tasks.complete(caller, { task_id: broken, summary: "s" });
    await expect(change).rejects.toMatchObject({
      code: "store_corrupted",
      message: expect.stringContaining(`task ${broken} cannot be read, so it was not`) as string,
    });
    expect((await tasks.get(caller, sound)).task.title).toBe("T");
  });

  test("outlive the process, go with their session, and leave nothing behind", async () => {
    verifies("TASK-4", "ART-4");
    const store = await openWithSessions();
    const storage: TaskStorage = store.tasks();
    const stage = createTaskStage(storage);
    const task_id = await stage.create({ a: [], b: ["a"] });
    const worker = stage.worker("run_w", task_id);
    const claim = await stage.run(worker, task_id);
    const again = createTaskStage((await open()).tasks());
    await again.tasks.updateStep(worker, { ...claim, status: "completed", summary: "s" });
    expect(await stage.statuses(task_id)).toEqual({ a: "completed", b: "ready" });

    const other = { actor: { ...stage.orchestrator.actor, session_id: "s2" } };
    const kept = await stage.tasks.create(other, { title: "T", goal: "G", steps: [] });
    await store.removeSession(SESSION);
    expect(await stage.tasks.reader.list()).toEqual([kept.task]);
    expect(await storage.read({ task_id, steps: "all", counts: true })).toEqual({
      steps: [],
      counts: {},
    });
    const file = (await loadSqlite())(join(directory, "store", "soong.db"), { readOnly: true });
    for (const table of ["task_steps", "task_step_definitions", "task_dependencies"]) {
      expect({ table, rows: file.prepare(`SELECT * FROM ${table}`).all() }).toEqual({
        table,
        rows: [],
      });
    }
    file.close();
    await expect(stage.create({ a: [] })).rejects.toMatchObject({ code: "session_removed" });
    await expect(stage.tasks.claim(worker, { task_id })).rejects.toMatchObject({
      code: "task_unknown",
    });
  });

  test("are of a session that is there", async () => {
    verifies("TASK-4");
    const tasks = createTasks({ storage: (await open()).tasks() });
    const nobody = { kind: "orchestrator", session_id: "no", run_id: "r", agent_id: "a" } as const;
    const made = tasks.create({ actor: nobody }, { title: "T", goal: "G", steps: [] });
    await expect(made).rejects.toMatchObject({ code: "session_unknown" });
  });

  test("can be read, and not changed, in a store that is only read", async () => {
    verifies("TASK-4");
    const stage = createTaskStage((await openWithSessions()).tasks());
    const task_id = await stage.create({ a: [] });
    await stage.run(stage.worker("run_w", task_id), task_id);
    const reading = await openStore({ directory, readOnly: true });
    opened.push(reading);
    const { tasks } = createTaskStage(reading.tasks());
    expect((await tasks.reader.get(task_id))?.counts.running).toBe(1);
    expect(await tasks.reader.board(task_id)).toContain("running by w1");
    const claim = tasks.claim(stage.worker("run_2", task_id), { task_id });
    await expect(claim).rejects.toMatchObject({ code: "store_read_only" });
  });

  test("wait for a writer without blocking the process, and give up in the end", async () => {
    verifies("TASK-4");
    const store = await openWithSessions();
    const stage = createTaskStage(store.tasks());
    const task_id = await stage.create({ a: [] });
    const writer = (await loadSqlite())(join(directory, "store", "soong.db"));
    writer.exec("BEGIN IMMEDIATE");
    const worker = stage.worker("run_w", task_id);
    const claiming = stage.tasks.claim(worker, { task_id });
    let turns = 0;
    const counting = setInterval(() => {
      turns += 1;
      if (turns === 3) writer.exec("COMMIT");
    }, 5);
    expect(await claiming).toMatchObject({ kind: "claimed" });
    clearInterval(counting);
    expect(turns).toBeGreaterThanOrEqual(3);

    writer.exec("BEGIN IMMEDIATE");
    const hasty = await openStore({ directory, readOnly: true });
    opened.push(hasty);
    // Reading continues meanwhile.
    expect(await hasty.tasks().list({ limit: 5 })).toHaveLength(1);
    writer.exec("ROLLBACK");
    const impatient = await openStore({ directory, busyTimeoutMs: 30 });
    opened.push(impatient);
    writer.exec("BEGIN IMMEDIATE");
    const late = createTasks({ storage: impatient.tasks() }).claim(worker, { task_id });
    const error = await late.catch((thrown: unknown) => thrown);
    writer.exec("ROLLBACK");
    writer.close();
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ code: "store_locked" });
  });
});

async function open(): Promise<Store> {
  const store = await openStore({ directory });
  opened.push(store);
  return store;
}

async function openWithSessions(): Promise<Store> {
  const store = await open();
  for (const session_id of ["s1", "s2"]) await (await store.createSession({ session_id })).close();
  return store;
}
