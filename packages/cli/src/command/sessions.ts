// `soong sessions`: what is kept, last used first; and `soong sessions rm`, which leaves a tombstone (ART-4).

import { describeUsage, type UsageTotal } from "@soong/agent";
import type { SessionRecord, Store, StoreError, Tombstone } from "@soong/store";
import { EXIT, fit, UsageError, visibleLine, type Output } from "../output/index.ts";
import type { CommandContext } from "./context.ts";
import { usageOfSession } from "./kept-usage.ts";
import { nothingKept, readingStore, writingStore } from "./kept.ts";

const PAGE = 200;

export async function sessionsCommand(
  context: CommandContext,
  { json = false }: { readonly json?: boolean },
): Promise<number> {
  const { output } = context;
  return readingStore(
    context,
    async (store) => {
      let count = 0;
      for await (const record of everySession(store)) {
        if (output.isClosed) return EXIT.ok;
        const usage = await usageIfThere(store, record.session_id);
        if (usage === undefined) continue;
        if (json) output.record("soong.sessions/1", { ...record, usage });
        else showSession(output, record, describeUsage(usage));
        count += 1;
        if (count % PAGE === 0) await output.drained();
      }
      if (count === 0) sayNone(output);
      return EXIT.ok;
    },
    () => {
      sayNone(output);
      return EXIT.ok;
    },
  );
}

/** Undefined when it was removed since it was listed. */
async function usageIfThere(store: Store, session_id: string): Promise<UsageTotal | undefined> {
  try {
    return await usageOfSession(await store.readSession(session_id));
  } catch (error) {
    const { code } = error as Partial<StoreError>;
    if (code === "session_unknown" || code === "session_removed") return undefined;
    throw error;
  }
}

/** Last used first, page by page. */
export async function* everySession(store: Store): AsyncGenerator<SessionRecord> {
  let after: SessionRecord | undefined;
  for (;;) {
    const page = await store.sessions({ limit: PAGE, after });
    yield* page;
    after = page.at(-1);
    if (page.length < PAGE) return;
  }
}

export interface SessionsRmOptions {
  readonly json?: boolean;
  readonly olderThan?: string;
  readonly keepBytes?: string;
}

export async function sessionsRmCommand(
  context: CommandContext,
  ids: readonly string[],
  { json = false, olderThan, keepBytes }: SessionsRmOptions,
): Promise<number> {
  if (ids.length === 0 && olderThan === undefined && keepBytes === undefined) {
    throw new UsageError(
      "Say which sessions go: their ids, --older-than 90d, or --keep-bytes N. `soong sessions` lists them.",
    );
  }
  const retention = {
    ...(olderThan === undefined ? {} : { max_age_days: daysOf(olderThan) }),
    ...(keepBytes === undefined ? {} : { max_bytes: bytesOf(keepBytes) }),
  };
  const isKept = await readingStore(
    context,
    () => Promise.resolve(true),
    () => false,
  );
  if (!isKept) {
    if (ids.length > 0) nothingKept(`session ${ids.join(", ")}`);
    return EXIT.ok;
  }
  const { output } = context;
  return writingStore(context, async (store) => {
    for (const id of ids) removed(output, await store.removeSession(id, "soong sessions rm"), json);
    if (Object.keys(retention).length === 0) return EXIT.ok;
    const report = await store.applyRetention(retention);
    for (const tombstone of report.removed) removed(output, tombstone, json);
    for (const id of report.held) {
      output.note(`Session ${visibleLine(id)} should go and is in use; it stays.`);
    }
    if (!json)
      output.line(`${report.removed.length} removed; the rest takes ${report.bytes} bytes.`);
    return EXIT.ok;
  });
}

function removed(output: Output, tombstone: Tombstone, json: boolean): void {
  if (json) output.record("soong.sessions_rm/1", tombstone);
  else output.line(`removed ${visibleLine(tombstone.session_id)}`);
}

function showSession(output: Output, record: SessionRecord, used: string): void {
  const { bold, dim } = output.colours;
  const { session_id, updated_at, last_seq, title = "", project = "" } = record;
  output.line(`${bold(visibleLine(session_id))}  ${updated_at}  ${last_seq} facts`);
  const about = [title, project].filter((text) => text !== "").map(visibleLine);
  for (const text of [about.join("  "), used]) {
    if (text !== "") output.line(dim(`    ${fit(text, output.width - 4)}`));
  }
}

function sayNone(output: Output): void {
  output.note("No sessions are kept yet; `soong call` makes one.");
}

const DAYS: Readonly<Record<string, number>> = { h: 1 / 24, d: 1, w: 7 };

function daysOf(text: string): number {
  const [, count, unit = ""] = /^(\d+(?:\.\d+)?)([hdw])$/.exec(text) ?? [];
  const days = DAYS[unit];
  if (count === undefined || days === undefined) {
    throw new UsageError(
      `--older-than takes a number of hours, days or weeks, such as 12h, 90d or 4w; not ${visibleLine(text)}.`,
    );
  }
  return Number(count) * days;
}

function bytesOf(text: string): number {
  const bytes = /^\d+(e\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(bytes)) return bytes;
  throw new UsageError(
    `--keep-bytes takes a number of bytes, such as 5000000000 or 5e9; not ${visibleLine(text)}.`,
  );
}
