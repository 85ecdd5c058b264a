import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { link } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { ToolFailure } from "@soong/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";

import { placeNewFile } from "./commit-file.ts";

let folder: string;
let target: { path: string; name: string };

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "soong-place-")));
  target = { path: "/judged/path", name: join(folder, "new") };
  writeFileSync(join(folder, "temporary"), "ours");
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

function noLinks(): Promise<void> {
  return Promise.reject(Object.assign(new Error("no"), { code: "EPERM", syscall: "link" }));
}

describe.each([
  ["with hard links", link],
  ["without hard links", noLinks],
])("on a disk %s", (_what, makeLink) => {
  test("the file gets its name", async () => {
    await placeNewFile(join(folder, "temporary"), target, makeLink);
    expect(readFileSync(target.name, "utf8")).toBe("ours");
  });

  test("what has the name keeps it, a dangling link as well", async () => {
    verifies("EDIT-6");
    for (const plant of [
      () => {
        writeFileSync(target.name, "theirs");
      },
      () => {
        symlinkSync("elsewhere", target.name);
      },
    ]) {
      rmSync(target.name, { force: true });
      plant();
      const error: unknown = await placeNewFile(join(folder, "temporary"), target, makeLink).catch(
        (error: unknown) => error,
      );
      expect((error as ToolFailure).error).toMatchObject({
        code: "changed_since_approval",
        details: { path: "/judged/path" },
      });
      expect(readdirSync(folder)).toEqual(["new", "temporary"]);
    }
  });

  test("a temporary file that is gone leaves no placeholder", async () => {
    const missing = placeNewFile(join(folder, "gone"), target, makeLink);
    await expect(missing).rejects.toMatchObject({ code: "ENOENT" });
    expect(readdirSync(folder)).toEqual(["temporary"]);
  });
});
