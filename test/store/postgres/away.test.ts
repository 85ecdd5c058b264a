// A database that is away for a while, or hangs: what is waited for, for how long, and what it costs meanwhile.

import { expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { createFactWriter } from "../../../packages/store/conformance/fact-writer.ts";
import { kernelOn } from "../../../packages/store/conformance/kernel-run.ts";
import { startPostgres, type PostgresServer } from "../../postgres/server.ts";
import { needsPostgres, usePostgres } from "../../postgres/shared.ts";
import { ask, openWhenFree, proxyTo, refusal, storeAt, until } from "./postgres-stage.ts";

test("a run waits for a database that is away for less than the lease, and loses nothing", async () => {
  verifies("STORE-1");
  const { server, url } = await ownServer();
  const store = await storeAt(url);
  const session = await store.createSession({ session_id: "s1" });
  const { startRun } = await kernelOn(session);
  const run = await startRun();
  await run.call("demo.write", {});
  await server.pause();
  const called = run.call("demo.write", {});
  await server.resume();
  expect(await called).toMatchObject({ status: "succeeded" });
  run.end("completed");
  await session.close();
  expect(await store.verify("s1")).toMatchObject({ ok: true });
});

test("that a database is away is reported once each time, with how long it is asked", async () => {
  verifies("STORE-1");
  const { server, url } = await ownServer();
  const reported: number[] = [];
  const store = await storeAt(url, { leaseMs: 30_000, onAway: (ms) => reported.push(ms) });
  for (const times of [1, 2]) {
    await server.pause();
    const listed = Promise.all([1, 2].map(() => store.tasks().list({ limit: 1 })));
    await until(() => reported.length === times);
    await server.resume();
    expect(await listed).toEqual([[], []]);
    expect(reported).toEqual(Array.from({ length: times }, () => 20_000));
  }
});

test("a database that is away for longer ends the session with one sentence, and it opens again afterwards", async () => {
  verifies("STORE-3");
  const { server, url } = await ownServer();
  const store = await storeAt(url, { leaseMs: 1_500 });
  const session = await store.createSession({ session_id: "s1" });
  const { startRun, executed } = await kernelOn(session);
  const run = await startRun();
  await run.call("demo.write", {});
  await server.pause();
  const { status, error } = await run.call("demo.write", {});
  expect({ status, ...error }).toMatchObject({
    code: "journal_unavailable",
    message: expect.stringMatching(
      /Session s1 was lost: its database could not be reached/,
    ) as string,
  });
  // What could not be put on record was not done.
  expect(executed.get("demo.write")).toBe(1);
  // Whoever comes late does not wait once more.
  expect(await refusal(() => store.tasks().list({ limit: 1 }))).toMatchObject({
    code: "store_unavailable",
    message: expect.stringMatching(
      /does not answer; check that it runs and can be reached/,
    ) as string,
  });
  await session.close();
  await server.resume();
  const again = await openWhenFree(store, "s1");
  expect(again.recovered.runs).toEqual([run.identity.run_id]);
  expect([...again.recovered.skipped, ...again.recovered.unknown]).toHaveLength(0);
  await again.close();
  expect(await store.verify("s1")).toMatchObject({ ok: true });
});

test("a server that crashes takes back neither a session that was just opened nor a fact that was flushed", async () => {
  verifies("STORE-3", "STORE-6");
  // What is not synced stays in the server's memory for as long as this.
  const unsynced = { wal_writer_delay: "10s", synchronous_commit: "off" };
  const { server, url } = await ownServer(unsynced);
  const store = await storeAt(url);
  const session = await store.createSession({ session_id: "s1" });
  await server.restart("immediate");
  const pen = createFactWriter(session);
  pen.add({ type: "tool.progress" });
  await session.journal.flush();
  await server.restart("immediate");
  pen.add({ type: "tool.progress" });
  await session.journal.flush();
  expect(session.lost.aborted).toBe(false);
  expect(await store.verify("s1")).toMatchObject({ ok: true, facts: 2 });
});

test("a session that was lost and is opened again in the same process takes nothing of the first opening", async () => {
  verifies("STORE-3");
  const url = await usePostgres();
  const proxy = await proxyTo(url);
  const store = await storeAt(proxy.url, { leaseMs: 1_500 });
  const first = await store.createSession({ session_id: "s1" });
  proxy.reset();
  createFactWriter(first).add({ data: { text: "of the first" } });
  await until(() => first.lost.aborted);
  proxy.heal();
  const second = await openWhenFree(store, "s1");
  createFactWriter(second).add({ data: { text: "of the second" } });
  await second.journal.flush();
  await first.close();
  expect(second.lost.aborted).toBe(false);
  const facts = await second.reader.facts();
  expect(facts.map(({ data }) => data)).toEqual([{ text: "of the second" }]);
});

test("a session that another process took over meanwhile is not removed", async () => {
  verifies("ART-4");
  const url = await usePostgres();
  const store = await storeAt(url);
  await (await store.createSession({ session_id: "s1" })).close();
  // As if the one who removes had been cut off for longer than its lease just after it had locked the session.
  await ask(
    url,
    `CREATE FUNCTION take_over() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      UPDATE soong.sessions SET epoch = epoch + 1; RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER takes_over AFTER UPDATE ON soong.sessions DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (OLD.lease_until IS NULL AND NEW.epoch > OLD.epoch) EXECUTE FUNCTION take_over()`,
  );
  expect(await refusal(() => store.removeSession("s1"))).toMatchObject({ code: "session_in_use" });
  expect(await store.sessions()).toHaveLength(1);
});

async function ownServer(
  settings: Record<string, string> = {},
): Promise<{ server: PostgresServer; url: string }> {
  await needsPostgres();
  const server = await startPostgres({ fsync: false, settings });
  onTestFinished(() => server.stop());
  return { server, url: await server.createDatabase() };
}
