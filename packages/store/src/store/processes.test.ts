// Several processes with one store at once: each sees whole entries in order, one holds a session, and
// a process that is gone holds nothing.

import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { bundleStore, type StoreBundle, type Told } from "../../../../test/store/store-bundle.ts";
import { createFactWriter } from "../../conformance/fact-writer.ts";
import { StoreError } from "../contract/store-error.ts";
import type { OpenSession, Store } from "../contract/store.ts";
import { loadSqlite } from "../sqlite/driver.ts";
import { openStore } from "../open/open-store.ts";

const WRITERS = process.env.SOONG_TEST_FULL === "1" ? 6 : 4;
const ENTRIES = process.env.SOONG_TEST_FULL === "1" ? 400 : 40;
const OPENERS = 8;
const VISITORS = process.env.SOONG_TEST_FULL === "1" ? 100 : 16;
const VISITS = process.env.SOONG_TEST_FULL === "1" ? 10 : 4;

let bundle: StoreBundle;
beforeAll(async () => {
  bundle = await bundleStore();
});
afterAll(() => bundle.remove());

describe("several processes", () => {
  test("write to sessions of their own while readers see whole entries in order", async () => {
    verifies("STORE-1", "EVENT-1");
    const directory = join(await bundle.place(), "home");
    await (await openStore({ directory })).close();
    const ids = Array.from({ length: WRITERS }, (_, i) => `w${i}`);
    const writers = ids.map((session_id) =>
      bundle.start("write", { directory, session_id, entries: ENTRIES }),
    );
    for (const writer of writers) expect(await writer.next()).toEqual({ ready: true });
    const store = await openStore({ directory, readOnly: true });
    for (const writer of writers) writer.say("go");

    const still = { running: true };
    const ends = Promise.all(writers.map((writer) => writer.ended())).finally(() => {
      still.running = false;
    });
    while (still.running) {
      for (const session_id of ids) await expectWholeEntries(store, session_id);
      await delay(5);
    }
    for (const end of await ends) expect(end).toMatchObject({ code: 0, errors: "" });
    for (const session_id of ids) {
      expect(await expectWholeEntries(store, session_id)).toBe(ENTRIES * 3);
      expect(await store.verify(session_id)).toMatchObject({ ok: true, facts: ENTRIES * 3 });
    }
    await store.close();
  });

  test("open a new store at the same instant", async () => {
    verifies("STORE-1", "STORE-4");
    const directory = join(await bundle.place(), "home");
    const openers = Array.from({ length: OPENERS }, () => bundle.start("open", { directory }));
    for (const opener of openers) expect(await opener.next()).toEqual({ ready: true });
    for (const opener of openers) opener.say("go");
    for (const opener of openers) {
      expect(await opener.ended()).toMatchObject({ code: 0, errors: "" });
      expect(await opener.next()).toEqual({ sessions: 0 });
    }
    const path = join(directory, "store", "soong.db");
    const database = (await loadSqlite())(path, { readOnly: true });
    expect(database.prepare("PRAGMA journal_mode").get()).toMatchObject({ journal_mode: "wal" });
    // 2: removed sessions give their room back, in either order.
    expect(database.prepare("PRAGMA auto_vacuum").get()).toMatchObject({ auto_vacuum: 2 });
    database.close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("many of them, with many short visits, all get their turn", async () => {
    verifies("STORE-1", "PIPE-3");
    const directory = join(await bundle.place(), "home");
    const visitors = Array.from({ length: VISITORS }, () =>
      bundle.start("visit", { directory, entries: VISITS }),
    );
    for (const visitor of visitors) expect(await visitor.next()).toEqual({ ready: true });
    for (const visitor of visitors) visitor.say("go");
    for (const visitor of visitors) {
      expect(await visitor.ended()).toMatchObject({ code: 0, errors: "" });
      for (let i = 0; i < VISITS; i += 1) {
        expect(await visitor.next()).toEqual({ status: "succeeded" });
      }
    }
    const store = await openStore({ directory, readOnly: true });
    const sessions = await store.sessions({ limit: 1000 });
    expect(sessions).toHaveLength(VISITORS * VISITS);
    for (const { session_id } of sessions) {
      expect(await store.verify(session_id)).toMatchObject({ ok: true });
    }
    await store.close();
  });

  test("may come and go while one has the store open twice", async () => {
    verifies("STORE-1", "STORE-3");
    const directory = join(await bundle.place(), "home");
    const first = await openStore({ directory });
    const session = await first.createSession({ session_id: "s1" });
    const pen = createFactWriter(session);
    pen.add();
    await session.journal.flush();
    // A second time in this process: that must not loosen the grip of the first.
    const second = await openStore({ directory });
    const [answer] = await comeAndGo(directory);
    expect(answer).toEqual({ sessions: 1 });
    pen.add();
    await session.journal.flush();
    expect((await bundle.run("read", { directory }))[1]).toMatchObject({ sessions: { s1: 2 } });
    await session.close();
    await Promise.all([first.close(), second.close()]);
  });
});

test("what the live stream has shown is there after a kill, at any instant", async () => {
  verifies("EVENT-4", "EVENT-6", "STORE-3");
  const directory = join(await bundle.place(), "home");
  await (await openStore({ directory })).close();
  for (const count of [2, 3, 7, 12, 20, 33, 60]) {
    const session_id = `s${count}`;
    const runtime = bundle.start("live", { directory, session_id });
    const shown: Told[] = [];
    while (shown.length < count) shown.push(await runtime.next());
    runtime.child.kill("SIGKILL");
    for (;;) {
      // A line that was cut off was not shown.
      const fact = await runtime.next().catch(() => undefined);
      if (fact === undefined) break;
      shown.push(fact);
    }
    const store = await openStore({ directory, readOnly: true });
    const kept = await (await store.readSession(session_id)).facts({ limit: shown.length });
    expect(kept).toEqual(shown);
    await store.close();
    // The next process that continues it uses no id again.
    const writing = await openStore({ directory });
    await (await writing.openSession(session_id)).close();
    const head = String(shown.at(-1)?.["prev_hash"]);
    expect(await writing.verify(session_id, { head })).toMatchObject({ ok: true });
    await writing.close();
  }
});

describe("a session another process holds", () => {
  test("is refused with its process named, and is free the moment that is killed", async () => {
    verifies("STORE-3");
    const { directory, store } = await storeWithSession();
    const holder = bundle.start("hold", { directory, session_id: "s1" });
    expect(await holder.next()).toMatchObject({ holds: true });
    const { pid } = holder.child;
    for (const attempt of [() => store.openSession("s1"), () => store.removeSession("s1")]) {
      const error = await attempt().then(
        () => undefined,
        (thrown: unknown) => thrown as StoreError,
      );
      expect(error).toBeInstanceOf(StoreError);
      expect(error?.code).toBe("session_in_use");
      expect(error?.message).toMatch(/Session s1 is in use.*End that first/);
    }
    await expect(store.openSession("s1")).rejects.toThrow(`process ${pid}, since `);
    expect(await store.applyRetention({ max_bytes: 0 })).toMatchObject({
      removed: [],
      held: ["s1"],
    });
    // Reading is free for all.
    expect((await (await store.readSession("s1")).facts()).length).toBe(1);
    holder.child.kill("SIGKILL");
    expect((await openSoon(store)).lastSeq).toBe(1);
    await store.close();
  });

  test("is free again when it lets go", async () => {
    verifies("STORE-3");
    const { directory, store } = await storeWithSession();
    const holder = bundle.start("hold", { directory, session_id: "s1" });
    await holder.next();
    holder.say("enough");
    expect(await holder.ended()).toMatchObject({ code: 0, errors: "" });
    expect((await store.openSession("s1")).recovered).toEqual({
      unknown: [],
      skipped: [],
      runs: [],
    });
    await store.close();
  });

  test("is free although a child of the killed holder lives on", async () => {
    verifies("STORE-3");
    const { directory, store } = await storeWithSession();
    const holder = bundle.start("hold", { directory, session_id: "s1", child: true });
    const { child } = (await holder.next()) as { child: number };
    try {
      holder.child.kill("SIGKILL");
      await openSoon(store);
      expect(isAlive(child)).toBe(true);
    } finally {
      process.kill(child, "SIGKILL");
    }
    await store.close();
  });

  test("is refused to other threads of its process, and free when its thread is ended", async () => {
    verifies("STORE-3");
    const { directory, store } = await storeWithSession();
    const answers = await bundle.run("thread", { directory, session_id: "s1" });
    expect(answers).toMatchObject([{ holds: true }, { code: "session_in_use" }, { opened: "s1" }]);
    await store.openSession("s1");
    await store.close();
  });
});

/** Its facts are of whole entries, three each, without a hole; each entry's node is there with it. */
async function expectWholeEntries(store: Store, session_id: string): Promise<number> {
  const reader = await store.readSession(session_id);
  const facts = await reader.facts({ limit: 10_000 });
  expect(facts.length % 3).toBe(0);
  expect(facts.every(({ seq }, i) => seq === i + 1)).toBe(true);
  const last = facts.at(-1);
  if (last !== undefined) {
    expect(await reader.path(`n${facts.length / 3}`)).toHaveLength(1);
    expect((await reader.record()).last_seq).toBeGreaterThanOrEqual(last.seq);
  }
  return facts.length;
}

async function storeWithSession(): Promise<{ directory: string; store: Store }> {
  const directory = join(await bundle.place(), "home");
  const store = await openStore({ directory });
  const session = await store.createSession({ session_id: "s1" });
  createFactWriter(session).add();
  await session.close();
  return { directory, store };
}

async function comeAndGo(directory: string): Promise<unknown[]> {
  const other = bundle.start("open", { directory });
  await other.next();
  other.say("go");
  const answers = [await other.next()];
  expect(await other.ended()).toMatchObject({ code: 0 });
  return answers;
}

/** A killed process is gone soon, not at once. */
async function openSoon(store: Store): Promise<OpenSession> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await store.openSession("s1");
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== "session_in_use") throw error;
      if (tries === 1000) throw error;
      await delay(10);
    }
  }
}

function isAlive(pid: number): boolean {
  const state = execFileSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return !state.startsWith("Z");
}
