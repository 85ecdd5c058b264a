import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withFileLock } from "./file-lock.ts";
import { thisHolder } from "./lock-holder.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "soong-lock-"));
  path = join(folder, "deep", "file.json");
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** A process that was there and is not any more. */
async function goneProcess(): Promise<number> {
  const child = spawn(process.execPath, ["-e", ""], { stdio: "ignore" });
  await once(child, "exit");
  return child.pid!;
}

async function lockOf(holder: unknown): Promise<void> {
  await withFileLock(path, {}, async () => {});
  await writeFile(`${path}.lock`, typeof holder === "string" ? holder : JSON.stringify(holder));
}

test("work under one lock is done one after the other, and nothing is left", async () => {
  const events: string[] = [];
  const work = (name: string) => () =>
    new Promise<string>((resolve) => {
      events.push(`${name} begins`);
      setImmediate(() => {
        events.push(`${name} ends`);
        resolve(name);
      });
    });
  const all = ["a", "b", "c"].map((name) => withFileLock(path, {}, work(name)));
  expect(await Promise.all(all)).toEqual(["a", "b", "c"]);
  expect(events).toEqual(["a", "b", "c"].flatMap((name) => [`${name} begins`, `${name} ends`]));
  expect(await readdir(join(folder, "deep"))).toEqual([]);
});

test("work that fails frees the lock", async () => {
  await expect(withFileLock(path, {}, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await withFileLock(path, {}, () => Promise.resolve(1))).toBe(1);
});

test("what a process left behind that is gone is taken over", async () => {
  await lockOf({ ...thisHolder(), pid: await goneProcess() });
  expect(await withFileLock(path, {}, () => Promise.resolve(1))).toBe(1);
  expect(await readdir(join(folder, "deep"))).toEqual([]);
});

test("so is one of an older version, or that no one can read, once it is old", async () => {
  const longAgo = new Date(Date.now() - 10 * 60_000);
  for (const holder of [{ pid: process.pid, key: "old" }, "{", ""]) {
    await lockOf(holder);
    await utimes(`${path}.lock`, longAgo, longAgo);
    expect(await withFileLock(path, {}, () => Promise.resolve(1))).toBe(1);
  }
});

test("one that is held is waited for, until the signal fires", async () => {
  await lockOf({ pid: process.pid, key: "other" });
  const stop = new AbortController();
  let isDone = false;
  const waiting = withFileLock(path, { signal: stop.signal }, () => {
    isDone = true;
    return Promise.resolve();
  });
  stop.abort();
  await expect(waiting).rejects.toThrow("abort");
  expect(isDone).toBe(false);
  const next = withFileLock(path, {}, () => Promise.resolve(1));
  await rm(`${path}.lock`);
  expect(await next).toBe(1);
});
