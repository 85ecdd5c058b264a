// The part of a line around a match, read from the file itself: for lines too long to be handed over.

import { read } from "node:fs";
import { promisify } from "node:util";

const readAt = promisify(read);

export interface LinePart {
  readonly text: string;
  /** Where the match is in `text`. */
  readonly index: number;
  /** Characters of the line before the match. */
  readonly charactersBefore: number;
}

/** `offset` is where the line begins, `column` where in it the match does, both in bytes from 0. */
export async function readLinePart(
  fd: number,
  offset: number,
  column: number,
  signal: AbortSignal,
): Promise<LinePart> {
  const start = Math.max(0, column - AROUND);
  const before = await readBytes(fd, offset + start, column - start);
  const after = await readBytes(fd, offset + column, AROUND);
  const lineEnd = after.indexOf(LINE_FEED);
  // The first of these bytes may be the rest of a character; they are far from what is shown.
  const lead = before.toString();
  const tail = (lineEnd === -1 ? after : after.subarray(0, lineEnd)).toString();
  return {
    text: lead + tail.replace(/\r$/, ""),
    index: lead.length,
    charactersBefore: await countCharacters(fd, offset, column, signal),
  };
}

/** Wide enough that a secret next to what is shown is seen whole. */
const AROUND = 16 * 1024;
const LINE_FEED = 10;
const CHUNK = 1024 * 1024;

async function readBytes(fd: number, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await readAt(fd, buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

async function countCharacters(
  fd: number,
  position: number,
  length: number,
  signal: AbortSignal,
): Promise<number> {
  let count = 0;
  for (let done = 0; done < length; done += CHUNK) {
    signal.throwIfAborted();
    const bytes = await readBytes(fd, position + done, Math.min(CHUNK, length - done));
    for (const byte of bytes) if (!isContinuation(byte)) count += 1;
  }
  return count;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
