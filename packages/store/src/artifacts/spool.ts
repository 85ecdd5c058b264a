// A file without a name, for what is too much for memory: it goes with the process, however that ends.

import { readSync } from "node:fs";
import { mkdtemp, open, rm, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Spool {
  /** Answers with where it begins. */
  append(bytes: Uint8Array): Promise<number>;
  /** At once, for use within a transaction. */
  read(offset: number, length: number): Buffer;
  close(): Promise<void>;
}

export async function openSpool(): Promise<Spool> {
  const folder = await mkdtemp(join(tmpdir(), "soong-spool-"));
  let file: FileHandle;
  try {
    file = await open(join(folder, "spool"), "wx+", 0o600);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  let end = 0;
  return {
    async append(bytes) {
      const start = end;
      for (let done = 0; done < bytes.length;) {
        done += (await file.write(bytes, done, bytes.length - done, start + done)).bytesWritten;
      }
      end += bytes.length;
      return start;
    },
    read(offset, length) {
      const bytes = Buffer.alloc(length);
      for (let done = 0; done < length;) {
        const count = readSync(file.fd, bytes, done, length - done, offset + done);
        if (count === 0) throw new Error("The file that was written a moment ago is shorter now.");
        done += count;
      }
      return bytes;
    },
    close: () => file.close(),
  };
}
