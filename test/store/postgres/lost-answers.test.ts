// The server has done what it was asked, and its answer does not come: it is looked up, and nothing is done twice.

import { expect, test } from "vitest";
import { verifies } from "#laws";
import { createFactWriter } from "../../../packages/store/conformance/fact-writer.ts";
import { createTasks } from "../../../packages/tasks/src/index.ts";
import type { Proxy } from "../../postgres/proxy.ts";
import { usePostgres } from "../../postgres/shared.ts";
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
