// What the config says of keeping sessions, kept to without being asked (ART-4): at the end of whatever used the store,
// once a day for a home, and not for long. Each session that goes leaves its tombstone.

import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Retention, RetentionReport, Store } from "@soong/store";
import type { SoongConfig } from "../config/index.ts";

export interface RetentionParts {
  readonly store: Store;
  readonly home: string;
  readonly values: SoongConfig;
  /** Sessions of this process: they stay, whatever their size. */
  readonly used: readonly string[];
  readonly now?: number;
}

/** A sentence about what went; undefined when nothing did. Never throws. */
export async function keepRetention(parts: RetentionParts): Promise<string | undefined> {
  const retention = retentionOf(parts.values);
  if (retention === undefined) return undefined;
  const { home, now = Date.now() } = parts;
  const stamp = join(home, "store", "retention.json");
  try {
    if (await isDone(stamp, retention, now)) return undefined;
    const mark: Mark = { applied_at: new Date(now).toISOString(), ...retention };
    // Before the work: another process that ends now has nothing to do.
    await writeFile(stamp, `${JSON.stringify(mark)}\n`, { mode: 0o600 });
    const report = await inTime(apply(parts, retention));
    if (report !== undefined) return describe(report);
    await rm(stamp, { force: true });
    return "Removing old sessions, as store.retention of the config says, took too long; the next run goes on with it.";
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `Sessions could not be removed as store.retention of the config says: ${reason}`;
  }
}

type Mark = Retention & { readonly applied_at: string };

const DAY_MS = 24 * 60 * 60 * 1000;
/** What is left over when it ends is written down in the store, and goes the next time. */
const LONGEST_MS = 1000;

function retentionOf({ store }: SoongConfig): Retention | undefined {
  const { max_age_days, max_bytes } = store.retention;
  if (max_age_days === undefined && max_bytes === undefined) return undefined;
  return {
    ...(max_age_days === undefined ? {} : { max_age_days }),
    ...(max_bytes === undefined ? {} : { max_bytes }),
  };
}

/** Done today, and as the config says it now. */
async function isDone(stamp: string, retention: Retention, now: number): Promise<boolean> {
  const text = await readFile(stamp, "utf8").catch(() => "");
  let mark: Partial<Mark> | null = null;
  try {
    mark = JSON.parse(text) as Partial<Mark> | null;
  } catch {
    // None yet, or nothing that could be read.
  }
  const age = now - Date.parse(mark?.applied_at ?? "");
  const isSame =
    mark?.max_age_days === retention.max_age_days && mark?.max_bytes === retention.max_bytes;
  return isSame && age >= 0 && age < DAY_MS;
}

/** What this process has just used is held meanwhile: nothing that is held goes. */
async function apply(
  { store, used }: RetentionParts,
  retention: Retention,
): Promise<RetentionReport> {
  const held = await Promise.allSettled(used.map((id) => store.openSession(id)));
  try {
    return await store.applyRetention(retention);
  } finally {
    for (const session of held) if (session.status === "fulfilled") await session.value.close();
  }
}

async function inTime<T>(work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), LONGEST_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    // It ends with the store, and nobody hears of it then.
    work.catch(() => {});
  }
}

function describe({ removed }: RetentionReport): string | undefined {
  if (removed.length === 0) return undefined;
  const what = removed.length === 1 ? "1 session was" : `${removed.length} sessions were`;
  const reasons = [...new Set(removed.map(({ reason = "" }) => reason))].join(", and ");
  return `${what} removed, as store.retention of the config says: ${reasons}.`;
}
