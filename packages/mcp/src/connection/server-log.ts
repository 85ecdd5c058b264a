// The log of one server's standard error (MCP-8): its owner's alone, at most two files of a bounded size, without the
// secrets the server was given (REDACT-3). A log that cannot be written costs nothing but itself.

import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  renameSync,
  write,
} from "node:fs";
import { dirname } from "node:path";
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
  let descriptor: number | undefined;
  let size = 0;
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let writing: Promise<void> | undefined;

  function open(): void {
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = constants;
      descriptor = openSync(file, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
      fchmodSync(descriptor, 0o600);
      ({ size } = fstatSync(descriptor));
    } catch {
      descriptor = undefined;
    }
  }

  function makeRoom(bytes: number): void {
    if (size === 0 || size + bytes <= maxBytes) return;
    release();
    try {
      renameSync(file, `${file}.old`);
    } catch {
      return;
    }
    open();
  }

  function release(): void {
    if (descriptor !== undefined) closeSync(descriptor);
    descriptor = undefined;
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const bytes = Buffer.concat(waiting).subarray(0, maxBytes);
      waiting = [];
      waitingBytes = 0;
      makeRoom(bytes.length);
      if (descriptor === undefined) continue;
      await writeAll(descriptor, bytes);
      size += bytes.length;
    }
    writing = undefined;
  }

  open();
  return {
    append(bytes) {
      if (descriptor === undefined || waitingBytes + bytes.length > MAX_WAITING_BYTES) return;
      waiting.push(bytes);
      waitingBytes += bytes.length;
      writing ??= drain();
    },
    async close() {
      await writing;
      release();
    },
  };
}

async function writeAll(descriptor: number, bytes: Buffer): Promise<void> {
  let at = 0;
  while (at < bytes.length) {
    const written = await new Promise<number>((resolve) => {
      write(descriptor, bytes, at, (error, count) => {
        resolve(error === null ? count : 0);
      });
    });
    if (written === 0) return;
    at += written;
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
