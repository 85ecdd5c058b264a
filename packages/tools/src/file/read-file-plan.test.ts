import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileSensitivePaths } from "@soong/core";
import { verifies } from "#laws";
import { afterEach, beforeEach, expect, test } from "vitest";
import { targetsOfRead } from "./read-file-plan.ts";

let project: string;

beforeEach(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), "soong-plan-")));
  writeFileSync(join(project, ".ENV"), "x");
  writeFileSync(join(project, "a.txt"), "x");
});

afterEach(() => {
  rmSync(project, { recursive: true });
});

const plan = (path: string, ignoresCase: boolean) =>
  targetsOfRead(
    path,
    { roots: { project, write: [] }, sensitiveBy: compileSensitivePaths({}) },
    async () => ignoresCase,
  );

test("a plan is one path to read, canonical", async () => {
  verifies("PATH-1", "CODE-1");
  expect(await plan("./x/../a.txt", false)).toEqual({
    resources: [{ kind: "path", access: "read", path: join(project, "a.txt") }],
  });
});

test("a name is sensitive in any case where the disk does not tell cases apart", async () => {
  verifies("PATH-3");
  const path = join(project, ".ENV");
  const ordinary = { kind: "path", access: "read", path };
  expect(await plan(".ENV", true)).toEqual({ resources: [{ ...ordinary, sensitive: true }] });
  expect(await plan(".ENV", false)).toEqual({ resources: [ordinary] });
  const asGiven = await plan("a.txt", true);
  expect(asGiven.resources).toEqual([{ ...ordinary, path: join(project, "a.txt") }]);
});
