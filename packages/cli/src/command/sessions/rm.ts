// `soong sessions rm`: removes sessions with all they hold; a tombstone stays (ART-4).

import type { Tombstone } from "@soong/store";
import { EXIT, UsageError, visibleLine, type Output } from "../../output/index.ts";
import type { CommandContext } from "../context.ts";
import { refuseNothingStored, withReadOnlyStore, withStore } from "../stored.ts";
import { argument, JSON_OPTION, option, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "rm",
  summary: "remove sessions with all they hold; a tombstone stays",
  arguments: [argument("[id...]", "their ids")],
  options: [
    option("--older-than <age>", "also those not used for this long: 12h, 90d, 4w"),
    option("--keep-bytes <n>", "also the oldest, until the rest is within so many bytes"),
    JSON_OPTION,
  ],
  examples: [
    "soong sessions rm session_0abc",
    "soong sessions rm --older-than 90d --keep-bytes 5e9",
  ],
  run: removeSessions,
};

interface SessionsRmOptions {
  readonly json?: boolean;
  readonly olderThan?: string;
  readonly keepBytes?: string;
}

async function removeSessions(
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
    ...(olderThan === undefined ? {} : { max_age_days: parseDays(olderThan) }),
    ...(keepBytes === undefined ? {} : { max_bytes: parseBytes(keepBytes) }),
  };
  const isKept = await withReadOnlyStore(
    context,
    () => Promise.resolve(true),
    () => false,
  );
  if (!isKept) {
    if (ids.length > 0) refuseNothingStored(`session ${ids.join(", ")}`);
    return EXIT.ok;
  }
  const { output } = context;
  return withStore(context, async (store) => {
    for (const id of ids)
      reportRemoved(output, await store.removeSession(id, "soong sessions rm"), json);
    if (Object.keys(retention).length === 0) return EXIT.ok;
    const report = await store.applyRetention(retention);
    for (const tombstone of report.removed) reportRemoved(output, tombstone, json);
    for (const id of report.held) {
      output.note(`Session ${visibleLine(id)} should go and is in use; it stays.`);
    }
    if (!json)
      output.line(`${report.removed.length} removed; the rest takes ${report.bytes} bytes.`);
    return EXIT.ok;
  });
}

function reportRemoved(output: Output, tombstone: Tombstone, json: boolean): void {
  if (json) output.record("soong.sessions_rm/1", tombstone);
  else output.line(`removed ${visibleLine(tombstone.session_id)}`);
}

const DAYS: Readonly<Record<string, number>> = { h: 1 / 24, d: 1, w: 7 };

function parseDays(text: string): number {
  const [, count, unit = ""] = /^(\d+(?:\.\d+)?)([hdw])$/.exec(text) ?? [];
  const days = DAYS[unit];
  if (count === undefined || days === undefined) {
    throw new UsageError(
      `--older-than takes a number of hours, days or weeks, such as 12h, 90d or 4w; not ${visibleLine(text)}.`,
    );
  }
  return Number(count) * days;
}

function parseBytes(text: string): number {
  const bytes = /^\d+(e\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(bytes)) return bytes;
  throw new UsageError(
    `--keep-bytes takes a number of bytes, such as 5000000000 or 5e9; not ${visibleLine(text)}.`,
  );
}
