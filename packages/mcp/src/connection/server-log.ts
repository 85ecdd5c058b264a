// The log of one server's standard error (MCP-8): its owner's alone, at most two files of a bounded size, without the
// secrets the server was given (REDACT-3). A log that cannot be written costs nothing but itself.

import {
  constants,
  createWriteStream,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  renameSync,
  type WriteStream,
} from "node:fs";
import { dirname } from "node:path";
import { finished } from "node:stream/promises";
import type { Redactor } from "@soong/core";

export interface BoundedLog {
  append(bytes: Buffer): void;
  /** Settles when everything appended is written. */
  close(): Promise<void>;
}

const MAX_BYTES = 1_000_000;
/** What may wait to be written; a server that floods its log loses lines, not our memory. */
const MAX_WAITING_BYTES = 1_000_000;

export function openBoundedLog(file: string, maxBytes = MAX_BYTES): BoundedLog {
  let size = 0;
  let waiting = 0;
  let ended: Promise<unknown> = Promise.resolve();
  let stream = open();

  return {
    append(given) {
      if (waiting + given.length > MAX_WAITING_BYTES) return;
      const bytes = given.subarray(0, maxBytes);
      if (size > 0 && size + bytes.length > maxBytes) startAgain();
      if (stream === undefined) return;
      size += bytes.length;
      waiting += bytes.length;
      stream.write(bytes, () => {
        waiting -= bytes.length;
      });
    },
    async close() {
      end();
      await ended;
    },
  };

  function open(): WriteStream | undefined {
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = constants;
      const fd = openSync(file, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
      fchmodSync(fd, 0o600);
      ({ size } = fstatSync(fd));
      return createWriteStream(file, { fd }).on("error", () => {});
    } catch {
      return undefined;
    }
  }

  function startAgain(): void {
    end();
    try {
      renameSync(file, `${file}.old`);
      stream = open();
    } catch {
      // Nothing more is logged.
    }
  }

  function end(): void {
    if (stream === undefined) return;
    ended = Promise.all([ended, finished(stream.end()).catch(() => {})]);
    stream = undefined;
  }
}

/** A longer line is written in pieces. */
const MAX_LINE_BYTES = 64 * 1024;

/** Redacted line by line: half a secret is not recognised. */
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
