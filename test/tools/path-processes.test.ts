// EDIT-6 and the atomic part of CODE-4 among several processes: no reported write is lost, a killed holder
// of the lock stops no one, and a killed writer leaves the whole old file or the whole new one.

import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { verifies } from "#laws";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  clearAbandonedWrites,
  commitFile,
  withFileLock,
} from "../../packages/tools/src/path/index.ts";
import { temporaryName } from "../../packages/tools/src/path/temporary-file.ts";
import { isRoot, ORDINARY_USER } from "./path-ordinary-user.ts";
import {
  type SecondProcess,
  type SecondProcesses,
  secondProcesses,
} from "./path-second-process.ts";

const isFull = process.env.SOONG_TEST_FULL === "1";
const PROCESSES = isFull ? 8 : 3;
const INCREMENTS = isFull ? 200 : 10;
const KILLS = isFull ? 200 : 4;

let second: SecondProcesses;
let project: string;
let path: string;
let lockDirectory: string;

beforeEach(async () => {
  second = await secondProcesses();
  project = join(second.folder, "project");
  path = join(project, "a");
  lockDirectory = join(second.folder, "home/locks");
  mkdirSync(project);
});

afterEach(async () => {
  await second.remove();
});

function expectNothingLeft(): void {
  expect(readdirSync(project)).toEqual(["a"]);
  expect(readdirSync(lockDirectory)).toEqual([]);
}

/** One killed between making its claim and writing who it is: only the time of such a file tells. */
function ageEmptyClaims(): void {
  for (const name of readdirSync(lockDirectory)) {
    const claim = join(lockDirectory, name);
    if (name.endsWith(".claim") && statSync(claim).size === 0) {
      const old = Date.now() / 1000 - 31;
      utimesSync(claim, old, old);
    }
  }
}

async function commit(text: string): Promise<void> {
  const expected = sha256(readFileSync(path, "utf8"));
  const bytes = Buffer.from(text);
  await commitFile({ path, bytes, expected, createDirs: false, lockDirectory });
}

describe("processes that count in one file", () => {
  const start = (): SecondProcess =>
    second.worker("increment", { path, lockDirectory, times: INCREMENTS });
  const made = (workers: SecondProcess[]): number[] =>
    workers.flatMap(({ lines }) => lines.map(({ made }) => made as number));

  test("lose no step", async () => {
    verifies("EDIT-6");
    writeFileSync(path, "0");
    const workers = Array.from({ length: PROCESSES }, start);
    for (const { ended } of workers) {
      expect(await ended).toEqual({ status: 0, signal: null, stderr: "" });
    }
    expect(readFileSync(path, "utf8")).toBe(String(PROCESSES * INCREMENTS));
    const steps = made(workers).toSorted((a, b) => a - b);
    expect(steps).toEqual(Array.from({ length: PROCESSES * INCREMENTS }, (_, step) => step + 1));
    expectNothingLeft();
  });

  test("lose no step that one of them reported before it was killed", async () => {
    verifies("EDIT-6");
    writeFileSync(path, "0");
    const victims = Array.from({ length: PROCESSES - 1 }, start);
    const survivor = start();
    for (const victim of victims) {
      await victim.said("made");
      victim.child.kill("SIGKILL");
      await victim.ended;
    }
    expect(await survivor.ended).toEqual({ status: 0, signal: null, stderr: "" });
    const steps = made([...victims, survivor]);
    expect(new Set(steps).size).toBe(steps.length);
    const last = Number(readFileSync(path, "utf8"));
    expect(last).toBeGreaterThanOrEqual(Math.max(...steps));
    // A step may have been made and its maker killed before it could say so.
    expect(last).toBeLessThanOrEqual(steps.length + victims.length);
    ageEmptyClaims();
    await commit("end");
    expectNothingLeft();
  });
});

