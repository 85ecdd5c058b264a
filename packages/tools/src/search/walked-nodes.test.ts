import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { openWalkedFile, readSmallFile, readWalkedDirectory } from "./walked-nodes.ts";

let base: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "soong-walked-")));
  mkdirSync(join(base, "real", "inner"), { recursive: true });
  writeFileSync(join(base, "real", "inner", "file"), "text");
  symlinkSync("real", join(base, "way"));
  symlinkSync("file", join(base, "real", "inner", "link"));
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

describe("what is met on a walk", () => {
  test("is opened where it was met", () => {
    verifies("PATH-1");
    const names = readWalkedDirectory(join(base, "real", "inner")).map(({ name }) => name);
    expect(names.toSorted()).toEqual(["file", "link"]);
    const fd = openWalkedFile(join(base, "real", "inner", "file"));
    expect(fd).toBeTypeOf("number");
    if (fd !== undefined) closeSync(fd);
    expect(readSmallFile(Buffer.from(join(base, "real", "inner", "file")), 4)).toBe("text");
  });

  test.runIf(process.platform === "linux")(
    "is not opened through a link, at its end or above",
    () => {
      verifies("PATH-1");
      expect(() => readWalkedDirectory(join(base, "way"))).toThrow(/ENOTDIR|ELOOP/);
      expect(() => readWalkedDirectory(join(base, "way", "inner"))).toThrow(/is in the way/);
      expect(openWalkedFile(join(base, "real", "inner", "link"))).toBeUndefined();
      expect(openWalkedFile(join(base, "way", "inner", "file"))).toBeUndefined();
      expect(openWalkedFile(Buffer.from(join(base, "way", "inner", "file")))).toBeUndefined();
    },
  );

  test("is not a file when it is a directory, gone, or larger than wanted", () => {
    verifies("PATH-4");
    expect(openWalkedFile(join(base, "real"))).toBeUndefined();
    expect(openWalkedFile(join(base, "gone"))).toBeUndefined();
    expect(readSmallFile(join(base, "real", "inner", "file"), 3)).toBeUndefined();
  });
});
