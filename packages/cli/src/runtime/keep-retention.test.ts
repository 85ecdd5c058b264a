import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store } from "@soong/store";
import { verifies } from "#laws";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseConfig } from "../config/index.ts";
import { keepRetention } from "./keep-retention.ts";

const DAY = 24 * 60 * 60 * 1000;
const NOW = Date.UTC(2026, 5, 1);
const AGE = parseConfig("[store.retention]\nmax_age_days = 30", "config.toml");

let home: string;
let store: Store;
let time = NOW;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "soong-retention-"));
  store = await openStore({ directory: home, clock: { now: () => time } });
});

afterEach(async () => {
  await store.close();
  await rm(home, { recursive: true, force: true });
});

/** Made so many days ago, and let go. */
async function session(session_id: string, daysAgo: number): Promise<void> {
  time = NOW - daysAgo * DAY;
  const made = await store.createSession({ session_id });
  const about = { session_id, run_id: "r", media_type: "text/plain" };
  await made.artifacts.write("x".repeat(1000), about);
  await made.close();
  time = NOW;
}

async function kept(): Promise<string[]> {
  return (await store.sessions()).map(({ session_id }) => session_id);
}

test("of a store that machines share, ages are counted by its clock", async () => {
  verifies("ART-4");
  await session("young", 25);
  await session("new", 0);
  const offset = (days: number) => ({ clockOffsetMs: async () => days * DAY });
  const shared = { ...store, cluster: offset(6) } as unknown as Store;
  const parts = { home, values: AGE, used: [] };
  expect(await keepRetention({ ...parts, store: shared, now: NOW + 6 * DAY })).toBeUndefined();
  expect(await kept()).toEqual(["new", "young"]);
  await rm(join(home, "store", "retention.json"));
  expect(await keepRetention({ ...parts, store, now: NOW + 6 * DAY })).toContain(
    "1 session was removed",
  );
});

describe("a clock that jumped", () => {
  test.each([
    { says: "years", jump: 3650 },
    { says: "months", jump: 90 },
  ])("forward by $says removes no more than a week's worth a day", async ({ jump }) => {
    verifies("ART-4");
    for (const [id, daysAgo] of Object.entries({ old: 40, young: 20, younger: 1 })) {
      await session(id, daysAgo);
    }
    const parts = { store, home, values: AGE, used: ["mine"] };
    const then = NOW + jump * DAY;
    time = then;
    await (await store.createSession({ session_id: "mine" })).close();
    const said = await keepRetention({ ...parts, now: then });
    expect(said).toContain("1 session was removed");
    expect(said).toContain("counted to 2026-06-07 only");
    expect(await kept()).toEqual(["mine", "younger", "young"]);
    // The next day, though by then there is a session of that time.
    expect(await keepRetention({ ...parts, now: then + DAY })).toContain("2026-06-14");
    expect(await kept()).toEqual(["mine", "younger"]);
    // Set right again, it is as if nothing had been.
    expect(await keepRetention({ ...parts, now: NOW + 2 * DAY })).toBeUndefined();
    expect(await kept()).toEqual(["mine", "younger"]);
  });
});

describe("the retention of the config", () => {
  test("removes what is too old, once a day, and says so", async () => {
    verifies("ART-4", "CONF-3");
    for (const id of ["old", "older"]) await session(id, 40);
    await session("young", 1);
    const parts = { store, home, values: AGE, used: [] };
    expect(await keepRetention({ ...parts, now: NOW })).toBe(
      "2 sessions were removed, as store.retention of the config says: older than 30 days.",
    );
    expect(await kept()).toEqual(["young"]);
    const stones = (await store.tombstones()).map(({ reason }) => reason);
    expect(stones).toEqual(["older than 30 days", "older than 30 days"]);
    await session("late", 50);
    expect(await keepRetention({ ...parts, now: NOW + DAY - 1 })).toBeUndefined();
    expect(await kept()).toContain("late");
    expect(await keepRetention({ ...parts, now: NOW + DAY })).toContain("1 session was removed");
    expect(await kept()).toEqual(["young"]);
  });

  test("is applied at once when the config has changed, and when what it left is no mark", async () => {
    verifies("ART-4");
    await session("old", 40);
    await session("young", 1);
    const parts = { store, home, used: [], now: NOW };
    const loose = parseConfig("[store.retention]\nmax_age_days = 90", "config.toml");
    expect(await keepRetention({ ...parts, values: loose })).toBeUndefined();
    expect(await keepRetention({ ...parts, values: AGE })).toContain("1 session");
    const marks = ["", "{", "null", "[]", '{"applied_at":"soon","max_age_days":30}'];
    for (const [index, mark] of marks.entries()) {
      await session(`again_${index}`, 40);
      await writeFile(join(home, "store", "retention.json"), mark);
      expect(await keepRetention({ ...parts, values: AGE }), mark).toContain("1 session");
    }
    // A clock that was ahead must not put it off for ever.
    await session("ahead", 40);
    await keepRetention({ ...parts, values: AGE, now: NOW + 400 * DAY });
    await session("behind", 40);
    expect(await keepRetention({ ...parts, values: AGE })).toContain("1 session");
  });

  test("leaves what this process has used, and what someone holds", async () => {
    verifies("ART-4");
    await session("mine", 0);
    await session("other", 0);
    await session("held", 0);
    const holder = await openStore({ directory: home });
    const held = await holder.openSession("held");
    const values = parseConfig("[store.retention]\nmax_bytes = 1", "config.toml");
    // So small that everything goes that may.
    const notice = await keepRetention({ store, home, values, used: ["mine"] });
    expect(notice).toContain("1 session was removed");
    expect((await kept()).toSorted()).toEqual(["held", "mine"]);
    await held.close();
    await holder.close();
    // It is free again.
    await (await store.openSession("mine")).close();
  });

  test("is nothing where the config says nothing", async () => {
    verifies("ART-4");
    await session("old", 4000);
    const values = parseConfig("", "config.toml");
    expect(await keepRetention({ store, home, values, used: [] })).toBeUndefined();
    expect(await kept()).toEqual(["old"]);
    await expect(readFile(join(home, "store", "retention.json"))).rejects.toThrow("ENOENT");
  });

  test("that cannot be met is reported, and fails nothing", async () => {
    verifies("ART-4");
    await store.close();
    expect(await keepRetention({ store, home, values: AGE, used: [] })).toContain(
      "could not be removed",
    );
  });
});
