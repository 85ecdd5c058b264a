import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileSensitivePaths } from "@soong/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifies } from "#laws";
import { lookThroughTrees } from "./secrets-in-trees.ts";
import type { WalkedTree } from "./walked-trees.ts";

const ground = realpathSync(mkdtempSync(join(tmpdir(), "soong-secrets-")));
const sensitiveBy = compileSensitivePaths({ home: join(ground, "home"), project: ground });
const places = {
  restrictedBy(path: string) {
    const by = sensitiveBy(path);
    return by === undefined ? undefined : ({ kind: "sensitive", decision: "ask", by } as const);
  },
  restrictedGlobs: () => [],
};

function tree(root: string, followsLinks = false): WalkedTree {
  const all = { enters: () => true, opens: () => true };
  return { root: join(ground, root), cwd: ground, followsLinks, showsNamesOnly: false, ...all };
}

beforeAll(() => {
  mkdirSync(join(ground, "wide/below"), { recursive: true });
  for (let one = 0; one < 40; one += 1) writeFileSync(join(ground, `wide/below/${one}.txt`), "");
  mkdirSync(join(ground, "keys"));
  for (let one = 0; one < 9; one += 1) writeFileSync(join(ground, `keys/${one}.pem`), "");
  mkdirSync(join(ground, "circle/in"), { recursive: true });
  symlinkSync("..", join(ground, "circle/in/again"));
});
afterAll(() => rmSync(ground, { recursive: true, force: true }));

test("a tree beyond the limit requires approval, with the reason", () => {
  verifies("PATH-3");
  const limits = { entries: 41, found: 5 };
  expect(lookThroughTrees([tree("wide")], places, limits).sensitive).toEqual([]);
  expect(lookThroughTrees([tree("wide")], places, { ...limits, entries: 40 }).sensitive).toEqual([
    {
      kind: "path",
      access: "search",
      path: join(ground, "wide"),
      sensitive: true,
      too_large: true,
      reason: "it has more than 40 entries",
    },
  ]);
});

test("no more files are named than a question can show", () => {
  verifies("PATH-3");
  const found = lookThroughTrees([tree("keys")], places, { entries: 100, found: 5 });
  expect(found.sensitive).toHaveLength(5);
});

test("links that lead in a circle come to an end", () => {
  verifies("PATH-3");
  expect(lookThroughTrees([tree("circle", true)], places).sensitive).toEqual([]);
});
