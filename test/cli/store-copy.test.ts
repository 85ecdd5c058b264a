// `soong store` and `soong store copy`: sessions moved between a home and a database, with the chain as it was.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFactWriter } from "../../packages/store/conformance/fact-writer.ts";
import { openStore, type OpenSession } from "../../packages/store/src/index.ts";
import { loadSqlite } from "../../packages/store/src/sqlite/driver.ts";
import { usePostgres } from "../postgres/shared.ts";
import { bundleCli, recordsOf, type CliBundle, type Place, type Started } from "./cli-bundle.ts";

/** Sockets of servers that are not there. */
const SOCKET = "postgres://me@localhost/x?host=/nowhere";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const SESSIONS = ["../odd 'id'", "session_a", "session_b"];

/** A home with sessions of several hundred facts and an artifact each, and one that was removed. */
async function filledPlace(): Promise<Place> {
  const place = await bundle.place();
  const store = await openStore({ directory: place.home });
  for (const session_id of [...SESSIONS, "gone"]) {
    const session = await store.createSession({ session_id, project: place.project });
    await write(session);
    await session.close();
  }
  await store.removeSession("gone", "not needed");
  await store.close();
  return place;
}

async function write(session: OpenSession): Promise<void> {
  const { session_id } = session;
  const run_id = `run of ${session_id}`;
  const writer = createFactWriter(session);
  writer.add({ type: "run.started", run_id, agent_id: "agent_1", data: {} });
  for (let i = 0; i < 300; i += 1) {
    const node = writer.node({ node_id: `${session_id} ${i}`, run_id });
    writer.add({ run_id, agent_id: "agent_1", data: { text: `fact ${i} é` } }, [node]);
  }
  writer.add({ type: "run.completed", run_id, agent_id: "agent_1", data: {} });
  const about = { session_id, run_id, media_type: "text/plain" };
  await session.artifacts.write("bytes ".repeat(100_000), about);
}

/** What is there, each session checked with its artifacts. */
async function verified(place: Place, env: Record<string, string> = {}) {
  const ended = await place.run(["verify", "--all", "--artifacts", "--json"], { env });
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  return Object.fromEntries(
    recordsOf(ended).map((record) => [String(record["session_id"]), record["head_hash"]]),
  );
}

/** Until stderr says that this session is next. */
async function reached({ child }: Started, session: number): Promise<void> {
  for await (const line of createInterface({ input: child.stderr! })) {
    if (line.startsWith(`${session} of `)) return;
  }
}

