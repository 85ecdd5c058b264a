// A server's log without the secrets it was given (REDACT-3). Redacted line by line: half a secret is not recognised.

import type { Redactor } from "@soong/core";
import { openBoundedLog, type BoundedLog } from "./bounded-log.ts";

/** A longer line is written in pieces. */
const MAX_LINE_BYTES = 64 * 1024;

export function openRedactedLog(file: string, redactor: Redactor | undefined): BoundedLog {
  const log = openBoundedLog(file);
  if (redactor === undefined) return log;
  let pending: Buffer = Buffer.alloc(0);

  function write(bytes: Buffer): void {
    if (bytes.length === 0) return;
    const text = bytes.toString("utf8");
    const redacted = redactor?.text(text) ?? text;
    // What is no text stays as it is where there is nothing to hide.
    log.append(redacted === text ? bytes : Buffer.from(redacted));
  }

  return {
    append(bytes) {
      pending = Buffer.concat([pending, bytes]);
      const end = pending.lastIndexOf(10) + 1;
      const ready = end > 0 ? end : pending.length > MAX_LINE_BYTES ? pending.length : 0;
      write(pending.subarray(0, ready));
      pending = pending.subarray(ready);
    },
    close() {
      write(pending);
      pending = Buffer.alloc(0);
      return log.close();
    },
  };
}
