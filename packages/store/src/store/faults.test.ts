// A store that is full, read-only, locked, damaged, too new or none at all: a clear error, and nothing that
// was there is harmed. Every fault is a real one.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { bundleStore, type StoreBundle, type Told } from "../../../../test/store/store-bundle.ts";
import { isRoot, ORDINARY_USER } from "../../../../test/tools/path-ordinary-user.ts";
import { kernelOn } from "../../conformance/kernel-run.ts";
import { createFactWriter } from "../../conformance/fact-writer.ts";
import { StoreError, type StoreErrorCode } from "../contract/store-error.ts";
import type { Store } from "../contract/store.ts";
import { loadSqlite } from "../sqlite/driver.ts";
import { openStore } from "../open/open-store.ts";

const FACTS = 300;
const RECURSIVE = { recursive: true, force: true };

let bundle: StoreBundle;
/** All in the database file, no one has it open. */
let seeded: string;
/** Most of it still in the file beside it, as a killed process leaves it. */
let seededBeside: string;

beforeAll(async () => {
  bundle = await bundleStore();
  [seeded, seededBeside] = await Promise.all([seed(false), seed(true)]);
});
afterAll(() => bundle.remove());

describe("a damaged store", () => {
  test.each<[string, (path: string) => void, StoreErrorCode]>([
    ["whose beginning is gone", (path) => overwrite(path, 0, 100, 0), "not_a_store"],
    ["whose beginning is something else", (path) => overwrite(path, 0, 64, 0x41), "not_a_store"],
    ["that is no database at all", (path) => writeFileSync(path, "notes\n"), "not_a_store"],
    [
      "of which all but the first pages are garbage",
      (path) => overwrite(path, 8192),
      "store_corrupted",
    ],
    ["that was cut off", (path) => truncateSync(path, 8192), "store_corrupted"],
    ["that is a directory", (path) => (rmSync(path), mkdirSync(path)), "not_a_store"],
    ["that is a pipe", (path) => (rmSync(path), execFileSync("mkfifo", [path])), "not_a_store"],
    [
      "that leads elsewhere",
      (path) => (rmSync(path), symlinkSync("elsewhere.db", path)),
      "not_a_store",
    ],
  ])("%s is refused, and stays as it is", async (_what, damage, code) => {
    verifies("STORE-4");
    const home = copyOf(seeded);
    const path = databaseOf(home);
    damage(path);
    const before = looksOf(path);
    const options = [{ directory: home }, { directory: home, readOnly: true }];
    for (const one of options) {
      const error = await refusal(async () => {
        const store = await openStore(one);
        try {
          await store.sessions();
        } finally {
          await store.close();
        }
      });
      expect(error.code).toBe(code);
      expect(error.message).toContain(path);
      expect(error.message).toMatch(/give another directory|opy/i);
    }
    expect(looksOf(path)).toEqual(before);
    expect(existsSync(join(home, "store", "elsewhere.db"))).toBe(false);
  });

  test("of which some pages in the middle are garbage says so where they are read, and keeps the rest", async () => {
    verifies("STORE-3");
    const home = copyOf(seeded);
    const path = databaseOf(home);
    const { size } = statSync(path);
    const middle = Math.floor(size / 2 / 4096) * 4096;
    overwrite(path, middle, 16 * 4096);
    const before = looksOf(path);
    const store = await openStore({ directory: home });
    const reader = await store.readSession("s1");
    const error = await refusal(async () => {
      await reader.facts({ limit: FACTS });
      await store.verify("s1");
      await reader.path(`s1-${FACTS}`);
      for (let i = 1; i <= FACTS; i += 1) await reader.node(`s1-${i}`);
    });
    expect(error.code).toBe("store_corrupted");
    expect(error.message).toContain(path);
    expect(error.message).toContain("Copy it away");
    expect(looksOf(path)).toEqual(before);
    await store.close();
  });

  test("with a fact that was edited by hand names it, and opening it makes it no worse", async () => {
    verifies("EVENT-6");
    const home = copyOf(seeded);
    const open = await loadSqlite();
    const database = open(databaseOf(home));
    database.exec("UPDATE facts SET line = substr(line, 1, 40) WHERE place = (1 << 32) + 7");
    database.close();
    const store = await openStore({ directory: home });
    for (let i = 0; i < 2; i += 1) {
      const session = await store.openSession("s1");
      const error = await refusal(() => session.reader.facts());
      expect(error.code).toBe("store_corrupted");
      expect(error.message).toMatch(/Fact 7 of session s1 .*verify/);
      expect(await store.verify("s1")).toMatchObject({ ok: false, problem: { seq: 7 } });
      expect(await session.reader.facts({ after: 7 })).toHaveLength(FACTS + i - 7);
      createFactWriter(session).add();
      await session.close();
    }
    await store.close();
  });

  test("with nodes that were edited by hand is searched for what is in the others", async () => {
    verifies("RESULT-5");
    const home = copyOf(seeded);
    let store = await openStore({ directory: home });
    const session = await store.createSession({ session_id: "said" });
    const writer = createFactWriter(session);
    for (const id of ["one", "two", "three"]) {
      writer.add({ run_id: "r", agent_id: "agent_1" }, [writer.node({ node_id: id }, "wanted")]);
    }
    await session.close();
    await store.close();
    const database = (await loadSqlite())(databaseOf(home));
    database.exec(`UPDATE nodes SET text = '{ wanted' WHERE node_id = 'one';
      UPDATE facts SET line = 'wanted' WHERE place =
        (SELECT session_no FROM sessions WHERE session_id = 'said') * (1 << 32) + 3`);
    database.close();
    store = await openStore({ directory: home });
    const ids = async (limit: number) =>
      (await store.searchNodes("wanted", { limit })).found.map(({ node }) => node.node_id);
    expect(await ids(10)).toEqual(["two"]);
    expect(await ids(1)).toEqual([]);
    await store.close();
  });

  test("with a session whose open state was edited by hand lists the runs of all", async () => {
    verifies("STORE-1");
    const home = copyOf(seeded);
    let store = await openStore({ directory: home });
    for (const session_id of ["one", "two"]) {
      const session = await store.createSession({ session_id });
      createFactWriter(session).add({ run_id: `run_of_${session_id}`, type: "run.started" });
      await session.close();
    }
    await store.close();
    const database = (await loadSqlite())(databaseOf(home));
    database.exec("UPDATE sessions SET open_state = '{' WHERE session_id = 'one'");
    database.close();
    store = await openStore({ directory: home });
    const runs = await store.runs(["one", "two"]);
    expect(runs.map(({ run_id }) => run_id)).toEqual(["run_of_one", "run_of_two"]);
    expect(await store.verify("one")).toMatchObject({ ok: false });
    await store.close();
  });

  test.each<[string, (wal: string) => void, number]>([
    ["has a torn end", (wal) => writeFileSync(wal, "torn".repeat(999), { flag: "a" }), FACTS],
    ["lost its end", (wal) => truncateSync(wal, statSync(wal).size - 6000), 1],
    [
      "is damaged in the middle",
      (wal) => overwrite(wal, Math.floor(statSync(wal).size / 2), 50),
      1,
    ],
    ["is gone", (wal) => rmSync(wal), 0],
  ])(
    "whose file of late changes %s has whole entries only, in order",
    async (_what, damage, least) => {
      verifies("STORE-1", "STORE-3");
      const home = copyOf(seededBeside);
      damage(`${databaseOf(home)}-wal`);
      rmSync(`${databaseOf(home)}-shm`, { force: true });
      const store = await openStore({ directory: home });
      const sessions = await store.sessions();
      const record = sessions.find(({ session_id }) => session_id === "s1");
      if (record === undefined) expect(least).toBe(0);
      else {
        expect(record.last_seq).toBeGreaterThanOrEqual(least);
        expect(await store.verify("s1")).toMatchObject({ ok: true, facts: record.last_seq });
        const session = await store.openSession("s1");
        createFactWriter(session).add();
        await session.close();
      }
      await store.close();
    },
  );
});

