// A file written beside its place and moved there: whoever reads sees the old one or the new one.

import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { messageOf } from "@soong/core";

/** Mode 0600, in a folder of mode 0700. */
export async function writeWholeFile(path: string, text: string): Promise<void> {
  const next = `${path}.${randomUUID()}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await open(next, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(next, path);
  } catch (error) {
    await rm(next, { force: true });
    throw new Error(`${path} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}
