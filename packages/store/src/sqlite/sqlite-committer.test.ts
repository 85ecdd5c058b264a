// Group commit on a real database: one transaction for all who ask, everything or nothing, and what failed
// is still there to be tried again.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { verifies } from "#laws";
import { StoreError, type CrashPoint } from "../contract/store-error.ts";
import { loadSqlite, type Database } from "./driver.ts";
import type { Pending } from "../session/committer.ts";
import { createCommitter, type SqliteCommitter } from "./sqlite-committer.ts";
import type { Batch } from "../session/write-rows.ts";

let directory: string;
let database: Database;
/** Another connection, as another process would have. */
let other: Database;
let committer: SqliteCommitter;
const writing = new WeakMap<Batch, () => void>();
let executed: string[];
let points: CrashPoint[];
/** What became of the file under us. */
let lost: StoreError | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "soong-committer-"));
  const open = await loadSqlite();
  const path = join(directory, "soong.db");
  database = open(path, { timeout: 0 });
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE said (who TEXT, what TEXT UNIQUE)");
  database.exec("CREATE TABLE runs (run_id TEXT UNIQUE)");
  other = open(path, { timeout: 0 });
  executed = [];
  points = [];
  lost = undefined;
  committer = committerWith(0);
});

function committerWith(busyTimeoutMs: number): SqliteCommitter {
  const exec = (sql: string): void => {
    executed.push(sql);
    database.exec(sql);
  };
  const begin = (): void => exec("BEGIN IMMEDIATE");
  return createCommitter({
    database: { exec, prepare: (sql) => database.prepare(sql), close: () => database.close() },
    path: join(directory, "soong.db"),
    turn: { begin, tryBegin: begin },
    files: {
      check() {
        if (lost !== undefined) throw lost;
      },
      watch: () => () => {},
    },
    checkRoom() {},
    write: (batch) => writing.get(batch)?.(),
    busyTimeoutMs,
    at: (point) => void points.push(point),
  });
}
afterEach(async () => {
  vi.useRealTimers();
  committer.stop();
  database.close();
  other.close();
  await rm(directory, { recursive: true, force: true });
});

describe("flushing", () => {
  test("has nothing to wait for when nothing was noted", () => {
    verifies("STORE-1");
    expect(committer.flush()).toBeUndefined();
    committer.commit();
    expect(executed).toEqual([]);
  });

  test("is one transaction for all requests of one turn, of any session", async () => {
    verifies("STORE-1");
    const [a, b] = [speaker("a"), speaker("b")];
    a.say("one");
    const first = committer.flush();
    b.say("two");
    a.say("three");
    const second = committer.flush();
    expect(second).toBe(first);
    expect(said()).toEqual([]);
    await Promise.all([first, second]);
    expect(said()).toEqual(["one", "three", "two"]);
    expect(executed).toEqual(["BEGIN IMMEDIATE", "COMMIT"]);
    expect(points).toEqual(["commit.before", "commit.written", "commit.after"]);
    expect([a.confirmed, b.confirmed]).toEqual([1, 1]);
    expect(committer.flush()).toBeUndefined();
  });

  test("is another transaction for who asks later", async () => {
    verifies("STORE-1");
    const a = speaker("a");
    a.say("one");
    await committer.flush();
    a.say("two");
    await committer.flush();
    expect(executed).toEqual(["BEGIN IMMEDIATE", "COMMIT", "BEGIN IMMEDIATE", "COMMIT"]);
    expect(said()).toEqual(["one", "two"]);
  });

  test("has nothing left to do when it was committed before its turn came", async () => {
    verifies("STORE-1");
    speaker("a").say("one");
    const flushed = committer.flush();
    committer.commit();
    await flushed;
    expect(executed).toEqual(["BEGIN IMMEDIATE", "COMMIT"]);
  });
});