describe("a lock whose holder", () => {
  const found = (waitMs: number): Promise<string> =>
    withFileLock(path, { lockDirectory, waitMs }, (lock) => Promise.resolve(lock.found));

  test("was killed goes to the next at once", async () => {
    verifies("EDIT-6");
    const holder = second.worker("hold", { path, lockDirectory });
    await holder.said("held");
    const waiting = found(60_000);
    await vi.waitUntil(() => readdirSync(lockDirectory).length === 2, 30_000);
    holder.child.kill("SIGKILL");
    expect(await waiting).toBe("abandoned");
    expect(readdirSync(lockDirectory)).toEqual([]);
  });

  test("is stopped, but alive, stays with it", async () => {
    const holder = second.worker("hold", { path, lockDirectory });
    await holder.said("held");
    holder.child.kill("SIGSTOP");
    await expect(found(50)).rejects.toMatchObject({ error: { code: "file_busy" } });
    holder.child.kill("SIGKILL");
    await holder.ended;
    expect(await found(10_000)).toBe("abandoned");
  });
});

test("a writer killed at any moment leaves the whole old file or the whole new one", async () => {
  verifies("CODE-4");
  const size = 2_000_000;
  writeFileSync(path, "a".repeat(size), { mode: 0o640 });
  let leftovers = 0;
  for (let kill = 0; kill < KILLS || (leftovers === 0 && kill < 50); kill += 1) {
    const writer = second.worker("churn", { path, lockDirectory, size });
    await writer.said("churning");
    await vi.waitUntil(() => readdirSync(project).length > 1, { interval: 0, timeout: 30_000 });
    writer.child.kill("SIGKILL");
    await writer.ended;
    const text = readFileSync(path, "utf8");
    expect(text.length).toBe(size);
    expect(text).toBe(text.charAt(0).repeat(size));
    leftovers += readdirSync(project).length - 1;
  }
  // Killed beside its temporary file at least once, and yet: the next commit cleans up.
  expect(leftovers).toBeGreaterThan(0);
  ageEmptyClaims();
  await commit("end");
  expectNothingLeft();
});

test("what a killed writer left is cleared by the next runtime, though no one writes there again", async () => {
  verifies("CODE-4");
  const holder = second.worker("hold", { path, lockDirectory });
  await holder.said("held");
  const left = join(project, temporaryName(basename(path)));
  const others = join(project, temporaryName("another"));
  for (const file of [left, others]) writeFileSync(file, "half");
  // It is alive: the file may be the one it writes.
  await clearAbandonedWrites(lockDirectory);
  expect(existsSync(left)).toBe(true);
  holder.child.kill("SIGKILL");
  await holder.ended;
  await clearAbandonedWrites(lockDirectory);
  expect([existsSync(left), existsSync(others)]).toEqual([false, true]);
  expect(readdirSync(lockDirectory)).toEqual([]);
});

test("a disk that takes no more leaves the old file, and no other", async () => {
  verifies("CODE-4");
  writeFileSync(path, "old");
  const options = { path, lockDirectory, text: "x".repeat(100_000), expected: sha256("old") };
  const writer = second.worker("commit", options, { limitFileBlocks: 20 });
  expect(await writer.ended).toMatchObject({ status: 0 });
  expect(writer.lines).toEqual([{ code: "io_error" }]);
  expect(readFileSync(path, "utf8")).toBe("old");
  expectNothingLeft();
});

test("a file that its user may not write is refused, even if the directory would let it", async () => {
  writeFileSync(path, "old");
  chmodSync(project, 0o777);
  chmodSync(path, isRoot ? 0o644 : 0o464);
  const options = { path, lockDirectory, text: "new", expected: sha256("old") };
  const user = isRoot ? { uid: ORDINARY_USER, gid: ORDINARY_USER } : {};
  const writer = second.worker("commit", options, user);
  expect(await writer.ended).toMatchObject({ status: 0, stderr: "" });
  expect(writer.lines).toEqual([{ code: "access_denied" }]);
  expect(readFileSync(path, "utf8")).toBe("old");
  expectNothingLeft();
});

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
