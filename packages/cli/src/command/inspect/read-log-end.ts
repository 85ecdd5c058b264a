// The end of a server's log (MCP-8), in whole lines: half a line may begin with half a secret, which no one recognises.

import { constants } from "node:fs";
import { open } from "node:fs/promises";

const MOST_BYTES = 64 * 1024;

/** Empty where there is none yet. `omitted`: bytes before what is returned. */
export async function readLogEnd(
  file: string,
  most = MOST_BYTES,
): Promise<{ text: string; omitted: number }> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let handle;
  try {
    handle = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT")
      return { text: "", omitted: 0 };
    throw error;
  }
  try {
    const { size } = await handle.stat();
    const from = Math.max(0, size - most);
    const bytes = Buffer.alloc(size - from);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, from);
    const read = bytes.subarray(0, bytesRead);
    const start = from === 0 ? 0 : read.indexOf(10) + 1 || read.length;
    return { text: read.subarray(start).toString("utf8"), omitted: from + start };
  } finally {
    await handle.close();
  }
}