describe("what no one waits for", () => {
  test("is committed soon, all of it at once", () => {
    verifies("STORE-1");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const a = speaker("a");
    a.say("one");
    vi.advanceTimersByTime(49);
    a.say("two");
    expect(said()).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(said()).toEqual(["one", "two"]);
    vi.advanceTimersByTime(1000);
    expect(executed).toEqual(["BEGIN IMMEDIATE", "COMMIT"]);
  });

  test("is committed now when it has grown large", () => {
    verifies("STORE-1");
    const a = speaker("a");
    a.say("small", 4 * 1024 * 1024);
    expect(said()).toEqual([]);
    a.say("more", 1);
    expect(said()).toEqual(["more", "small"]);
    // Counted anew.
    a.say("next", 1);
    expect(said()).toEqual(["more", "small"]);
  });

  test("stays where it is once the committer is stopped", () => {
    verifies("STORE-1");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    speaker("a").say("one");
    committer.stop();
    expect(vi.getTimerCount()).toBe(0);
    expect(said()).toEqual([]);
  });
});

describe("a commit while another process is writing", () => {
  test("waits for its turn without blocking, and without an error", async () => {
    verifies("STORE-1");
    committer = committerWith(60_000);
    const a = speaker("a");
    a.say("one");
    other.exec("BEGIN IMMEDIATE");
    const flushed = [1, 2].map(async () => committer.flush());
    while (executed.length < 3) await nextTurn();
    expect([committer.failure, a.confirmed]).toEqual([undefined, 0]);
    other.exec("ROLLBACK");
    await Promise.all(flushed);
    expect([said(), a.confirmed]).toEqual([["one"], 1]);
  });

  test("waits also when no one waits for it", () => {
    verifies("STORE-1");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    committer = committerWith(60_000);
    const a = speaker("a");
    a.say("one");
    other.exec("BEGIN IMMEDIATE");
    vi.advanceTimersByTime(100);
    expect([committer.failure, vi.getTimerCount()]).toEqual([undefined, 1]);
    other.exec("ROLLBACK");
    vi.advanceTimersByTime(100);
    expect([said(), a.confirmed, vi.getTimerCount()]).toEqual([["one"], 1, 0]);
  });
});

test("a commit to a file that is gone is none, and nothing more is committed", async () => {
  verifies("STORE-1");
  const a = speaker("a");
  a.say("one");
  lost = new StoreError("store_lost", "it was removed");
  await expect(committer.flush()).rejects.toBe(lost);
  lost = undefined;
  expect(() => committer.commit()).toThrow("it was removed");
  expect(a.confirmed).toBe(0);
});

