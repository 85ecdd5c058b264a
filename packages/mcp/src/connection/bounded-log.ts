// The log of one server's standard error (MCP-8): its owner's alone, and at most two files of a bounded
// size. A log that cannot be written costs nothing but itself.

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