describe("what is not our store", () => {
  test("a newer one is refused, and stays as it is", async () => {
    verifies("STORE-4");
    const home = copyOf(seeded);
    const open = await loadSqlite();
    const database = open(databaseOf(home));
    database.exec("PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
    const before = looksOf(databaseOf(home));
    for (const readOnly of [false, true]) {
      const error = await refusal(() => openStore({ directory: home, readOnly }));
      expect(error.code).toBe("store_too_new");
      expect(error.message).toMatch(/soong\.db has version 99.*use a newer Soong/);
    }
    expect(looksOf(databaseOf(home))).toEqual(before);
  });

  test("an empty file becomes one", async () => {
    verifies("STORE-4");
    const home = freshHome();
    mkdirSync(join(home, "store"));
    writeFileSync(databaseOf(home), "");
    const store = await openStore({ directory: home });
    expect(await store.sessions()).toEqual([]);
    await store.close();
  });

  test("a home that is a file, or is below one, is refused", async () => {
    verifies("STORE-1");
    const file = join(freshHome(), "file");
    writeFileSync(file, "mine");
    for (const directory of [file, join(file, "below")]) {
      const error = await refusal(() => openStore({ directory }));
      expect(error.code).toBe("store_unavailable");
      expect(error.message).toContain(file);
      expect(error.message).toContain("give another directory");
    }
    expect(readFileSync(file, "utf8")).toBe("mine");
  });

  test.runIf(isRoot)("a directory of another user is refused", async () => {
    verifies("ART-1");
    const home = copyOf(seeded);
    chmodSync(home, 0o777);
    const [answer] = await bundle.run("refused", { directory: home }, { uid: ORDINARY_USER });
    expect(answer).toMatchObject({
      name: "StoreError",
      message: expect.stringContaining(home) as string,
    });
  });
});

describe("a store that can only be read", () => {
  test("is refused to a writer without rights, and read by a reader who changes nothing", async () => {
    verifies("STORE-1");
    for (const from of [seeded, seededBeside]) {
      const home = copyOf(from);
      takeRights(home);
      const before = looksBelow(home);
      const answers = await bundle.run("read", { directory: home }, { uid: ORDINARY_USER });
      expectOnlyRead(answers);
      expect(answers[0]).toMatchObject({
        message: expect.stringMatching(/soong\.db.*check the rights/) as string,
      });
      expect(looksBelow(home)).toEqual(before);
      giveRights(home);
    }
  });

  test("is read as it is, and refuses every change by name", async () => {
    verifies("STORE-1");
    const home = copyOf(seeded);
    const before = looksOf(databaseOf(home));
    const store = await openStore({ directory: home, readOnly: true });
    const attempts = [
      () => store.createSession(),
      () => store.openSession("s1"),
      () => store.removeSession("s1"),
      () => store.applyRetention({ max_bytes: 0 }),
      () => store.rebuildRunFolder("r"),
    ];
    for (const attempt of attempts) {
      const error = await refusal(attempt);
      expect(error.code).toBe("store_read_only");
      expect(error.message).toContain(databaseOf(home));
    }
    expect(await (await store.readSession("s1")).facts({ limit: 1000 })).toHaveLength(FACTS);
    await store.close();
    expect(looksOf(databaseOf(home))).toEqual(before);
    expect(readdirSync(home).toSorted()).toEqual(["artifacts", "store"]);
  });
});

describe("a store another process has locked", () => {
  test("waits for it when that is not for long", async () => {
    verifies("STORE-1");
    const home = copyOf(seeded);
    const store = await openStore({ directory: home, busyTimeoutMs: 30_000 });
    const session = await store.openSession("other");
    const other = bundle.start("lock", { directory: home, forMs: 200 });
    expect(await other.next()).toEqual({ locked: true });
    createFactWriter(session).add();
    await session.journal.flush();
    expect((await session.reader.record()).last_seq).toBe(4);
    await store.close();
    expect(await other.ended()).toMatchObject({ code: 0 });
  });

  test("executes nothing it could not record, and has everything on record once it is free", async () => {
    verifies("STORE-1", "STORE-3", "PIPE-3");
    const home = copyOf(seeded);
    const store = await openStore({ directory: home, busyTimeoutMs: 20 });
    const session = await store.openSession("other");
    const { startRun, executed } = await kernelOn(session);
    const run = await startRun();
    expect((await run.call("demo.write", {})).status).toBe("succeeded");
    const before = (await session.reader.record()).last_seq;
    const other = bundle.start("lock", { directory: home });
    expect(await other.next()).toEqual({ locked: true });

    const [result, next] = [await run.call("demo.write", {}), await run.call("demo.write", {})];
    for (const { status, error } of [result, next]) {
      expect(["failed", "unknown"]).toContain(status);
      expect(error?.code).toBe("journal_unavailable");
      expect(error?.message).toMatch(/soong\.db: another process.*try again/);
    }
    expect(executed.get("demo.write")).toBe(1);
    expect((await refusal(() => openStore({ directory: home, busyTimeoutMs: 20 }))).code).toBe(
      "store_locked",
    );
    other.say("free");
    expect(await other.ended()).toMatchObject({ code: 0 });

    const pending = (await session.journal.read(before, 1000)).length;
    expect(pending).toBeGreaterThan(0);
    await session.close();
    const again = await store.openSession("other");
    const facts = await again.reader.facts();
    expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_, i) => i + 1));
    expect(facts.length).toBeGreaterThanOrEqual(before + pending);
    expect((await again.reader.calls()).map(({ status }) => status)).toEqual([
      "succeeded",
      // Its start came on record when the store was free: no one can say from there that it never ran.
      "unknown",
    ]);
    expect(await store.verify("other")).toMatchObject({ ok: true });
    await store.close();
  });

  test("keeps a session it could not commit, for a second attempt to close it", async () => {
    verifies("STORE-1", "STORE-3");
    const home = copyOf(seeded);
    const store = await openStore({ directory: home, busyTimeoutMs: 20 });
    const session = await store.openSession("other");
    const other = bundle.start("lock", { directory: home });
    await other.next();
    createFactWriter(session).add();
    expect((await refusal(() => session.close())).code).toBe("store_locked");
    // No one else gets it meanwhile: what it has would come twice, or never.
    const second = await openStore({ directory: home, readOnly: true });
    expect((await (await second.readSession("other")).facts()).length).toBe(3);
    await second.close();
    other.say("free");
    await other.ended();
    expect((await refusal(() => store.openSession("other"))).code).toBe("session_in_use");
    await session.close();
    expect((await (await store.openSession("other")).reader.facts()).length).toBe(4);
    await store.close();
  });

  test("keeps what it could not commit for the next entry", async () => {
    verifies("STORE-1");
    const home = copyOf(seeded);
    const store = await openStore({ directory: home, busyTimeoutMs: 20 });
    const session = await store.openSession("other");
    const other = bundle.start("lock", { directory: home });
    await other.next();
    const pen = createFactWriter(session);
    pen.add();
    expect((await refusal(async () => session.journal.flush())).code).toBe("store_locked");
    // Refused whole: it can be given again.
    expect((await refusal(async () => pen.add())).code).toBe("store_locked");
    pen.takeBack();
    other.say("free");
    await other.ended();
    pen.add();
    await session.journal.flush();
    expect((await session.reader.facts()).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    await store.close();
  });
});

