// What happens to sessions while something else happens to the store.

import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Fact } from "@soong/core";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { writtenFact } from "../../../../test/facts.ts";
import type { OpenSession, Store } from "../contract/store.ts";
import { openStore, type StoreOptions } from "../open/open-store.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "soong-races-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
});

test("a session that is opened while the store closes is let go with the others", async () => {
  verifies("STORE-3");
  const store = await open();
  await (await store.createSession({ session_id: "s" })).close();
  const opening = store.openSession("s");
  await store.close();
  await expect(openAfterClose(store)).rejects.toMatchObject({ code: "store_closed" });
  const late = await opening;
  expect(() => add(late, 1)).toThrow(expect.objectContaining({ code: "session_closed" }));
  const other = await open();
  expect((await other.openSession("s")).session_id).toBe("s");
});

test("what was used after it was found too old stays", async () => {
  verifies("ART-4");
  const long = { now: () => Date.parse("2026-01-01T00:00:00Z") };
  const old = await open({ clock: long });
  for (const session_id of ["a", "b", "c"]) {
    const session = await old.createSession({ session_id });
    add(session, 1, long.now());
    await session.close();
  }
  await old.close();
  const other = await open();
  let isUsed: Promise<void> | undefined;
  const store = await open({
    clock: { now: () => long.now() + 100 * DAY_MS },
    at(point) {
      if (point === "remove.files") isUsed ??= use();
    },
  });
  const report = await store.applyRetention({ max_age_days: 90 });
  await isUsed;
  expect(report.removed.map(({ session_id }) => session_id)).toEqual(["a", "c"]);
  expect(report.held).toEqual(["b"]);
  expect((await (await store.readSession("b")).record()).last_seq).toBe(2);

  /** Synchronous as far as it has to be: the first removal is in the middle of its work. */
  async function use(): Promise<void> {
    const session = await other.openSession("b");
    add(session, 2, long.now() + 99 * DAY_MS);
    await session.close();
  }
});

test("of two who create a session of the same id at once, the second gets the error that it exists", async () => {
  verifies("STORE-3");
  const second = await open();
  let refused: Promise<unknown> | undefined;
  const first = await open({
    at(point) {
      if (point !== "session.locked") return;
      refused = second.createSession({ session_id: "s" }).catch((error: unknown) => error);
    },
  });
  const session = await first.createSession({ session_id: "s" });
  expect(await refused).toMatchObject({ code: "session_exists" });
  await session.close();
  expect(await second.sessions()).toHaveLength(1);
});

test("a run folder that lags behind is made whole, though the next holder did not get to it", async () => {
  verifies("EVENT-5", "STORE-3");
  const store = await openStore({ directory: home });
  const session = await store.createSession({ session_id: "s" });
  const origin = { run_id: "run_1", agent_id: "main" };
  for (let seq = 1; seq <= 3; seq += 1) add(session, seq, 0, origin);
  await session.journal.flush();
  // As a process leaves it that is killed between the commit and the last line.
  const events = join(home, "runs", "run_1", "events.jsonl");
  const read = () => readFile(events, "utf8").catch(() => "");
  await expect.poll(read).toMatch(/(.*\n){3}/);
  const lines = (await read()).split("\n");
  const left = await mkdtemp(join(tmpdir(), "soong-races-"));
  onTestFinished(() => rm(left, { recursive: true, force: true }));
  await cp(home, left, { recursive: true });
  await store.close();
  await writeFile(join(left, "runs", "run_1", "events.jsonl"), `${lines.slice(0, 2).join("\n")}\n`);

  const killed = await openStore({
    directory: left,
    at(point) {
      if (point === "session.held") throw new Error("killed");
    },
  });
  await expect(killed.openSession("s")).rejects.toThrow("killed");
  await killed.close();
  const last = await openStore({ directory: left });
  await last.openSession("s");
  await last.close();
  const written = await readFile(join(left, "runs", "run_1", "events.jsonl"), "utf8");
  const seqs = written
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as Fact).seq);
  // The fourth says that the run was lost.
  expect(seqs).toEqual([1, 2, 3, 4]);
});

async function open(options: Partial<StoreOptions> = {}): Promise<Store> {
  const store = await openStore({ directory: home, ...options });
  onTestFinished(() => store.close());
  return store;
}

function openAfterClose(store: Store): Promise<OpenSession> {
  return store.openSession("s");
}

function add(to: OpenSession, seq: number, ms = 0, origin: { run_id?: string } = {}): void {
  const { session_id } = to;
  const time = new Date(ms).toISOString();
  to.journal.append({
    facts: [writtenFact({ seq, type: "error", time, session_id, ...origin })],
  });
}