describe("soong store copy", () => {
  it("copies a home to a database and back, checked, once, with what is left of removed sessions", async () => {
    verifies("STORE-1", "EVENT-6");
    const place = await filledPlace();
    const url = await usePostgres();
    const env = { SOONG_STORE_URL: url };
    const heads = await verified(place);
    expect(Object.keys(heads)).toHaveLength(4);

    const copied = await place.run(["store", "copy", place.home, "$SOONG_STORE_URL", "--json"], {
      env,
    });
    expect(copied.code, copied.stderr).toBe(0);
    expect(recordsOf(copied)).toMatchObject(
      SESSIONS.map((session_id) => ({
        schema: "soong.store_copy/1",
        session_id,
        state: "copied",
        facts: 302,
        artifacts: 1,
        head_hash: heads[session_id],
      })),
    );
    expect(copied.stderr).toContain("3 copied to postgres://127.0.0.1");
    expect(await verified(place, env)).toEqual(heads);

    const again = await place.run(["store", "copy", place.home, url], { env });
    expect(again).toMatchObject({ code: 0 });
    expect(again.stderr).toContain("0 copied");

    const other = await bundle.place();
    const { password } = new URL(url);
    const named = url.replace(password, "$DB_PASSWORD");
    const back = await other.run(["store", "copy", named, other.home], {
      env: { DB_PASSWORD: password },
    });
    expect(back.code, back.stderr).toBe(0);
    expect(await verified(other)).toEqual(heads);
    expect(readdirSync(join(other.home, "runs"))).toHaveLength(3);
    for (const { stdout, stderr } of [copied, again, back]) {
      expect(stdout + stderr).not.toContain(password);
    }

    expect((await place.run(["sessions", "rm", SESSIONS[2] ?? ""], { env })).code).toBe(0);
    const removed = await place.run(["store", "copy", place.home, url, "--json"], { env });
    expect(removed.code).toBe(0);
    expect(recordsOf(removed)).toContainEqual(
      expect.objectContaining({ session_id: SESSIONS[2], state: "removed_there" }),
    );
    expect(removed.stderr).toContain("1 removed there");
  });

  it("copies the named sessions only, and refuses one that continued elsewhere", async () => {
    verifies("STORE-1");
    const place = await filledPlace();
    const there = join(place.project, "backup");
    const copy = ["store", "copy", place.home, "backup"];
    expect(await place.run([...copy, "--session", "session_b"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^copied {3}session_b {2}302 facts, 1 artifact, .*verified\n$/,
      ) as string,
    });
    const store = await openStore({ directory: there });
    const session = await store.openSession("session_b");
    createFactWriter(session).add();
    await session.close();
    await store.close();
    const all = await place.run(copy);
    expect(all).toMatchObject({ code: 1 });
    expect(all.stdout).toMatch(
      /^refused {2}session_b: .*was continued in .* since it was copied: 303 facts there, 302 here/m,
    );
    expect(all.stderr).toContain("2 copied");
    const unknown = await place.run([...copy, "--session", "nothing"]);
    expect(unknown).toMatchObject({ code: 1 });
    expect(unknown.stderr).toContain("There is no session nothing");
  });

  it("leaves whole sessions only when it is killed, and continues then", async () => {
    verifies("STORE-3");
    const place = await filledPlace();
    const heads = await verified(place);
    const url = await usePostgres();
    const other = await bundle.place();
    const env = { SOONG_STORE_URL: url };
    for (const [from, to, at, destination] of [
      [place.home, "$SOONG_STORE_URL", place, env],
      ["$SOONG_STORE_URL", other.home, other, {}],
    ] as const) {
      const copy = ["store", "copy", from, to];
      for (const session of [1, 2, 3]) {
        const copying = at.start(copy, { env });
        await reached(copying, session);
        copying.child.kill("SIGKILL");
        await copying.ended;
        if (to === other.home && !existsSync(join(other.home, "store", "soong.db"))) continue;
        const found = await verified(at, destination);
        expect(heads).toMatchObject(found);
      }
      expect(await at.run(copy, { env })).toMatchObject({ code: 0 });
      expect(await verified(at, destination)).toEqual(heads);
    }
    const left = readdirSync(join(other.home, "artifacts"));
    expect(left.filter((name) => name.startsWith("~copy"))).toEqual([]);
  });

  it("ends at Ctrl-C with the sessions that were done", async () => {
    verifies("STORE-3");
    const place = await filledPlace();
    const copying = place.start(["store", "copy", place.home, "backup"]);
    await reached(copying, 2);
    copying.child.kill("SIGINT");
    expect(await copying.ended).toMatchObject({ code: 130 });
    const found = await verified(place, { SOONG_AGENT_HOME: join(place.project, "backup") });
    expect(Object.keys(found).length).toBeLessThan(4);
    expect(await verified(place)).toMatchObject(found);
  });

  it("copies from a store of an older version", async () => {
    verifies("STORE-4");
    const place = await bundle.place();
    await place.write(join(place.home, "store", "soong.db"), "");
    const database = (await loadSqlite())(join(place.home, "store", "soong.db"));
    database.exec(readFileSync("packages/store/src/sqlite/fixtures/version-1.sql", "utf8"));
    database.close();
    const copy = ["store", "copy", place.home, "backup", "--session"];
    for (const session of ["branches", "interrupted"]) {
      const copied = await place.run([...copy, session]);
      expect(copied.code, copied.stderr).toBe(0);
    }
    expect(
      Object.keys(await verified(place, { SOONG_AGENT_HOME: join(place.project, "backup") })),
    ).toHaveLength(2);
  });

  it("refuses a session that is in use, and copies the others", async () => {
    verifies("STORE-3");
    const place = await filledPlace();
    const store = await openStore({ directory: place.home });
    const held = await store.openSession("session_a");
    const copied = await place.run(["store", "copy", place.home, "backup"]);
    await held.close();
    await store.close();
    expect(copied.code).toBe(1);
    expect(copied.stdout).toContain("refused  session_a: Session session_a is in use by");
    expect(copied.stderr).toContain("2 copied");
  });

  it.each([
    [["$NOT_SET", "backup"], 2, "$NOT_SET is not set"],
    [["backup", ""], 2, "TO is empty. Name a directory or a database."],
    [["mysql://me:hunter2hunter2@db/x", "backup"], 2, "FROM is neither a directory nor"],
    [["postgres://me:hunter2hunter2@db:port/x", "backup"], 2, "FROM is not a valid address"],
    [["postgres:/me:hunter2hunter2@db/x", "backup"], 2, "FROM is neither a directory nor"],
    [["backup", "me:hunter2hunter2@db/x"], 2, "TO is neither a directory nor"],
    [["$SOONG_AGENT_HOME", "backup"], 2, "FROM is neither a directory nor"],
    [["backup", "./backup/"], 2, "FROM and TO are the same store"],
    // A port of 1 is closed.
    [[`${SOCKET}/a&port=1`, `${SOCKET}/a&port=1`], 2, "FROM and TO are the same store"],
    [[`${SOCKET}/a&port=1`, `${SOCKET}/b&port=1`], 1, "does not answer"],
    [[`${SOCKET}/a&port=1`, `${SOCKET}/a&port=2`], 1, "does not answer"],
    [["empty", "backup"], 1, "There is no store in"],
    [["empty"], 2, "missing TO"],
  ])("%j is refused with a sentence", async (args, code, sentence) => {
    verifies("CLI-6");
    const place = await bundle.place();
    const ended = await place.run(["store", "copy", ...args]);
    expect(ended).toMatchObject({ code, stdout: "" });
    expect(ended.stderr).toContain(sentence);
    expect(ended.stderr).not.toContain("hunter2");
    expect(existsSync(join(place.project, "backup"))).toBe(false);
  });
});

describe("soong store", () => {
  it("says which database it is, and how much is in it", async () => {
    verifies("STORE-1");
    const place = await filledPlace();
    const file = join(place.home, "store", "soong.db");
    const local = await place.run(["store"]);
    expect(local).toMatchObject({ code: 0, stderr: "" });
    expect(local.stdout).toMatch(/^SQLite, .*soong\.db\n[\d.]+ MB in 3 sessions\n$/);
    const url = await usePostgres();
    const [record] = recordsOf(await place.run(["store", "--json"]));
    expect(record).toMatchObject({
      schema: "soong.store/1",
      kind: "sqlite",
      address: file,
      sessions: 3,
    });
    const shared = await place.run(["store"], { env: { SOONG_STORE_URL: url } });
    expect(shared.stdout).toMatch(
      /^PostgreSQL [\d.]+, postgres:\/\/127\.0\.0\.1:\d+\/test_\w+, schema soong, no tables yet, connection not encrypted\n0 B in 0 sessions\n$/,
    );
  });
});