describe("a store that goes away while it is open", () => {
  const faults: [string, RegExp, (home: string) => void][] = [
    [
      "its database is removed",
      /soong\.db was removed or moved/,
      (home) => rmSync(databaseOf(home)),
    ],
    [
      "its folder is moved",
      /soong\.db was removed or moved/,
      (home) => renameSync(join(home, "store"), join(home, "elsewhere")),
    ],
    ["the home is removed", /soong\.db was removed or moved/, (home) => rmSync(home, RECURSIVE)],
    [
      "the home is moved",
      /soong\.db was removed or moved/,
      (home) => renameSync(home, `${home}-moved`),
    ],
    [
      "its database is replaced",
      /soong\.db was replaced/,
      (home) => {
        cpSync(databaseOf(home), `${databaseOf(home)}.copy`);
        renameSync(`${databaseOf(home)}.copy`, databaseOf(home));
      },
    ],
    [
      "its database is emptied",
      /soong\.db was cut short/,
      (home) => truncateSync(databaseOf(home), 0),
    ],
    [
      "its database is cut off",
      /soong\.db was cut short/,
      (home) => truncateSync(databaseOf(home), 8192),
    ],
    [
      "its WAL is removed",
      /soong\.db-wal, .* was removed/,
      (home) => rmSync(`${databaseOf(home)}-wal`),
    ],
    [
      "its WAL is emptied",
      /soong\.db-wal, .* was cut short/,
      (home) => truncateSync(`${databaseOf(home)}-wal`, 0),
    ],
    [
      "its artifacts are removed",
      /artifacts.*, which is part of the store, was removed/,
      (home) => rmSync(join(home, "artifacts"), RECURSIVE),
    ],
  ];

  test.each(faults)("because %s runs nothing more and says so", async (_how, message, spoil) => {
    verifies("STORE-1", "STORE-3", "PIPE-3");
    const home = copyOf(seeded);
    const store = await openStore({ directory: home });
    const session = await store.openSession("other");
    const { startRun, executed } = await kernelOn(session);
    const run = await startRun();
    expect((await run.call("demo.write", {})).status).toBe("succeeded");
    await session.artifacts.write("kept", {
      session_id: "other",
      run_id: run.identity.run_id,
      media_type: "text/plain",
    });
    await session.journal.flush();
    spoil(home);

    const result = await run.call("demo.write", {});
    expect(result.error).toMatchObject({
      code: "journal_unavailable",
      message: expect.stringMatching(message) as string,
    });
    expect(executed.get("demo.write")).toBe(1);
    expect((await refusal(() => session.close())).code).toBe("store_lost");
    expect((await refusal(() => store.close())).code).toBe("store_lost");
  });

  test("is noticed when it is closed, though nothing was left to commit", async () => {
    verifies("STORE-1");
    const home = copyOf(seeded);
    const store = await openStore({ directory: home });
    const session = await store.openSession("other");
    createFactWriter(session).add();
    await session.journal.flush();
    rmSync(home, RECURSIVE);
    expect((await refusal(() => session.close())).code).toBe("store_lost");
    await refusal(() => store.close());
  });

  test("is not suspected when another process gives space back", async () => {
    verifies("STORE-1", "ART-4");
    const home = copyOf(seeded);
    const store = await openStore({ directory: home });
    const session = await store.openSession("other");
    const pen = createFactWriter(session);
    const big = await store.createSession({ session_id: "big" });
    const filler = createFactWriter(big);
    for (let i = 0; i < 100; i += 1) filler.add({ data: { text: "x".repeat(100_000) } });
    await big.close();
    const database = (await loadSqlite())(databaseOf(home));
    const sizes = [sizeOnDisk()];
    pen.add();
    await session.journal.flush();
    const other = await openStore({ directory: home });
    await other.removeSession("big");
    sizes.push(sizeOnDisk());
    await other.close();
    expect(sizes[1]).toBeLessThan((sizes[0] ?? 0) / 2);
    pen.add();
    await session.journal.flush();
    database.close();
    await store.close();

    function sizeOnDisk(): number {
      database.exec("PRAGMA wal_checkpoint(PASSIVE)");
      return statSync(databaseOf(home)).size;
    }
  });
});

