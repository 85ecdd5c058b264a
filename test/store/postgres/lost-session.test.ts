// A holder that is cut off from its database stops before another can take the session, and writes nothing after.

import { setImmediate as nextTurn } from "node:timers/promises";
import { createKernel, defineTool, type Run } from "@soong/core";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { createFactWriter } from "../../../packages/store/conformance/fact-writer.ts";
import type { OpenSession } from "../../../packages/store/src/index.ts";
import { usePostgres } from "../../postgres/shared.ts";
import { ask, openWhenFree, proxyTo, refusal, storeAt } from "./postgres-stage.ts";

const LEASE = { leaseMs: 1_500 };

test("a call under way is stopped when the database is cut off for longer than the lease", async () => {
  verifies("STORE-3", "DIST-1");
  const url = await usePostgres();
  const proxy = await proxyTo(url);
  const session = await (await storeAt(proxy.url, LEASE)).createSession({ session_id: "s1" });
  const { run, started, stopped } = await runWith(session);
  const calling = run.call("demo.work", {});
  await started;
  proxy.hole();
  expect(await stopped).toMatch(/Session s1 was lost: its database could not be reached/);
  // It may have been done, and that cannot be recorded here.
  expect(await calling).toMatchObject({
    status: "unknown",
    error: { code: "journal_unavailable" },
  });
  expect(session.lost.reason).toMatchObject({ code: "session_lost" });
  const next = await run.call("demo.work", {});
  expect(next.error?.code).toBe("journal_unavailable");

  const other = await openWhenFree(await storeAt(url, LEASE), "s1");
  expect(other.recovered.unknown).toHaveLength(1);
  proxy.heal();
  await session.close();
  expect(other.lost.aborted).toBe(false);
  await other.close();
});

test("no other process has the session before its holder has given it up", async () => {
  verifies("STORE-3");
  const url = await usePostgres();
  const proxy = await proxyTo(url);
  const session = await (await storeAt(proxy.url, LEASE)).createSession({ session_id: "s1" });
  const other = await storeAt(url, LEASE);
  proxy.hole();
  expect((await refusal(() => other.openSession("s1"))).code).toBe("session_in_use");
  await openWhenFree(other, "s1");
  // Timers that were due go first.
  await nextTurn();
  expect(session.lost.aborted).toBe(true);
});

test("what a holder sent into a broken network changes nothing when it arrives after the next has opened", async () => {
  verifies("STORE-3", "EVENT-6");
  const url = await usePostgres();
  const proxy = await proxyTo(url);
  const session = await (await storeAt(proxy.url, LEASE)).createSession({ session_id: "s1" });
  const pen = createFactWriter(session);
  pen.add();
  await session.journal.flush();
  proxy.hole();
  pen.add({ data: { text: "late" } });
  const flushed = refusal(() => session.journal.flush());
  const renamed = refusal(() => session.describe({ title: "late" }));
  const otherStore = await storeAt(url, LEASE);
  const other = await openWhenFree(otherStore, "s1");
  expect(await flushed).toMatchObject({ code: "session_lost" });
  proxy.heal();
  await renamed;
  const theirs = createFactWriter(other);
  theirs.add({ data: { text: "of the next holder" } });
  await other.journal.flush();
  await session.close();

  expect(await otherStore.verify("s1")).toMatchObject({ ok: true, facts: 2 });
  expect((await otherStore.sessions())[0]?.title).toBeUndefined();
  expect(await refusal(() => pen.add())).toMatchObject({ code: "session_lost" });
  expect(JSON.stringify(await other.reader.facts())).not.toContain("late");
});

test("a lease that has ended in the database is not revived, also when no one has taken the session", async () => {
  verifies("STORE-3");
  const url = await usePostgres();
  const session = await (await storeAt(url)).createSession({ session_id: "s1" });
  const pen = createFactWriter(session);
  pen.add();
  await session.journal.flush();
  await ask(url, "UPDATE soong.sessions SET lease_until = now()");
  await session.artifacts.write("bytes", {
    session_id: "s1",
    run_id: "r",
    media_type: "text/plain",
  });
  expect(await refusal(() => session.journal.flush())).toMatchObject({ code: "session_lost" });
  expect(session.lost.aborted).toBe(true);
  expect(await ask(url, "SELECT artifact_id FROM soong.artifacts")).toEqual([]);
});

test("a standby that was behind gives no epoch to a second holder", async () => {
  verifies("STORE-3", "EVENT-6");
  const url = await usePostgres();
  const before = await (await storeAt(url)).createSession({ session_id: "s1" });
  createFactWriter(before).add();
  await before.close();
  const [row] = await ask<{ epoch: string }>(url, "SELECT epoch FROM soong.sessions");
  const first = await (await storeAt(url)).openSession("s1");
  // As on a standby that became the primary before the last commit had reached it.
  await ask(
    url,
    `UPDATE soong.sessions SET epoch = ${row?.epoch}, lease_until = NULL, holder = NULL`,
  );
  const second = await (await storeAt(url)).openSession("s1");
  createFactWriter(first).add({ data: { text: "of the first" } });
  expect(await refusal(() => first.journal.flush())).toMatchObject({ code: "session_lost" });
  expect(second.lost.aborted).toBe(false);
  createFactWriter(second).add({ data: { text: "of the second" } });
  await second.journal.flush();
  expect(await (await storeAt(url)).verify("s1")).toMatchObject({ ok: true, facts: 2 });
});

test("one session that is lost does not keep others from being closed", async () => {
  verifies("STORE-1");
  const url = await usePostgres();
  const store = await storeAt(url);
  const [lost, kept] = [await store.createSession(), await store.createSession()];
  await ask(url, `UPDATE soong.sessions SET epoch = 7 WHERE session_id = '${lost.session_id}'`);
  createFactWriter(lost).add();
  createFactWriter(kept).add();
  await kept.close();
  expect(await store.verify(kept.session_id)).toMatchObject({ ok: true, facts: 1 });
  expect(await refusal(() => lost.journal.flush())).toMatchObject({ code: "session_lost" });
});

/** A run with one tool, which works until it is stopped. */
async function runWith(opened: OpenSession): Promise<{
  run: Run;
  started: Promise<void>;
  /** Why it was. */
  stopped: Promise<string>;
}> {
  let begin = (): void => {};
  let stop = (_reason: string): void => {};
  const started = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const stopped = new Promise<string>((resolve) => {
    stop = resolve;
  });
  const work = defineTool({
    name: "demo.work",
    description: "Works until it is stopped",
    input_schema: { type: "object" },
    handler: (_input, { signal }) =>
      new Promise<string>((resolve) => {
        signal.addEventListener("abort", () => {
          stop((signal.reason as Error).message);
          resolve("stopped");
        });
        begin();
      }),
  });
  const { session_id, journal, artifacts } = opened;
  const rules = [{ tool: "*", decision: "allow" as const, reason: "for the test" }];
  const session = await createKernel({ tools: [work] }).openSession({
    session_id,
    journal,
    artifacts,
    policy: { rules },
  });
  return { run: await session.startRun(), started, stopped };
}
