// What one process costs the server, and what it waits for when a part of the server hangs.

import { expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { createFactWriter } from "../../../packages/store/conformance/fact-writer.ts";
import { startPostgres } from "../../postgres/server.ts";
import { needsPostgres, usePostgres } from "../../postgres/shared.ts";
import { ask, storeAt } from "./postgres-stage.ts";

const OURS =
  "FROM pg_stat_activity WHERE application_name = 'soong' AND datname = current_database()";

test("a process has three connections at most, however much it does at once", async () => {
  verifies("DIST-1");
  const url = await usePostgres();
  const store = await storeAt(url);
  const sessions = await Promise.all(Array.from({ length: 12 }, () => store.createSession()));
  const work = sessions.map(async (session) => {
    const pen = createFactWriter(session);
    for (let i = 0; i < 20; i += 1) {
      pen.add();
      await Promise.all([session.journal.flush(), store.sessions(), session.reader.facts()]);
    }
  });
  const over = new AbortController();
  const done = Promise.all(work).finally(() => over.abort());
  let most = 0;
  while (!over.signal.aborted) {
    const rows = await ask<{ count: string }>(url, `SELECT count(*) ${OURS}`);
    most = Math.max(most, Number(rows[0]?.count));
  }
  await done;
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(3);
});

test("a backend that hangs is left behind, and what was sent to it changes nothing later", async () => {
  verifies("STORE-1", "STORE-3");
  await needsPostgres();
  const server = await startPostgres({ fsync: false });
  onTestFinished(() => server.stop());
  const url = await server.createDatabase();
  const store = await storeAt(url, { leaseMs: 3_000 });
  const session = await store.createSession({ session_id: "s1" });
  const pen = createFactWriter(session);
  pen.add();
  await session.journal.flush();
  const backends = await ask<{ pid: number }>(url, `SELECT pid ${OURS}`);
  for (const { pid } of backends) process.kill(pid, "SIGSTOP");
  pen.add();
  await session.journal.flush();
  for (const { pid } of backends) process.kill(pid, "SIGCONT");
  pen.add();
  await session.close();
  expect(await store.verify("s1")).toMatchObject({ ok: true, facts: 3 });
});