describe("a full disk", () => {
  test("stops the session with a reason before anything happens unrecorded", async () => {
    verifies("STORE-1", "STORE-3", "PIPE-3");
    const home = copyOf(seeded);
    // In blocks of 512 bytes, for any file of that process.
    const first = `ulimit -f ${Math.ceil(statSync(databaseOf(home)).size / 512) + 600}`;
    const answers = await bundle.run("fill", filling(home), { first });
    expectStopped(answers, home);
    await expectWhole(home);
  });

  test.runIf(canMount())(
    "is reported as such, and the session continues when there is space again",
    async () => {
      verifies("STORE-1", "STORE-3", "PIPE-3");
      const mount = await mountSmall("2m");
      try {
        const home = join(mount.path, "home");
        cpSync(seeded, home, { recursive: true });
        const answers = await bundle.run("fill", filling(home));
        expectStopped(answers, home);
        expect(answers[1]?.message).toMatch(/no room left; free some space/);
        const error = await refusal(async () => {
          const store = await openStore({ directory: home });
          // A few pages may still be free.
          for (let i = 0; i < 1000; i += 1) await (await store.createSession()).close();
        });
        expect(["store_full", "store_unavailable"]).toContain(error.code);
        mount.grow("20m");
        await expectWhole(home);
      } finally {
        mount.remove();
      }
    },
  );

  test.runIf(canMount())("that can only be read refuses a writer and serves a reader", async () => {
    verifies("STORE-1");
    const mount = await mountSmall("20m");
    try {
      const home = join(mount.path, "home");
      cpSync(seeded, home, { recursive: true });
      mount.freeze();
      expectOnlyRead(await bundle.run("read", { directory: home }));
    } finally {
      mount.remove();
    }
  });

  test("that takes no artifact says so in the result, and the session continues", async () => {
    verifies("ART-1");
    const home = copyOf(seeded);
    const blocks = Math.ceil(statSync(databaseOf(home)).size / 512);
    const answers = await bundle.run(
      "artifact",
      { directory: home, session_id: "s1" },
      // Less than the artifact, more than the journal of one call.
      { first: `ulimit -f ${blocks + 600}` },
    );
    expect(answers[0]).toMatchObject({ code: "artifact_store_full", recovery: "change_arguments" });
    expect(answers[0]?.message).toMatch(/no room left on the disk/);
    expect(answers[1]).toEqual({ next: "succeeded" });
    // Only what the seed kept.
    expect(readdirSync(join(home, "artifacts", "s1"))).toHaveLength(2);
    await expectWhole(home);
  });

  test("below the run folders leaves the run alone; its folder is made later", async () => {
    verifies("EVENT-5");
    const home = copyOf(seeded);
    writeFileSync(join(home, "runs"), "in the way");
    const store = await openStore({ directory: home });
    const session = await store.openSession("other");
    const { startRun } = await kernelOn(session);
    const run = await startRun();
    expect((await run.call("demo.write", {})).status).toBe("succeeded");
    run.end("completed");
    await session.close();
    expect((await refusal(() => store.rebuildRunFolder(run.identity.run_id))).message).toContain(
      join(home, "runs"),
    );
    rmSync(join(home, "runs"));
    const folder = await store.rebuildRunFolder(run.identity.run_id);
    const lines = readFileSync(join(folder, "events.jsonl"), "utf8").trimEnd().split("\n");
    const reader = await store.readSession("other");
    const facts = await reader.facts({ run_id: run.identity.run_id });
    expect(lines).toHaveLength(facts.length);
    await store.close();
  });
});

