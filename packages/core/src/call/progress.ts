// Progress of one call (SCHED-7): at once while there is little of it, merged when there is a flood, so
// that neither a reader waits nor a generator that yields for ever fills the journal.

import type { FactData, Redactor } from "../journal/index.ts";
import { redactedPreview } from "../result/index.ts";
import type { JsonValue } from "@soong/schema";
import type { ProgressUpdate } from "../tool/index.ts";
import type { Call } from "./call.ts";
import type { RunBase } from "./host.ts";

const AT_ONCE = 100;
const AFTERWARDS_EVERY_MS = 200;
const MAX_MESSAGE_CHARS = 2000;

export interface Progress {
  report(update: ProgressUpdate): void;
  /** Records what was held back. */
  close(): void;
}

export function createProgress(host: RunBase, call: Call): Progress {
  let recorded = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  let held: { update: ProgressUpdate; merged: number } | undefined;

  return {
    report(update) {
      const now = host.clock.monotonic();
      if (recorded < AT_ONCE || now - lastAt >= AFTERWARDS_EVERY_MS) {
        write(update, held?.merged ?? 0, now);
      } else {
        held = { update, merged: (held?.merged ?? 0) + 1 };
      }
    },
    close() {
      if (held !== undefined) write(held.update, held.merged - 1, host.clock.monotonic());
    },
  };

  function write(update: ProgressUpdate, merged: number, now: number): void {
    recorded += 1;
    lastAt = now;
    held = undefined;
    const data = readUpdate(host.redactor, update);
    if (merged > 0) data.merged = merged;
    host.recorder.record("tool.progress", data, call);
  }
}

/** Only what is known and sane: the update comes from a handler. */
function readUpdate(redactor: Redactor, update: ProgressUpdate): FactData<"tool.progress"> {
  const data: FactData<"tool.progress"> = {};
  const { message, progress, total } = update;
  if (typeof message === "string") {
    data.message = redactedPreview(redactor, message, MAX_MESSAGE_CHARS);
  }
  if (Number.isFinite(progress)) data.progress = progress as number;
  if (Number.isFinite(total)) data.total = total as number;
  if (update.data !== undefined) {
    try {
      const text = JSON.stringify(update.data);
      if (text !== undefined && text.length <= 8 * MAX_MESSAGE_CHARS)
        data.data = JSON.parse(text) as JsonValue;
    } catch {
      // Progress that is not JSON tells nobody anything.
    }
  }
  return data;
}
