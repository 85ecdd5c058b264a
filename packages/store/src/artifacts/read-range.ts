// Reads part of a file: what there is of a range that may reach past the end.

import { open } from "node:fs/promises";
import type { ByteRange } from "@soong/core";

export async function readRange(path: string, range: ByteRange): Promise<Uint8Array> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const offset = within(range.offset, size);
    const bytes = new Uint8Array(within(range.length, size - offset));
    let filled = 0;
    while (filled < bytes.length) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, offset + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  } finally {
    await file.close();
  }
}

function within(value: number, most: number): number {
  return Number.isNaN(value) ? 0 : Math.min(Math.max(0, Math.floor(value)), most);
}
