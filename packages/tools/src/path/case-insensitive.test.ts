import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { lstat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { isCaseInsensitive } from "./case-insensitive.ts";

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "soong-case-")));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** Finds a name in any case, as such a disk does. */
async function foldingLook(path: string) {
  const names = readdirSync(dirname(path));
  const name = names.find((each) => each.toLowerCase() === basename(path).toLowerCase());
  return lstat(join(dirname(path), name ?? basename(path)), { bigint: true });
}

test.runIf(process.platform === "linux")("an ordinary Linux disk tells case apart", async () => {
  expect(await isCaseInsensitive(folder)).toBe(false);
  writeFileSync(join(folder, "readme"), "");
  expect(await isCaseInsensitive(folder)).toBe(false);
  expect(await isCaseInsensitive("/")).toBe(false);
  expect(await isCaseInsensitive(join(folder, "none/below"))).toBe(false);
});

describe("a disk that folds case", () => {
  test.each(["readme", "README", ".Env"])("is known by a file named %s", async (name) => {
    writeFileSync(join(folder, "1"), "");
    writeFileSync(join(folder, name), "");
    expect(await isCaseInsensitive(folder, foldingLook)).toBe(true);
  });

  test("is known by the names above where the directory is empty, has no letters or is missing", async () => {
    expect(await isCaseInsensitive(folder, foldingLook)).toBe(true);
    mkdirSync(join(folder, "1/2"), { recursive: true });
    expect(await isCaseInsensitive(join(folder, "1/2"), foldingLook)).toBe(true);
    expect(await isCaseInsensitive(join(folder, "1/2/3"), foldingLook)).toBe(true);
  });

  test("is known by a directory, though that has several links", async () => {
    mkdirSync(join(folder, "sub/sub"), { recursive: true });
    const lookHere = (path: string) =>
      dirname(path) === folder ? foldingLook(path) : Promise.reject(new Error("not asked for"));
    expect(await isCaseInsensitive(folder, lookHere)).toBe(true);
  });
});

test.runIf(process.platform === "linux")(
  "two hard links of one file that differ in case do not deceive",
  async () => {
    writeFileSync(join(folder, "readme"), "");
    linkSync(join(folder, "readme"), join(folder, "README"));
    expect(await isCaseInsensitive(folder)).toBe(false);
  },
);

test("looking leaves no trace", async () => {
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, "a"), "");
  await isCaseInsensitive(folder);
  expect(readdirSync(folder)).toEqual(["a"]);
});
