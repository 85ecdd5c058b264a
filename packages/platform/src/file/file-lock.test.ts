import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { ToolFailure } from "@soong/core";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { verifies } from "#laws";

import { withFileLock } from "./file-lock.ts";
import { claimLock } from "./lock-file.ts";
import { type LockHolder, thisHolder } from "./lock-holder.ts";

let top: string;
let lockDirectory: string;

beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "soong-lock-")));
  lockDirectory = join(top, "home/locks");
});

afterEach(() => {
  vi.useRealTimers();
  rmSync(top, { recursive: true });
});

const PATH = "/somewhere/a.txt";

function locked<Result>(work: () => Promise<Result>, options: object = {}): Promise<Result> {
  return withFileLock(PATH, { lockDirectory, ...options }, work);
}

/** The path of the lock file, found out by holding it. */
async function lockPath(): Promise<string> {
  return locked(() => {
    const names = readdirSync(lockDirectory);
    expect(names).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.lock$/)]);
    return Promise.resolve(join(lockDirectory, names[0]!));
  });
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(ToolFailure);
  return (error as ToolFailure).error.code;
}

describe("within one process", () => {
  test("one at a time, in the order they came, and nothing is left of it", async () => {
    verifies("EDIT-6");
    const seen: number[] = [];
    let inside = 0;
    const each = Array.from({ length: 30 }, (_, index) =>
      locked(async () => {
        inside += 1;
        expect(inside).toBe(1);
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
        seen.push(index);
        inside -= 1;
        return index;
      }),
    );
    expect(await Promise.all(each)).toEqual(seen);
    expect(seen).toEqual(Array.from({ length: 30 }, (_, index) => index));
    expect(readdirSync(lockDirectory)).toEqual([]);
  });

  test("other files do not wait", async () => {
    const inner = await locked(() =>
      withFileLock("/somewhere/b.txt", { lockDirectory, waitMs: 5000 }, () => Promise.resolve(1)),
    );
    expect(inner).toBe(1);
  });

  test("names that a disk may take for one share a lock", async () => {
    const inner = locked(() =>
      withFileLock("/Somewhere/A.TXT", { lockDirectory, waitMs: 20 }, () => Promise.resolve(1)),
    );
    expect(await codeOf(inner)).toBe("file_busy");
  });

  test("work that fails gives the lock back", async () => {
    await expect(locked(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await locked(() => Promise.resolve("yes"))).toBe("yes");
    expect(readdirSync(lockDirectory)).toEqual([]);
  });

  test("a waiter that gives up leaves the queue, and the others continue", async () => {
    const stop = new AbortController();
    const seen: string[] = [];
    let first: Promise<void> | undefined;
    const finish = await new Promise<() => void>((began) => {
      first = locked(() => new Promise<void>(began));
    });
    const second = locked(() => Promise.resolve(seen.push("second")), { signal: stop.signal });
    const third = locked(() => Promise.resolve(seen.push("third")));
    const impatient = locked(() => Promise.resolve(seen.push("never")), { waitMs: 10 });
    expect(await codeOf(impatient)).toBe("file_busy");
    stop.abort(new Error("stopped by hand"));
    await expect(second).rejects.toThrow("stopped by hand");
    finish();
    await Promise.all([first, third]);
    expect(seen).toEqual(["third"]);
  });

  test("an abort before the start does nothing at all", async () => {
    const signal = AbortSignal.abort(new Error("stopped by hand"));
    await expect(locked(() => Promise.resolve(), { signal })).rejects.toThrow("stopped by hand");
    expect(existsSync(lockDirectory)).toBe(false);
  });
});

describe("a lock that another process holds", () => {
  test("is waited for, and taken when it is given back", async () => {
    verifies("EDIT-6");
    const claim = await claimLock(await lockPath());
    const held = await claim.attempt();
    let done = false;
    const waiting = locked(() => Promise.resolve()).then(() => {
      done = true;
    });
    await vi.waitUntil(() => readdirSync(lockDirectory).length === 2);
    expect(done).toBe(false);
    await held?.release();
    await waiting;
    expect(readdirSync(lockDirectory)).toEqual([]);
  });

  test("is given up on, with the way to the lock in the message", async () => {
    const path = await lockPath();
    const held = await (await claimLock(path)).attempt();
    const error: unknown = await locked(() => Promise.resolve(), { waitMs: 30 }).catch(
      (error: unknown) => error,
    );
    expect((error as ToolFailure).error).toMatchObject({
      code: "file_busy",
      retryable: true,
      recovery: "retry_after_delay",
      details: { path: PATH, lock: path },
    });
    expect(held?.isHeld()).toBe(true);
    await held?.release();
    expect(readdirSync(lockDirectory)).toEqual([]);
  });

  test("is no longer waited for after an abort", async () => {
    const held = await (await claimLock(await lockPath())).attempt();
    const stop = new AbortController();
    const waiting = locked(() => Promise.resolve(), { signal: stop.signal });
    await vi.waitUntil(() => readdirSync(lockDirectory).length === 2);
    stop.abort(new Error("stopped by hand"));
    await expect(waiting).rejects.toThrow("stopped by hand");
    expect(readdirSync(lockDirectory).length).toBe(1);
    await held?.release();
  });

  test("shows a sign of life every five seconds", async () => {
    const path = await lockPath();
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const held = await (await claimLock(path)).attempt();
    utimesSync(path, 0, 0);
    vi.advanceTimersByTime(5_000);
    await vi.waitUntil(() => Date.now() - statSync(path).mtimeMs < 30_000);
    await held?.release();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("when it was lost to another is not taken from that one", async () => {
    const path = await lockPath();
    const held = await (await claimLock(path)).attempt();
    unlinkSync(path);
    expect(held?.isHeld()).toBe(false);
    writeFileSync(path, "another");
    expect(held?.isHeld()).toBe(false);
    await held?.release();
    expect(readFileSync(path, "utf8")).toBe("another");
  });
});

describe("an abandoned lock", () => {
  const dead = async (): Promise<LockHolder> => ({ ...thisHolder(), started: "1" });
  const foreignHolder = async (): Promise<LockHolder> => ({
    ...thisHolder(),
    pid_namespace: "pid:[1]",
  });

  async function plant(path: string, record: object | string, ageSeconds = 0): Promise<void> {
    writeFileSync(path, typeof record === "string" ? record : JSON.stringify(record));
    const time = Date.now() / 1000 - ageSeconds;
    utimesSync(path, time, time);
    return Promise.resolve();
  }

  /** No one waits long for what no one gives back; what is free is had however slow the machine. */
  const taken = (waitMs = 10_000): Promise<string> =>
    withFileLock(PATH, { lockDirectory, waitMs }, (lock) => Promise.resolve(lock.found));
  const isBusy = async (): Promise<boolean> => (await codeOf(taken(30))) === "file_busy";

  test("of a dead process is taken over at once", async () => {
    verifies("EDIT-6");
    await plant(await lockPath(), await dead());
    expect(await taken()).toBe("abandoned");
    expect(readdirSync(lockDirectory)).toEqual([]);
    expect(await taken()).toBe("free");
  });

  test("of an unknown holder is taken over only after 30 s of silence", async () => {
    const path = await lockPath();
    await plant(path, await foreignHolder(), 25);
    expect(await isBusy()).toBe(true);
    await plant(path, await foreignHolder(), 31);
    expect(await taken()).toBe("abandoned");
  });

  test("of a live process is never taken over, however old", async () => {
    const path = await lockPath();
    await plant(path, thisHolder(), 1_000_000);
    expect(await isBusy()).toBe(true);
    expect(existsSync(path)).toBe(true);
  });

  test.each(["", "{", "null", '{"pid":1}', "\0".repeat(300), "x".repeat(100_000)])(
    "with a record that cannot be read (%#) counts as foreign",
    async (record) => {
      const path = await lockPath();
      await plant(path, record, 25);
      expect(await isBusy()).toBe(true);
      await plant(path, record, 31);
      expect(await taken()).toBe("abandoned");
      expect(readdirSync(lockDirectory)).toEqual([]);
    },
  );

  test("is taken by exactly one of many who find it", async () => {
    verifies("EDIT-6");
    const path = await lockPath();
    for (let round = 0; round < 10; round += 1) {
      await plant(path, await dead());
      const claims = await Promise.all(Array.from({ length: 10 }, () => claimLock(path)));
      const attempts = await Promise.all(claims.map((claim) => claim.attempt()));
      const winners = attempts.filter((lock) => lock !== undefined);
      expect(winners.length).toBe(1);
      expect(winners[0]?.isHeld()).toBe(true);
      await winners[0]?.release();
      const losers = claims.filter((_, index) => attempts[index] === undefined);
      await Promise.all(losers.map((claim) => claim.withdraw()));
      expect(readdirSync(lockDirectory)).toEqual([]);
    }
  });

  test("whose breaker died, and that one's breaker too, is taken by exactly one", async () => {
    verifies("EDIT-6");
    const path = await lockPath();
    const [lock, guard, second] = [await dead(), await dead(), await dead()];
    await plant(path, lock);
    await plant(`${path}.${lock.nonce}`, guard);
    await plant(`${path}.${guard.nonce}`, second);
    const claims = await Promise.all(Array.from({ length: 5 }, () => claimLock(path)));
    const attempts = await Promise.all(claims.map((claim) => claim.attempt()));
    expect(attempts.filter((lock) => lock !== undefined).length).toBe(1);
    for (const [index, claim] of claims.entries()) {
      await (attempts[index]?.release() ?? claim.withdraw());
    }
    expect(readdirSync(lockDirectory)).toEqual([]);
  });

  test("that a live breaker is at work on is left to it", async () => {
    const path = await lockPath();
    const lock = await dead();
    await plant(path, lock);
    await plant(`${path}.${lock.nonce}`, thisHolder());
    expect(await isBusy()).toBe(true);
    expect(readFileSync(path, "utf8")).toBe(JSON.stringify(lock));
    expect(readdirSync(lockDirectory).length).toBe(2);
  });

  test("in the shape of a claim is swept, one of a live waiter is not", async () => {
    mkdirSync(lockDirectory, { recursive: true });
    const [gone, here] = [await dead(), thisHolder()];
    await plant(join(lockDirectory, `.${gone.nonce}.claim`), gone);
    await plant(join(lockDirectory, `.${here.nonce}.claim`), here);
    await plant(join(lockDirectory, "note.txt"), gone);
    await locked(() => Promise.resolve());
    expect(readdirSync(lockDirectory).toSorted()).toEqual([`.${here.nonce}.claim`, "note.txt"]);
  });
});

describe("the lock directory", () => {
  test("is made for us alone, and closed to others when it was open", async () => {
    await locked(() => Promise.resolve());
    expect(statSync(lockDirectory).mode & 0o777).toBe(0o700);
    expect(statSync(join(lockDirectory, "..")).mode & 0o777).toBe(0o700);
    chmodSync(lockDirectory, 0o777);
    await locked(() => Promise.resolve());
    expect(statSync(lockDirectory).mode & 0o777).toBe(0o700);
  });

  test("is refused when it is a link, a file, or can be replaced by others", async () => {
    mkdirSync(join(top, "elsewhere"));
    mkdirSync(join(top, "home"));
    symlinkSync(join(top, "elsewhere"), lockDirectory);
    expect(await codeOf(locked(() => Promise.resolve()))).toBe("lock_unavailable");
    expect(readdirSync(join(top, "elsewhere"))).toEqual([]);
    unlinkSync(lockDirectory);
    writeFileSync(lockDirectory, "");
    expect(await codeOf(locked(() => Promise.resolve()))).toBe("lock_unavailable");
    expect(lstatSync(lockDirectory).isFile()).toBe(true);
    unlinkSync(lockDirectory);
    chmodSync(join(top, "home"), 0o777);
    expect(await codeOf(locked(() => Promise.resolve()))).toBe("lock_unavailable");
    chmodSync(join(top, "home"), 0o1777);
    expect(await locked(() => Promise.resolve("fine"))).toBe("fine");
  });

  test("that cannot be made is said so, and the next one does not wait", async () => {
    writeFileSync(join(top, "home"), "");
    expect(await codeOf(locked(() => Promise.resolve()))).toBe("lock_unavailable");
    unlinkSync(join(top, "home"));
    expect(await locked(() => Promise.resolve("fine"))).toBe("fine");
  });
});
