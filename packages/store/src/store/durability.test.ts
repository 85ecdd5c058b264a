// Which commits of a session wait for the disk (STORE-6), by what was set in SQLite before each of them.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifies } from "#laws";
import { createKernel, defineTool, type Run } from "@soong/core";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openStore, type Store, type StoreOptions } from "../index.ts";
import type * as driver from "../sqlite/driver.ts";

let home: string;
let store: Store;
/** Of each commit since it was last cleared. */
let commits: ("synced" | "unsynced")[] = [];

vi.mock("../sqlite/driver.ts", async (loadDriver) => {
  const actual = await loadDriver<typeof driver>();
  return { ...actual, loadSqlite: async () => watchCommits(await actual.loadSqlite()) };
});

function watchCommits(open: driver.OpenDatabase): driver.OpenDatabase {
  return (path, options) => {
    const database = open(path, options);
    let isSynced = true;
    return {
      prepare: (sql) => database.prepare(sql),
      close: () => database.close(),
      exec(sql) {
        const [, level] = /synchronous = (\w+)/.exec(sql) ?? [];
        if (level !== undefined) isSynced = level === "FULL";
        if (sql === "COMMIT") commits.push(isSynced ? "synced" : "unsynced");
        database.exec(sql);
      },
    };
  };
}

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "soong-durability-"));
});

afterEach(async () => {
  await store.close();
  await rm(home, { recursive: true, force: true });
});

test("what calls that only read leave does not wait for the disk", async () => {
  verifies("STORE-6");
  const run = await startRun();
  expect(await call(run, "test.read")).toEqual(["unsynced"]);
});

test("the start and the result of a call that may change something do", async () => {
  verifies("STORE-6", "PIPE-3");
  const run = await startRun();
  expect(await call(run, "test.write")).toEqual(["synced", "synced"]);
  expect(await call(run, "test.read")).toEqual(["unsynced"]);
});

test("so does a decision of the user, also about a call that only reads", async () => {
  verifies("STORE-6");
  const run = await startRun({}, "ask");
  expect(await call(run, "test.read")).toContain("synced");
});

test("so do the begin and the end of a run", async () => {
  verifies("STORE-6");
  commits = [];
  await startRun();
  await store.close();
  expect(commits).toContain("synced");
  expect(commits).not.toContain("unsynced");
});

test("with full durability everything does", async () => {
  verifies("STORE-6");
  const run = await startRun({ durability: "full" });
  expect(await call(run, "test.read")).toEqual(["synced"]);
});

async function startRun(
  options: Partial<StoreOptions> = {},
  decision: "allow" | "ask" = "allow",
): Promise<Run> {
  store = await openStore({ directory: home, ...options });
  const opened = await store.createSession();
  const kernel = createKernel({
    tools: (["read", "write"] as const).map((name) =>
      defineTool({
        name: `test.${name}`,
        description: "Does nothing.",
        input_schema: { type: "object", properties: {} },
        permission: name === "read" ? "readonly" : "write",
        concurrency_safe: name === "read",
        handler: async () => "done",
      }),
    ),
  });
  const session = await kernel.openSession({
    ...opened,
    policy: { rules: [{ tool: "test.*", decision }] },
    ask: async () => ({ decision: "allow_once" }),
  });
  const run = await session.startRun();
  await opened.journal.flush();
  return run;
}

async function call(run: Run, name: string): Promise<typeof commits> {
  commits = [];
  const [result] = await run.execute([{ name, arguments: "{}" }]);
  expect(result?.status).toBe("succeeded");
  return commits;
}
