// The bytes of an open file from its beginning, chunk by chunk, in two buffers taken in turn: memory is
// the same for any size, and one chunk is read while the other is looked at.

import type { FileHandle } from "node:fs/promises";
import { readFully } from "@soong/platform";

/** Even, so that no UTF-16 unit is cut. */
const CHUNK_BYTES = 1024 * 1024;
const BUFFERS = 2;

/**
 * Stops at `size`, the size when the file was opened, however it grows, and at its end if that comes
 * sooner. A chunk is valid until the next one is asked for; all but the last are full.
 */
export async function* readChunks(
  handle: FileHandle,
  size: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, void> {
  const buffers: Buffer[] = [];
  const reads: Promise<Buffer>[] = [];
  let asked = 0;
  const ask = (): void => {
    const turn = (asked / CHUNK_BYTES) % BUFFERS;
    const buffer = (buffers[turn] ??= Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, size)));
    const read = readFully(handle, buffer.subarray(0, size - asked), asked);
    // Where it counts it is awaited; one that no one comes to need may fail unheard.
    read.catch(() => undefined);
    reads[turn] = read;
    asked += CHUNK_BYTES;
  };
  try {
    for (let position = 0; position < size; position += CHUNK_BYTES) {
      signal.throwIfAborted();
      // The first chunk is often all that is needed: nothing is read ahead of it.
      const until = position === 0 ? CHUNK_BYTES : position + BUFFERS * CHUNK_BYTES;
      while (asked < Math.min(until, size)) ask();
      const chunk = await reads[(position / CHUNK_BYTES) % BUFFERS];
      if (chunk === undefined || chunk.length === 0) return;
      yield chunk;
      if (chunk.length < CHUNK_BYTES) return;
    }
  } finally {
    // The file may be closed after this, so nothing may still be reading from it.
    await Promise.allSettled(reads);
  }
}
