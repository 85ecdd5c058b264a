import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compilePolicy } from "@soong/core";
import { READING_SUBJECT, findRestriction } from "@soong/core/internal";
import { verifies } from "#laws";
import { afterEach, beforeEach, expect, test } from "vitest";
import { targetPath } from "./judged-path.ts";

let project: string;

beforeEach(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), "soong-plan-")));
  writeFileSync(join(project, ".ENV"), "x");
  writeFileSync(join(project, "a.txt"), "x");
});

afterEach(() => {
  rmSync(project, { recursive: true });
});

function plan(path: string, ignoresCase: boolean, denied = "none") {
  const roots = { project, write: [] };
  const compiled = compilePolicy({ roots, rules: [{ path: denied, decision: "deny" }] });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return targetPath(
    "read",
    path,
    {
      roots,
      restrictedBy: (one, access, anyCase = false) =>
        findRestriction(compiled.policy, READING_SUBJECT.tool, {
          path: one,
          access,
          ignoresCase: anyCase,
        }),
      restrictedGlobs: () => [],
    },
    async () => ignoresCase,
  );
}

test("a plan is one path to read, canonical", async () => {
  verifies("PATH-1", "CODE-1");
  expect(await plan("./x/../a.txt", false)).toEqual({
    resources: [{ kind: "path", access: "read", path: join(project, "a.txt") }],
  });
});

test("a name is sensitive in any case where the disk does not distinguish cases", async () => {
  verifies("PATH-3");
  const path = join(project, ".ENV");
  const ordinary = { kind: "path", access: "read", path };
  expect(await plan(".ENV", true)).toEqual({
    resources: [{ ...ordinary, sensitive: true, ignores_case: true }],
  });
  expect(await plan(".ENV", false)).toEqual({ resources: [ordinary] });
  const asGiven = await plan("a.txt", true);
  expect(asGiven.resources).toEqual([{ ...ordinary, path: join(project, "a.txt") }]);
});

test("a rule's name is meant in any case where the disk does not distinguish cases", async () => {
  verifies("PERM-15");
  const path = join(project, "Secrets/a");
  const ordinary = { kind: "path", access: "read", path };
  expect(await plan("Secrets/a", true, "secrets")).toEqual({
    resources: [{ ...ordinary, ignores_case: true }],
  });
  expect(await plan("Secrets/a", false, "secrets")).toEqual({ resources: [ordinary] });
});
