import { createHash } from "node:crypto";
import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { ToolFailure } from "@soong/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { verifies } from "#laws";

import { readWholeFile, readStamp } from "./open-regular-file.ts";
import { type Opening, openingByName, platformOpening } from "./pinned-node.ts";

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "soong-read-")));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

test.each([0, 1, 1000, 200_000])(
  "%d bytes are read whole, with hash, mode and stamp",
  async (size) => {
    const bytes = Buffer.alloc(size, "soong ");
    const path = join(folder, "a");
    writeFileSync(path, bytes, { mode: 0o600 });
    const read = await readWholeFile(path, { maxBytes: size });
    expect(read?.bytes.equals(bytes)).toBe(true);
    expect(read).toMatchObject({
      mode: 0o600,
      stamp: await readStamp(path),
      sha256: createHash("sha256").update(bytes).digest("hex"),
    });
  },
);

test("what is missing is undefined", async () => {
  expect(await readWholeFile(join(folder, "none/a"), { maxBytes: 10 })).toBeUndefined();
});

test("one byte more than allowed is file_too_large", async () => {
  writeFileSync(join(folder, "a"), "12345");
  const error = await readWholeFile(join(folder, "a"), { maxBytes: 4 }).catch((e: unknown) => e);
  expect((error as ToolFailure).error).toMatchObject({
    code: "file_too_large",
    details: { max_bytes: 4 },
  });
});

test("a link, a directory or a device is refused, not read", async () => {
  verifies("PATH-4");
  symlinkSync("/etc/passwd", join(folder, "link"));
  for (const path of [join(folder, "link"), folder, "/dev/zero"]) {
    const error = await readWholeFile(path, { maxBytes: 10 }).catch((e: unknown) => e);
    expect((error as ToolFailure).error.code).toBe("not_a_regular_file");
  }
});

/** Lets the file grow after its size was looked at. */
function growing(path: string, by: number): Opening {
  return {
    pin(name, judged) {
      const node = platformOpening.pin(name, judged);
      return {
        ...node,
        reopen(flags) {
          appendFileSync(path, Buffer.alloc(by, "+"));
          return node.reopen(flags);
        },
      };
    },
  };
}

test.each([1, 500, 300_000])("a file that grows by %d bytes is read to its new end", async (by) => {
  const path = join(folder, "a");
  writeFileSync(path, "start");
  const read = await readWholeFile(path, { maxBytes: 1_000_000 }, growing(path, by));
  expect(read?.bytes.length).toBe(5 + by);
  expect(read?.bytes.equals(readFileSync(path))).toBe(true);
  // The stamp is from before, so that a comparison notices.
  expect(read?.stamp.size).toBe(5);
});

test.each([1, 500, 300_000])(
  "a file that grows past the limit by %d is file_too_large",
  async (by) => {
    const path = join(folder, "a");
    writeFileSync(path, "start");
    const error = await readWholeFile(path, { maxBytes: 4 + by }, growing(path, by)).catch(
      (e: unknown) => e,
    );
    expect((error as ToolFailure).error.code).toBe("file_too_large");
    expect((await readWholeFile(path, { maxBytes: 5 + by }))?.bytes.length).toBe(5 + by);
  },
);

test.runIf(process.platform === "linux")("a file whose size is said to be 0 is read", async () => {
  expect(statSync("/proc/sys/kernel/ostype").size).toBe(0);
  const read = await readWholeFile("/proc/sys/kernel/ostype", { maxBytes: 100 }, openingByName);
  expect(read?.bytes.toString()).toBe("Linux\n");
});
