import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifies } from "#laws";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readChunks } from "./read-chunks.ts";

const MIB = 1024 * 1024;
const never = new AbortController().signal;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "soong-chunks-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe("a file in chunks", () => {
  test.each([0, 1, MIB - 1, MIB, MIB + 1, 2 * MIB, 3 * MIB + 7])(
    "of %i bytes comes whole",
    async (size) => {
      verifies("CODE-1");
      const bytes = randomBytes(size);
      writeFileSync(join(folder, "a"), bytes);
      const handle = await open(join(folder, "a"));
      const parts: Buffer[] = [];
      const memory = new Set<ArrayBufferLike>();
      try {
        for await (const chunk of readChunks(handle, size, never)) {
          parts.push(Buffer.from(chunk));
          memory.add(chunk.buffer);
        }
      } finally {
        await handle.close();
      }
      expect(Buffer.concat(parts).equals(bytes)).toBe(true);
      for (const part of parts.slice(0, -1)) expect(part.length).toBe(MIB);
      expect(memory.size).toBeLessThanOrEqual(2);
    },
  );

  test("stops at the size it had, however it grows meanwhile", async () => {
    verifies("CODE-1");
    const growing = fakeFile((position, length) => Math.min(length, position + length));
    expect(await lengths(growing.handle, 2 * MIB + 5)).toEqual([MIB, MIB, 5]);
    expect(growing.furthest).toBe(2 * MIB + 5);
  });

  test("ends where it ends now, if that is sooner", async () => {
    verifies("CODE-1");
    const upTo = (end: number) =>
      fakeFile((position, length) => Math.max(0, Math.min(length, end - position))).handle;
    expect(await lengths(upTo(MIB + 5), 10 * MIB)).toEqual([MIB, 5]);
    expect(await lengths(upTo(MIB), 10 * MIB)).toEqual([MIB]);
    expect(await lengths(upTo(0), 10 * MIB)).toEqual([]);
    // Written anew behind its old end: a file with a piece missing would be no file anyone wrote.
    let given = 0;
    const again = fakeFile((position, length) => {
      if (position >= MIB) return length;
      given += 1;
      return given === 1 ? 10 : 0;
    });
    expect(await lengths(again.handle, 10 * MIB)).toEqual([10]);
  });

  test("is found at every place, also beyond what 32 bits can count", async () => {
    verifies("CODE-1");
    const size = 2 ** 32 + 5;
    const file = fakeFile((_position, length) => length);
    const parts = await lengths(file.handle, size);
    expect(parts).toHaveLength(4097);
    expect(parts.at(-1)).toBe(5);
    expect(file.furthest).toBe(size);
  });

  test("is whole though the system gives less at a time than was asked for", async () => {
    verifies("CODE-1");
    const slow = fakeFile((_position, length) => Math.min(length, 100_000));
    expect(await lengths(slow.handle, 2 * MIB + 5)).toEqual([MIB, MIB, 5]);
  });

  test("is not read ahead before the second chunk is wanted", async () => {
    verifies("CODE-1");
    const file = fakeFile((_position, length) => length);
    for await (const _first of readChunks(file.handle, 100 * MIB, never)) break;
    expect(file.furthest).toBe(MIB);
  });

  test("is not read any more once it is aborted", async () => {
    verifies("CODE-1");
    const abort = new AbortController();
    const file = fakeFile((_position, length) => length);
    let chunks = 0;
    const reading = (async () => {
      for await (const _chunk of readChunks(file.handle, 100 * MIB, abort.signal)) {
        chunks += 1;
        if (chunks === 3) abort.abort(new Error("enough"));
      }
    })();
    await expect(reading).rejects.toThrow("enough");
    expect(chunks).toBe(3);
    expect(file.underWay).toBe(0);
  });

  test("fails with the error of the read, and an unneeded read fails silently", async () => {
    verifies("CODE-1");
    const broken = fakeFile((position, length) => {
      if (position >= 2 * MIB) throw new Error("EIO");
      return length;
    });
    await expect(lengths(broken.handle, 10 * MIB)).rejects.toThrow("EIO");
    let chunks = 0;
    for await (const _chunk of readChunks(broken.handle, 10 * MIB, never)) {
      chunks += 1;
      if (chunks < 2) continue;
      await turns(5);
      break;
    }
    expect(broken.underWay).toBe(0);
  });
});

async function lengths(handle: FileHandle, size: number): Promise<number[]> {
  const lengths: number[] = [];
  for await (const chunk of readChunks(handle, size, never)) lengths.push(chunk.length);
  return lengths;
}

/** Of the event loop. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

/** A file that gives as many bytes as `give` says, and none beyond what was asked for. */
function fakeFile(give: (position: number, length: number) => number) {
  const file = {
    furthest: 0,
    underWay: 0,
    handle: { read } as unknown as FileHandle,
  };
  async function read(_buffer: Buffer, _offset: number, length: number, position: number) {
    file.furthest = Math.max(file.furthest, position + length);
    file.underWay += 1;
    await turns(1);
    file.underWay -= 1;
    return { bytesRead: give(position, length) };
  }
  return file;
}
