// The server has done what it was asked, and its answer does not come: it is looked up, and nothing is done twice.

import { expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { createFactWriter } from "../../../packages/store/conformance/fact-writer.ts";
import { createCommitMarks } from "../../../packages/store/src/postgres/commit-marks.ts";
import { openConnections } from "../../../packages/store/src/postgres/connection.ts";
import { readAddress } from "../../../packages/store/src/postgres/store-address.ts";
import { createRetry } from "../../../packages/store/src/postgres/retry-while-away.ts";
import { createPostgresRunner } from "../../../packages/store/src/postgres/run-steps.ts";
import { sqlRow, sqlWrite } from "../../../packages/store/src/sql/sql.ts";
import { createTasks } from "../../../packages/tasks/src/index.ts";
import type { Proxy } from "../../postgres/proxy.ts";
import { startPostgres } from "../../postgres/server.ts";
import { needsPostgres, usePostgres } from "../../postgres/shared.ts";
import { ask, proxyTo, storeAt, until } from "./postgres-stage.ts";

test("a commit whose answer was lost is found, and not written twice", async () => {
  verifies("STORE-1", "STORE-3");
  const url = await usePostgres();
  const proxy = await proxyTo(url);
  const store = await storeAt(proxy.url);
  const session = await store.createSession({ session_id: "s1" });
  const pen = createFactWriter(session);
  await sleepAfter(url, "INSERT ON soong.facts");
  pen.add({}, [pen.node({ node_id: "n1" })]);
  const flushed = session.journal.flush();
  await breakWhileItSleeps(url, proxy);
  await flushed;
  pen.add();
  await session.journal.flush();
  expect(session.lost.aborted).toBe(false);
  expect(await store.verify("s1")).toMatchObject({ ok: true, facts: 2 });
});

test("a commit that was cut off before it was executed is sent again", async () => {
  verifies("STORE-1");
  const url = await usePostgres();
  const proxy = await proxyTo(url);
  const store = await storeAt(proxy.url);
  const session = await store.createSession({ session_id: "s1" });
  proxy.hole();
  createFactWriter(session).add();
  const flushed = session.journal.flush();
  proxy.reset();
  proxy.heal();
  await flushed;
  expect(await store.verify("s1")).toMatchObject({ ok: true, facts: 1 });
});

test.each([
  ["answer to COMMIT", "CONSTRAINT", "DEFERRABLE INITIALLY DEFERRED"],
  ["answer before COMMIT", "", ""],
])("a claim whose %s was lost is made once", async (_what, kind, when) => {
  verifies("DIST-1", "TASK-4");
  const url = await usePostgres();
  const proxy = await proxyTo(url);
  const store = await storeAt(proxy.url);
  await store.createSession({ session_id: "s1" });
  const tasks = createTasks({ storage: store.tasks() });
  const of = { session_id: "s1", agent_id: "agent_1" };
  const step = { step_id: "a", title: "Do a", instructions: "All of a.", depends_on: [] };
  const { task } = await tasks.create(
    { actor: { kind: "orchestrator", run_id: "run_o", ...of } },
    { title: "T", goal: "G", steps: [step] },
  );
  const { task_id } = task;
  await sleepAfter(url, "UPDATE ON soong.task_steps", kind, when);
  const facts: string[] = [];
  const claiming = tasks.claim(
    {
      actor: { kind: "worker", run_id: "run_1", task_id, ...of },
      record: (type) => void facts.push(type),
    },
    { task_id, start: true },
  );
  await breakWhileItSleeps(url, proxy);
  expect(await claiming).toMatchObject({ kind: "claimed", step: { step_id: "a", attempts: 1 } });
  expect(facts.filter((type) => type === "task.step.claimed")).toHaveLength(1);
  const [row] = await ask<{ run_id: string }>(url, "SELECT run_id FROM soong.task_steps");
  expect(row?.run_id).toBe("run_1");
});

test("a transaction that a crash of the server took back is done again, whoever has got its number since", async () => {
  verifies("STORE-1", "TASK-4");
  await needsPostgres();
  const server = await startPostgres({ fsync: false });
  onTestFinished(() => server.stop());
  const url = await server.createDatabase();
  await storeAt(url);
  await ask(url, "CREATE TABLE soong.deeds (of text, number text)");
  const proxy = await proxyTo(url);
  const [cutOff, other] = [await openRunner(proxy.url), await openRunner(url)];
  const numbers: string[] = [];
  const deed = (of: string, sent = (): void => {}) =>
    function* () {
      const row = yield* sqlRow<{ number: string }>`SELECT CAST(txid_current() AS text) AS number`;
      numbers.push(row?.number ?? "");
      sent();
      yield* sqlWrite`INSERT INTO deeds VALUES (${of}, ${row?.number ?? ""})`;
      return of;
    };
  let isCut = false;
  const doing = cutOff.transaction(
    deed("of the one that was cut off", () => {
      if (!isCut) proxy.hole();
      isCut = true;
    }),
  );
  await until(() => isCut);
  await server.restart("immediate");
  // Others get the numbers that the crash took back, up to this one.
  while (Number(numbers.at(-1)) < Number(numbers[0]) || numbers.length === 1) {
    await other.transaction(deed("of another"));
  }
  expect(numbers.slice(1)).toContain(numbers[0]);
  proxy.reset();
  proxy.heal();
  expect(await doing).toBe("of the one that was cut off");
  const rows = await ask(url, "SELECT 1 FROM soong.deeds WHERE of = 'of the one that was cut off'");
  expect(rows).toHaveLength(1);
});

test("a connection has one mark, also after transactions that were rolled back", async () => {
  verifies("STORE-1");
  const url = await usePostgres();
  await storeAt(url);
  await ask(url, "TRUNCATE soong.commit_marks; CREATE TABLE soong.deeds (of text)");
  const runner = await openRunner(url);
  const deed = (fails: boolean) =>
    function* () {
      yield* sqlWrite`INSERT INTO deeds VALUES ('a')`;
      if (fails) throw new Error("no");
    };
  for (const fails of [false, true, true, false, false]) {
    await Promise.allSettled([runner.transaction(deed(fails))]);
  }
  expect(await ask(url, "SELECT 1 FROM soong.deeds")).toHaveLength(3);
  expect(await ask(url, "SELECT 1 FROM soong.commit_marks")).toHaveLength(1);
});

test("a transaction that was given up and comes after all changes nothing", async () => {
  verifies("STORE-1");
  const url = await usePostgres();
  await storeAt(url);
  await ask(url, "CREATE TABLE soong.deeds (of text)");
  const connections = await connectionsTo(url);
  const retry = createRetry(5_000);
  const marks = createCommitMarks();
  await connections.with(async (client) => {
    await client.query("BEGIN; INSERT INTO deeds VALUES ('late')");
    const mark = marks.next(client);
    expect(await mark.wasCommitted(connections, retry)).toBe(false);
    // Asked again, because the first answer was lost.
    expect(await mark.wasCommitted(connections, retry)).toBe(false);
    await expect(client.query(mark.statement)).rejects.toThrow(/commit_marks_pkey/);
    expect((await client.query("COMMIT")).command).toBe("ROLLBACK");
    await client.query("BEGIN; INSERT INTO deeds VALUES ('done')");
    const next = marks.next(client);
    await client.query(next.statement);
    const looked = next.wasCommitted(connections, retry);
    await client.query("COMMIT");
    expect(await looked).toBe(true);
  });
  expect(await ask(url, "SELECT of FROM soong.deeds")).toEqual([{ of: "done" }]);
});

async function connectionsTo(url: string) {
  const connections = await openConnections(readAddress(url), {
    readOnly: false,
    answerTimeoutMs: 20_000,
  });
  onTestFinished(() => connections.close());
  return connections;
}

async function openRunner(url: string) {
  return createPostgresRunner({
    connections: await connectionsTo(url),
    retry: createRetry(30_000),
    beforeWriting: async () => {},
  });
}

/** From now on such a statement, or its COMMIT, takes long enough to break the network meanwhile. */
async function sleepAfter(url: string, event: string, kind = "", when = ""): Promise<void> {
  await ask(
    url,
    `CREATE FUNCTION sleep_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF pg_try_advisory_lock(7) THEN PERFORM pg_sleep(0.5); END IF; RETURN NULL; END $$;
    CREATE ${kind} TRIGGER sleeps AFTER ${event} ${when} FOR EACH ROW EXECUTE FUNCTION sleep_once()`,
  );
}

/** The server does not notice until it has done its work, and its answer is gone. */
async function breakWhileItSleeps(url: string, proxy: Proxy): Promise<void> {
  await until(() => countSleeping(url));
  proxy.hole();
  await until(async () => (await countSleeping(url)) === 0);
  proxy.reset();
  proxy.heal();
}

async function countSleeping(url: string): Promise<number> {
  const rows = await ask(url, "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
  return rows.length;
}
