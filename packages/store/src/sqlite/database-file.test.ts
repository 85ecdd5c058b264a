import type * as nodeFs from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { verifies } from "#laws";
import { createRoomCheck } from "./open-database.ts";

const disk = vi.hoisted(() => ({ bsize: 4096, bavail: 0 }));

vi.mock("node:fs", async (original) => ({
  ...(await original<typeof nodeFs>()),
  statfsSync: () => disk,
}));

afterEach(() => Object.assign(disk, { bsize: 4096, bavail: 0 }));

test("a full disk with small blocks is refused before SQLite touches it", () => {
  verifies("STORE-1");
  Object.assign(disk, { bsize: 1024, bavail: 1024 });
  const check = createRoomCheck("/home/store");
  check();
  disk.bavail = 1023;
  expect(check).toThrow(
    expect.objectContaining({
      code: "store_full",
      message: expect.stringMatching(/\/home\/store: less than 1 MiB.*free some space/) as string,
    }),
  );
});

test("a full disk with blocks of a whole page is left to SQLite, which says so itself", () => {
  verifies("STORE-1");
  expect(createRoomCheck("/home/store")).not.toThrow();
});
