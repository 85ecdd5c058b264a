// The text of a file somebody wrote for us. Whatever kind of file it is, it is read whole or refused.

import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { messageOf } from "@soong/core";

export type TextFile =
  | { readonly ok: true; readonly text: string }
  /** As a clause about the file. */
  | { readonly ok: false; readonly message: string };

export async function readTextFile(file: string, maxBytes: number): Promise<TextFile> {
  let bytes: Uint8Array;
  try {
    // A pipe without a writer would be waited for otherwise.
    const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return rejectFile("is not a regular file");
      if (stats.size > maxBytes)
        return rejectFile(`is larger than ${formatSize(maxBytes)}, the most it may have`);
      bytes = await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    return rejectFile(`cannot be read: ${describeReadError(error)}`);
  }
  try {
    return { ok: true, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return rejectFile("is not UTF-8 text");
  }
}

function rejectFile(message: string): TextFile {
  return { ok: false, message };
}

function formatSize(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${bytes / 1024 / 1024} MiB` : `${bytes / 1024} KiB`;
}

function describeReadError(error: unknown): string {
  const { code } = error as { code?: string };
  if (code === "ENOENT") return "there is no such file";
  if (code === "EACCES") return "permission is denied";
  return messageOf(error);
}