function filling(directory: string): object {
  const until = ["journal_unavailable"];
  return { directory, session_id: "s1", tool: "demo.write", until, most: 200 };
}

/** The last call has a result that says why; it ran only if that may be said, and nothing runs after it. */
function expectStopped(answers: readonly Told[], home: string): void {
  const [, stopped, next, closed] = answers;
  expect(stopped).toMatchObject({ code: "journal_unavailable" });
  expect(stopped?.message).toContain(databaseOf(home));
  expect(stopped?.message).toMatch(/room/);
  // "unknown" also for what did not run: that could not be recorded either.
  expect(["failed", "unknown"]).toContain(stopped?.status);
  expect(stopped?.status === "failed" && stopped.ran === 1).toBe(false);
  expect(next).toEqual({ next: "journal_unavailable", ran: 0 });
  expect(closed?.closed).toBeDefined();
}

/** Reopens: everything committed is there, every call has its end, and it continues. */
async function expectWhole(home: string): Promise<void> {
  const store: Store = await openStore({ directory: home });
  const session = await store.openSession("s1");
  const { last_seq } = await session.reader.record();
  expect(last_seq).toBeGreaterThan(FACTS);
  expect(await store.verify("s1", { artifacts: true })).toMatchObject({
    ok: true,
    facts: last_seq,
  });
  for (const { status } of await session.reader.calls()) expect(status).toBeDefined();
  createFactWriter(session).add();
  await session.close();
  await store.close();
}

