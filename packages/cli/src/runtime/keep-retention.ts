// What the config says of keeping sessions, applied automatically (ART-4): at the end of a command that used the store,
// once a day for a home, and not for long. Each session that goes leaves its tombstone.

import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { omitUndefined } from "@soong/schema";
import { inTime } from "@soong/platform";
import type { Retention, RetentionReport, Store } from "@soong/store";
import type { SoongConfig } from "../config/index.ts";

export interface RetentionParts {
  readonly store: Store;
  readonly home: string;
  readonly values: SoongConfig;
  /** Sessions of this process: they stay, at any size. */
  readonly used: readonly string[];
  readonly now?: number;
}

/** A sentence about what went; undefined when nothing did. Never throws. */
export async function keepRetention(parts: RetentionParts): Promise<string | undefined> {
  const retention = readRetention(parts.values);
  if (retention === undefined) return undefined;
  const { home } = parts;
  const today = parts.now ?? Date.now();
  const stamp = join(home, "store", "retention.json");
  try {
    const last = await readMark(stamp);
    if (isDone(last, retention, today)) return undefined;
    // A store that machines share has one clock: that of this machine must not decide for all.
    const offsetMs = (await parts.store.cluster?.clockOffsetMs()) ?? 0;
    const now = today - offsetMs;
    const asOf = await believedTime(parts, last, now);
    const mark: Mark = {
      applied_at: new Date(today).toISOString(),
      as_of: new Date(asOf).toISOString(),
      ...retention,
    };
    // Before the work: another process that ends now has nothing to do.
    // With a database elsewhere, nothing else has made the folder.
    await mkdir(dirname(stamp), { recursive: true, mode: 0o700 });
    await writeFile(stamp, `${JSON.stringify(mark)}\n`, { mode: 0o600 });
    const applied = await inTime(apply(parts, { ...retention, now: asOf }), { ms: LONGEST_MS });
    const isCut = asOf < now && (await hasOlder(parts.store, retention, now));
    const doubt = isCut ? doubtful(asOf, now) : undefined;
    if (applied.kind === "done") {
      const said = [describe(applied.value), doubt].filter((text) => text !== undefined);
      return said.length === 0 ? undefined : said.join(" ");
    }
    await rm(stamp, { force: true });
    return "Removing old sessions, as store.retention of the config says, took too long; the next run continues it.";
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `Sessions could not be removed as store.retention of the config says: ${reason}`;
  }
}

type Mark = Omit<Retention, "now"> & { readonly applied_at: string; readonly as_of?: string };

const DAY_MS = 24 * 60 * 60 * 1000;
const LONGEST_STEP_MS = 7 * DAY_MS;
/** What is left over when it ends is written down in the store, and goes the next time. */
const LONGEST_MS = 1000;

function readRetention({ store }: SoongConfig): Retention | undefined {
  const { max_age_days, max_bytes } = store.retention;
  if (max_age_days === undefined && max_bytes === undefined) return undefined;
  return {
    ...omitUndefined({ max_age_days, max_bytes }),
  };
}

async function readMark(stamp: string): Promise<Partial<Mark> | undefined> {
  try {
    return (JSON.parse(await readFile(stamp, "utf8")) as Partial<Mark> | null) ?? undefined;
  } catch {
    // None yet, or nothing that could be read.
    return undefined;
  }
}

/**
 * A clock that jumped must not remove everything: from one time to the next the time that ages are measured by moves on
 * by a week at most, counted from the last time or, before there was one, from the last use by another process.
 */
async function believedTime(
  { store, used }: RetentionParts,
  mark: Partial<Mark> | undefined,
  now: number,
): Promise<number> {
  let last = Date.parse(mark?.as_of ?? mark?.applied_at ?? "");
  if (Number.isNaN(last)) {
    const sessions = await store.sessions({ limit: used.length + 1 });
    const other = sessions.find(({ session_id }) => !used.includes(session_id));
    last = Date.parse(other?.updated_at ?? "");
  }
  return Number.isNaN(last) || last > now ? now : Math.min(now, last + LONGEST_STEP_MS);
}

/** Whether a session is left that is too old by the clock. */
async function hasOlder(store: Store, { max_age_days }: Retention, now: number): Promise<boolean> {
  if (max_age_days === undefined) return false;
  const updated_at = new Date(Math.max(0, now - max_age_days * DAY_MS)).toISOString();
  return (await store.sessions({ limit: 1, after: { updated_at, session_id: "" } })).length > 0;
}

function doubtful(asOf: number, now: number): string {
  const day = (time: number): string => new Date(time).toISOString().slice(0, 10);
  return `It is ${day(now)} by the clock of this machine, long after this home was last used, so the age of sessions was counted to ${day(asOf)} only. If the clock is right, \`soong sessions rm --older-than\` removes the rest.`;
}

/** Done today, and as the config says it now. */
function isDone(mark: Partial<Mark> | undefined, retention: Retention, now: number): boolean {
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

function describe({ removed }: RetentionReport): string | undefined {
  if (removed.length === 0) return undefined;
  const what = removed.length === 1 ? "1 session was" : `${removed.length} sessions were`;
  const reasons = [...new Set(removed.map(({ reason = "" }) => reason))].join(", and ");
  return `${what} removed, as store.retention of the config says: ${reasons}.`;
}
