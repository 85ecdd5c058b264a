// One at a time, among all processes of the user: a file beside the one to be changed, made by whoever holds
// the lock and removed afterwards. One left behind by a process that is gone is taken over.

import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** Longer than any work done under a lock takes: its holder is gone or hangs, whoever has its number now. */
const ABANDONED_MS = 120_000;
const PATIENCE_MS = 150_000;
const POLL_MS = 25;

interface Holder {
  readonly pid: number;
  readonly key: string;
}

const turns = new Map<string, Promise<void>>();

/** Rejects as `work` does, when the signal fires, or when somebody holds the lock for too long. */
export async function withFileLock<T>(
  path: string,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  // Within this process without a file in between.
  const before = turns.get(path) ?? Promise.resolve();
  const done = before.then(() => locked(path, work, signal));
  const turn = done.then(
    () => {},
    () => {},
  );
  turns.set(path, turn);
  try {
    return await done;
  } finally {
    if (turns.get(path) === turn) turns.delete(path);
  }
}

async function locked<T>(
  path: string,
  work: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const lock = `${path}.lock`;
  const own: Holder = { pid: process.pid, key: randomUUID() };
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (!(await take(lock, own))) {
    signal?.throwIfAborted();
    if (performance.now() > giveUpAt) {
      throw new Error(`${lock} is held by another process for too long. If none runs, delete it`);
    }
    await delay(
      POLL_MS + Math.random() * POLL_MS,
      undefined,
      signal === undefined ? {} : { signal },
    );
  }
  try {
    return await work();
  } finally {
    const { holder } = await look(lock);
    if (holder?.key === own.key) await rm(lock, { force: true });
  }
}

async function take(lock: string, own: Holder): Promise<boolean> {
  // Made elsewhere and linked: nobody ever sees a lock without its holder.
  const made = `${lock}.${own.key}`;
  try {
    await writeFile(made, JSON.stringify(own), { flag: "wx", mode: 0o600 });
    await link(made, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await rm(made, { force: true });
  }
  const seen = await look(lock);
  if (seen.isAbandoned) await remove(lock, seen.holder);
  return false;
}

/** Only the one that was judged: another may have been made since, and that one is put back. */
async function remove(lock: string, judged: Holder | undefined): Promise<void> {
  const aside = `${lock}.${randomUUID()}`;
  try {
    await rename(lock, aside);
    const { holder } = await look(aside);
    if (holder?.key !== judged?.key) await link(aside, lock).catch(() => {});
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

async function look(lock: string): Promise<{ holder: Holder | undefined; isAbandoned: boolean }> {
  try {
    const { mtimeMs } = await stat(lock);
    const holder = readHolder(await readFile(lock, "utf8"));
    const isOld = Date.now() - mtimeMs > ABANDONED_MS;
    return { holder, isAbandoned: isOld || (holder !== undefined && !isRunning(holder.pid)) };
  } catch {
    return { holder: undefined, isAbandoned: false };
  }
}

function readHolder(text: string): Holder | undefined {
  try {
    const { pid, key } = JSON.parse(text) as Partial<Holder>;
    return typeof pid === "number" && typeof key === "string" ? { pid, key } : undefined;
  } catch {
    return undefined;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
