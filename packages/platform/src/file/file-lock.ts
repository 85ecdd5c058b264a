// One writer of a file at a time, among all processes of this user on this machine (EDIT-6): waiters of
// this process queue in order, and the first of them contends for the lock file on disk. The lock does
// not nest: work that locks the same path again waits for itself until it gives up.

import { createHash } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { ToolFailure } from "@soong/core";
import { lockFailure, prepareLockDirectory } from "./lock-directory.ts";
import { type HeldLock, claimLock, readLock } from "./lock-file.ts";

export interface FileLockOptions {
  /** Default: the lock is beside the file, in a folder where only this user writes. */
  lockDirectory?: string;
  signal?: AbortSignal | undefined;
  /** How long to wait for the others before giving up with file_busy. */
  waitMs?: number;
}

/** Runs `work` while holding the lock of the canonical `path`. */
export async function withFileLock<Result>(
  path: string,
  options: FileLockOptions,
  work: (lock: HeldLock) => Promise<Result>,
): Promise<Result> {
  const { signal } = options;
  // Folded, so that a disk that ignores case has one lock a file; on others two names share one.
  const folded = path.normalize("NFC").toLowerCase();
  const lockPath =
    options.lockDirectory === undefined
      ? `${path}.lock`
      : join(options.lockDirectory, `${createHash("sha256").update(folded).digest("hex")}.lock`);
  const lockDirectory = dirname(lockPath);
  // The timer only bounds the wait: it is over before the work begins.
  const giveUp = new AbortController();
  const timer = setTimeout(() => giveUp.abort(), options.waitMs ?? WAIT_MS);
  const waiting = AbortSignal.any([giveUp.signal, ...(signal === undefined ? [] : [signal])]);
  let leave: (() => void) | undefined;
  let lock: HeldLock | undefined;
  try {
    try {
      leave = await queueFor(lockPath, waiting);
      if (options.lockDirectory === undefined) {
        await mkdir(lockDirectory, { recursive: true, mode: 0o700 });
      } else {
        await prepareLockDirectory(lockDirectory);
      }
      await sweepClaims(lockDirectory);
      lock = await contend(lockPath, path, waiting);
    } catch (error) {
      signal?.throwIfAborted();
      throw giveUp.signal.aborted ? fileBusy(path, lockPath) : lockFailure(error, lockDirectory);
    } finally {
      clearTimeout(timer);
    }
    return await work(lock);
  } finally {
    // The work is done even if the lock file remains: one that cannot be removed makes the next
    // one who wants it wait and then say where it is.
    await lock?.release().catch(() => undefined);
    leave?.();
  }
}

const WAIT_MS = 10_000;
const LONGEST_PAUSE_MS = 20;

async function contend(lockPath: string, path: string, signal: AbortSignal): Promise<HeldLock> {
  const claim = await claimLock(lockPath, path);
  try {
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      signal.throwIfAborted();
      const lock = await claim.attempt();
      if (lock !== undefined) return lock;
      // Spread out, so that those who wait do not all come back at the same moment.
      await delay(pauseMs * (0.5 + Math.random()), undefined, { signal });
    }
  } catch (error) {
    await claim.withdraw();
    throw error;
  }
}

function fileBusy(path: string, lock: string): ToolFailure {
  return new ToolFailure({
    code: "file_busy",
    message: `Another process of this user keeps writing ${JSON.stringify(path)} (its lock is ${JSON.stringify(lock)}). Try again shortly.`,
    recovery: "retry_after_delay",
    retryable: true,
    details: { path, lock },
  });
}

/** Removes the claims that killed waiters left in a lock directory: once a process, that is enough. */
async function sweepClaims(lockDirectory: string): Promise<void> {
  if (SWEPT.has(lockDirectory)) return;
  SWEPT.add(lockDirectory);
  for (const name of await readdir(lockDirectory)) {
    if (!/^\.[0-9a-f]{32}\.claim$/.test(name)) continue;
    const claimPath = join(lockDirectory, name);
    const claim = await readLock(claimPath);
    if (claim !== undefined && (await claim.isAbandoned())) await rm(claimPath, { force: true });
  }
}

const SWEPT = new Set<string>();

/** First come, first served. Resolves when it is this caller's turn, with the function that ends the turn. */
async function queueFor(key: string, signal: AbortSignal): Promise<() => void> {
  signal.throwIfAborted();
  const line = LINES.get(key);
  if (line === undefined) LINES.set(key, []);
  else {
    await new Promise<void>((resolve, reject) => {
      const called = (): void => {
        signal.removeEventListener("abort", stepOut);
        resolve();
      };
      const stepOut = (): void => {
        line.splice(line.indexOf(called), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener("abort", stepOut, { once: true });
      line.push(called);
    });
  }
  return () => {
    const next = LINES.get(key)?.shift();
    if (next === undefined) LINES.delete(key);
    else next();
  };
}

/** A key is there while someone has the turn; its value are those who wait behind. */
const LINES = new Map<string, (() => void)[]>();
