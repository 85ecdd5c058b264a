import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { ToolFailure } from "@soong/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";

import { OPENINGS } from "../../../../test/tools/path-commit-stage.ts";
import { openDirectory } from "./open-directory.ts";

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "soong-directory-")));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe.each(OPENINGS)("a directory held %s", (_how, opening) => {
  async function codeOf(path: string): Promise<string> {
    const error: unknown = await openDirectory(path, opening).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ToolFailure);
    return (error as ToolFailure).error.code;
  }

  test("gives its entries and its listing", async () => {
    verifies("PATH-1");
    writeFileSync(join(folder, "a"), "inside");
    const directory = await openDirectory(folder, opening);
    expect(directory.path).toBe(folder);
    expect(await readFile(directory.entry("a"), "utf8")).toBe("inside");
    expect(await readdir(directory.entry("."))).toEqual(["a"]);
    expect(directory.isAtJudgedPath()).toBe(true);
    await directory.flush();
    await directory.close();
  });

  test("may be the root", async () => {
    const directory = await openDirectory("/", opening);
    expect(existsSync(directory.entry("tmp"))).toBe(true);
    expect(directory.entry("tmp")).not.toContain("//");
    await directory.close();
  });

  test("gives no entry that is not a plain name", async () => {
    const directory = await openDirectory(folder, opening);
    for (const name of ["", "..", "a/b", "/", "a\0"]) {
      expect(() => directory.entry(name)).toThrow(TypeError);
    }
    await directory.close();
  });

  test("is refused when missing, not a directory, or not where it was judged to be", async () => {
    verifies("PATH-1");
    writeFileSync(join(folder, "file"), "");
    mkdirSync(join(folder, "real/below"), { recursive: true });
    symlinkSync("real", join(folder, "link"));
    expect(await codeOf(join(folder, "none"))).toBe("file_not_found");
    expect(await codeOf(join(folder, "file"))).toBe("not_a_directory");
    expect(await codeOf(join(folder, "file/below"))).toBe("not_a_directory");
    expect(await codeOf(join(folder, "link"))).toBe("not_a_directory");
    expect(await codeOf(join(folder, "link/below"))).toBe("path_changed");
  });

  test("notices that it was moved away or replaced", async () => {
    verifies("PATH-1");
    mkdirSync(join(folder, "dir"));
    const directory = await openDirectory(join(folder, "dir"), opening);
    renameSync(join(folder, "dir"), join(folder, "moved"));
    expect(directory.isAtJudgedPath()).toBe(false);
    mkdirSync(join(folder, "dir"));
    expect(directory.isAtJudgedPath()).toBe(false);
    await directory.close();
  });
});

test.runIf(process.platform === "linux")(
  "what is done through the handle happens in that directory, wherever a link at its old name leads",
  async () => {
    verifies("PATH-1");
    mkdirSync(join(folder, "dir"));
    mkdirSync(join(folder, "outside"));
    const directory = await openDirectory(join(folder, "dir"));
    renameSync(join(folder, "dir"), join(folder, "moved"));
    symlinkSync("outside", join(folder, "dir"));
    await writeFile(directory.entry("new"), "x");
    await directory.close();
    expect(await readdir(join(folder, "outside"))).toEqual([]);
    expect(await readdir(join(folder, "moved"))).toEqual(["new"]);
  },
);