async function seed(beside: boolean): Promise<string> {
  const directory = join(await bundle.place(), "home");
  const child = bundle.start("seed", { directory, entries: FACTS, beside });
  expect(await child.next()).toEqual({ seeded: true });
  await child.ended();
  // As if it had been closed well: a reader without rights finds the database and nothing else.
  if (!beside)
    for (const end of ["-wal", "-shm"]) rmSync(`${databaseOf(directory)}${end}`, { force: true });
  rmSync(join(directory, "runs"), { recursive: true, force: true });
  return directory;
}

function freshHome(): string {
  return mkdtempSync(join(bundle.folder, "home-"));
}

function copyOf(home: string): string {
  const copy = freshHome();
  cpSync(home, copy, { recursive: true, preserveTimestamps: true });
  return copy;
}

function databaseOf(home: string): string {
  return join(home, "store", "soong.db");
}

function overwrite(
  path: string,
  from: number,
  length = statSync(path).size - from,
  byte = 0x5a,
): void {
  const bytes = readFileSync(path);
  bytes.fill(byte, from, from + length);
  writeFileSync(path, bytes);
}

async function refusal(work: () => unknown): Promise<StoreError> {
  const thrown: unknown = await Promise.resolve()
    .then(work)
    .then(
      () => new Error("nothing was refused"),
      (error: unknown) => error,
    );
  if (thrown instanceof StoreError) return thrown;
  throw thrown;
}