describe("a commit that fails", () => {
  test("is reported to everyone who waits, and retried with all that was there", async () => {
    verifies("STORE-1");
    const [a, b] = [speaker("a"), speaker("b")];
    a.say("one");
    const flushed = [1, 2].map(async () => committer.flush());
    other.exec("BEGIN IMMEDIATE");
    for (const one of await Promise.allSettled(flushed)) {
      expect(one).toMatchObject({ status: "rejected", reason: { code: "store_locked" } });
    }
    expect(committer.failure).toMatchObject({ code: "store_locked" });
    expect(a.confirmed).toBe(0);
    b.say("two");
    expect(() => committer.commit()).toThrow(/soong\.db: another process/);
    other.exec("ROLLBACK");
    await committer.flush();
    expect(committer.failure).toBeUndefined();
    expect(said()).toEqual(["one", "two"]);
    expect([a.confirmed, b.confirmed]).toEqual([1, 1]);
  });

  test("without a caller throws nowhere, and is reported to the next caller", () => {
    verifies("STORE-1");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const a = speaker("a");
    a.say("one");
    other.exec("BEGIN IMMEDIATE");
    vi.advanceTimersByTime(50);
    expect(committer.failure).toMatchObject({ code: "store_locked" });
    other.exec("ROLLBACK");
    committer.commit();
    expect(said()).toEqual(["one"]);
    expect(a.confirmed).toBe(1);
  });

  test("half way leaves nothing of it behind", () => {
    verifies("STORE-1");
    const [a, b] = [speaker("a"), speaker("b")];
    a.say("one");
    b.say("two");
    b.fail = new Error("out of ink");
    expect(() => committer.commit()).toThrow(/out of ink/);
    expect(said()).toEqual([]);
    expect(executed.at(-1)).toBe("ROLLBACK");
    b.fail = undefined;
    committer.commit();
    expect(said()).toEqual(["one", "two"]);
  });

  test("because the file is damaged is for good: nothing more is written to it", () => {
    verifies("STORE-1");
    const a = speaker("a");
    const damaged = new StoreError("store_corrupted", "page 7 is not what it was");
    a.say("one");
    a.fail = damaged;
    expect(() => committer.commit()).toThrow(damaged);
    const before = executed.length;
    expect(() => committer.commit()).toThrow(damaged);
    expect(executed.length).toBe(before);
  });

  test("because of an id that is taken is the fault of one, and the others are committed", async () => {
    verifies("STORE-1");
    other.exec("INSERT INTO said VALUES ('x', 'taken')");
    const [a, b, c] = [speaker("a"), speaker("b"), speaker("c")];
    a.say("one");
    b.say("taken");
    c.say("three");
    await committer.flush();
    expect(said()).toEqual(["one", "taken", "three"]);
    expect([a.confirmed, b.confirmed, c.confirmed]).toEqual([1, 0, 1]);
    expect(b.refusal).toMatchObject({ code: "entry_refused" });
    // It is out of the way.
    a.say("four");
    await committer.flush();
    expect(said()).toEqual(["four", "one", "taken", "three"]);
    expect(committer.failure).toBeUndefined();
  });

  test("because a run is another's says so", async () => {
    verifies("STORE-1");
    other.exec("INSERT INTO runs VALUES ('run_1')");
    const a = speaker("a", "INSERT INTO runs VALUES (?)", () => ["run_1"]);
    a.say("one");
    await committer.flush();
    expect(a.refusal).toMatchObject({ code: "run_exists" });
  });

  test("does not come from one who cannot bear that it succeeded; nothing is written twice", () => {
    verifies("STORE-1");
    const [a, b] = [speaker("a"), speaker("b")];
    a.say("one");
    b.say("two");
    a.failAfter = new Error("no folder");
    expect(() => committer.commit()).toThrow(/no folder/);
    expect(b.confirmed).toBe(1);
    a.failAfter = undefined;
    a.say("three");
    committer.commit();
    expect(said()).toEqual(["one", "three", "two"]);
  });
});

test("what is dropped is not committed, and its failure is not reported", () => {
  verifies("STORE-3");
  const [a, b] = [speaker("a"), speaker("b")];
  a.say("one");
  other.exec("BEGIN IMMEDIATE");
  expect(() => committer.commit()).toThrow(/another process/);
  other.exec("ROLLBACK");
  committer.drop(a.pending);
  expect(committer.failure).toBeUndefined();
  expect(committer.flush()).toBeUndefined();
  b.say("two");
  committer.commit();
  expect(said()).toEqual(["two"]);
});

function said(): string[] {
  const rows = other.prepare("SELECT what FROM said ORDER BY what").all();
  return (rows as { what: string }[]).map(({ what }) => what);
}

interface Speaker {
  mustSync: boolean;
  readonly pending: Pending;
  say(what: string, bytes?: number): void;
  confirmed: number;
  refusal: StoreError | undefined;
  fail: Error | undefined;
  failAfter: Error | undefined;
}

function speaker(
  who: string,
  sql = "INSERT INTO said VALUES (?, ?)",
  values = (what: string) => [who, what],
): Speaker {
  let pile: string[] = [];
  const self: Speaker = {
    pending: {
      get mustSync() {
        return self.mustSync;
      },
      take() {
        const batch = {} as Batch;
        writing.set(batch, () => {
          if (self.fail !== undefined) throw self.fail;
          for (const what of pile) database.prepare(sql).run(...values(what));
        });
        return batch;
      },
      putBack() {},
      committed() {
        pile = [];
        self.confirmed += 1;
        if (self.failAfter !== undefined) throw self.failAfter;
      },
      refused(error) {
        pile = [];
        self.refusal = error;
      },
    },
    say(what, bytes = 1) {
      pile.push(what);
      committer.note(self.pending, bytes);
    },
    mustSync: false,
    confirmed: 0,
    refusal: undefined,
    fail: undefined,
    failAfter: undefined,
  };
  return self;
}