/** A writer was refused, and a reader found everything. */
function expectOnlyRead([writer, reader]: readonly Told[]): void {
  expect(writer).toMatchObject({ name: "StoreError", code: "store_read_only" });
  expect(reader).toMatchObject({ sessions: { s1: FACTS, other: 3 } });
}

/** Whose it is stays as it must be; what may be done with it goes. */
function takeRights(home: string): void {
  for (const path of everythingIn(home)) {
    if (isRoot) chownSync(path, ORDINARY_USER, ORDINARY_USER);
    chmodSync(path, statSync(path).isDirectory() ? 0o500 : 0o400);
  }
}

function giveRights(home: string): void {
  chmodSync(home, 0o700);
  for (const path of everythingIn(home)) {
    if (statSync(path).isDirectory()) chmodSync(path, 0o700);
  }
}

function everythingIn(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return [path, ...readdirSync(path).flatMap((name) => everythingIn(join(path, name)))];
}

function looksBelow(home: string): unknown {
  return everythingIn(home).map((path) => [path, looksOf(path)]);
}

/** What would show that someone has written to it. */
function looksOf(path: string): unknown {
  const stat = lstatSync(path);
  const { mode, mtimeMs, size } = stat;
  const hash = stat.isFile() ? createHash("sha256").update(readFileSync(path)).digest("hex") : "";
  return { mode, mtimeMs, size: stat.isDirectory() ? 0 : size, hash };
}

/** Only root may, and not in every container. */
function canMount(): boolean {
  if (!isRoot) return false;
  const path = mkdtempSync(join(tmpdir(), "soong-mount-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", path], { stdio: "ignore" });
    execFileSync("umount", [path]);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(path, { recursive: true });
  }
}

async function mountSmall(size: string): Promise<{
  path: string;
  grow(to: string): void;
  freeze(): void;
  remove(): void;
}> {
  const path = await bundle.place();
  const mount = (...args: string[]): unknown => execFileSync("mount", [...args, path]);
  mount("-t", "tmpfs", "-o", `size=${size}`, "tmpfs");
  return {
    path,
    grow: (to) => void mount("-o", `remount,size=${to}`),
    freeze: () => void mount("-o", "remount,ro"),
    // Even while a connection waits for the collector.
    remove: () => void execFileSync("umount", ["-l", path]),
  };
}
