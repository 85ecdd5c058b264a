import { expect, test } from "vitest";
import { verifies } from "#laws";
import type { Layout } from "../layout.ts";
import { checkTree } from "./rules.ts";
import { readSourceFile } from "./source-file.ts";

const layout: Layout = {
  only: { "node:child_process": "tools" },
  packages: {
    core: { runs: "anywhere", imports: [], modules: ["schema", "tool", "call"] },
    tools: { runs: "node", imports: ["core"] },
    cli: { runs: "node", imports: ["core", "tools"] },
    page: { runs: "node", imports: ["core"], types: ["tools"] },
  },
};

const dependencies = {
  core: ["ajv"],
  tools: ["@soong/core", "diff"],
  cli: ["@soong/tools"],
  page: ["@soong/core"],
};

/** Violations of a made-up tree: paths under `packages/`, with the text of each file. */
function check(texts: Record<string, string>): string[] {
  const files = Object.entries(texts).map(([path, text]) =>
    readSourceFile(`packages/${path}`, text),
  );
  return checkTree(layout, { files, dependencies });
}

const schema = { "core/src/schema/index.ts": "// Owns schemas.\nexport const a = 1;" };
const tool = { "core/src/tool/index.ts": "// Owns tools.\nexport const b = 1;" };

test("a tree that keeps to the layout has no violation", () => {
  const violations = check({
    ...schema,
    "core/src/schema/lower.ts": 'import { Ajv } from "ajv/dist/2020.js";',
    "core/src/schema/lower.test.ts":
      'import { readFile } from "node:fs";\nimport fc from "fast-check";\nimport "../tool/index.ts";\nimport "../../../../test/stage.ts";',
    "core/src/tool/index.ts": '// Owns tools.\nimport { a } from "../schema/index.ts";',
    "core/src/tool/parts/name.ts": 'import { a } from "../../schema/index.ts";',
    "core/src/kernel.ts":
      'import { b } from "./tool/index.ts";\nimport { c } from "./call/turn.ts";',
    "core/src/call/turn.ts": "export const c = 1;",
    "core/src/index.ts": 'export * from "./kernel.ts";\nexport { a } from "./schema/index.ts";',
    "tools/src/index.ts":
      'import "node:fs";\nimport { a } from "@soong/core";\nimport { b } from "./read/file.ts";',
    "tools/src/read/file.ts": 'import { parse } from "diff";',
    "cli/src/main.ts": 'import { c } from "@soong/tools";',
    "page/src/x.ts":
      'import type { T } from "@soong/tools";\nexport type { T } from "@soong/tools";\nimport { a } from "@soong/core";',
  });
  expect(violations).toEqual([]);
});

test.each([
  [
    "a package imports one of ours it may not",
    { "tools/src/x.ts": 'import "./y.ts";\nimport type { T } from "soong";' },
    'packages/tools/src/x.ts:2: "tools" may not import "soong"',
  ],
  [
    "a package imports more than types from one of which it may import types alone",
    { "page/src/x.ts": 'import { type T, c } from "@soong/tools";' },
    'packages/page/src/x.ts:1: "page" may not import "@soong/tools"',
  ],
  [
    "a package re-exports more than types from one of which it may import types alone",
    { "page/src/x.ts": 'export { c } from "@soong/tools";' },
    'packages/page/src/x.ts:1: "page" may not import "@soong/tools"',
  ],
  [
    "a package imports itself by name",
    { "core/src/x.ts": 'import "@soong/core";' },
    'packages/core/src/x.ts:1: "core" may not import "@soong/core"',
  ],
  [
    "a test imports one of ours its package may not",
    { "core/src/x.test.ts": 'import "@soong/tools";' },
    'packages/core/src/x.test.ts:1: "core" may not import "@soong/tools"',
  ],
  [
    "an import reaches into another package's files",
    { "tools/src/x.test.ts": 'import { a } from "../../core/src/index.ts";' },
    'packages/tools/src/x.test.ts:1: "../../core/src/index.ts" leaves the package; import another package by its name',
  ],
  [
    "an import is not a declared dependency",
    { "core/src/x.ts": 'import { z } from "zod/v4";' },
    'packages/core/src/x.ts:1: "zod" is not among the package\'s dependencies',
  ],
  [
    "an allowed package of ours is not a declared dependency",
    { "cli/src/x.ts": 'import { a } from "@soong/core";' },
    'packages/cli/src/x.ts:1: "@soong/core" is not among the package\'s dependencies',
  ],
  [
    "a package that runs anywhere imports Node",
    { "core/src/x.ts": 'const fs = await import("node:fs");' },
    'packages/core/src/x.ts:1: "node:fs" in a package that runs anywhere',
  ],
  [
    "a module imports a later module",
    { ...tool, "core/src/schema/index.ts": '// Owns.\nimport type { T } from "../tool/index.ts";' },
    'packages/core/src/schema/index.ts:2: module "schema" imports "tool", which comes after it',
  ],
  [
    "a module re-exports from a later module",
    { ...tool, "core/src/schema/index.ts": '// Owns.\nexport * from "../tool/index.ts";' },
    'packages/core/src/schema/index.ts:2: module "schema" imports "tool", which comes after it',
  ],
  [
    "a module is entered past its index",
    { ...schema, ...tool, "core/src/tool/x.ts": 'import { a } from "../schema/lower.ts";' },
    'packages/core/src/tool/x.ts:1: "schema" is entered past its index.ts',
  ],
  [
    "a file above the modules enters one past its index",
    { ...schema, "core/src/index.ts": 'export { a } from "./schema/lower.ts";' },
    'packages/core/src/index.ts:1: "schema" is entered past its index.ts',
  ],
  [
    "a module imports a file above the modules",
    { "core/src/schema/index.ts": '// Owns.\nimport { k } from "../kernel.ts";' },
    'packages/core/src/schema/index.ts:2: module "schema" imports a file above the modules',
  ],
  [
    "a source imports a test",
    { "core/src/x.ts": 'import { a } from "./y.test.ts";' },
    'packages/core/src/x.ts:1: "./y.test.ts" is a test',
  ],
  [
    "a file of a module without an index is imported by an earlier module",
    { ...schema, "core/src/schema/x.ts": 'import "../tool/name.ts";', "core/src/tool/name.ts": "" },
    'packages/core/src/schema/x.ts:1: module "schema" imports "tool", which comes after it',
  ],
  [
    "an index does not say what its module owns",
    { "core/src/tool/index.ts": "export const b = 1; // Owns tools." },
    "packages/core/src/tool/index.ts: does not open with a comment saying what the module owns",
  ],
  [
    "a module is not in the layout",
    { "core/src/misc/index.ts": "// Owns." },
    'packages/core/src/misc: module "misc" is not in layout.json',
  ],
  [
    "a package is not in the layout",
    { "extra/src/index.ts": "" },
    'packages/extra/src/index.ts: package "extra" is not in layout.json',
  ],
  [
    "two files import each other",
    {
      "tools/src/a.ts": 'import { b } from "./b.ts";',
      "tools/src/b.ts": 'import type { A } from "./a.ts";',
    },
    "import cycle: packages/tools/src/a.ts → packages/tools/src/b.ts → packages/tools/src/a.ts",
  ],
  [
    "a cycle goes through several files of one module",
    {
      ...schema,
      "core/src/schema/a.ts": 'import "./b.ts";',
      "core/src/schema/b.ts": 'export { c } from "./c.ts";',
      "core/src/schema/c.ts": 'import "./a.ts";',
    },
    "import cycle: packages/core/src/schema/a.ts → packages/core/src/schema/b.ts → packages/core/src/schema/c.ts → packages/core/src/schema/a.ts",
  ],
])("%s", (_, texts: Record<string, string>, violation) => {
  expect(check(texts)).toEqual([violation]);
});

test("what only looks like an import is none", () => {
  const text = '// import "zod"\nconst sample = `import "zod"`;';
  expect(check({ "core/src/x.ts": text })).toEqual([]);
});

test("a module of Node that one package owns is used there alone", () => {
  verifies("CMD-7");
  const spawning = 'import { spawn } from "node:child_process";';
  expect(
    check({
      "tools/src/run.ts": spawning,
      "cli/src/main.ts": spawning,
      "cli/src/main.test.ts": spawning,
    }),
  ).toEqual([
    'packages/cli/src/main.ts:1: "node:child_process" is used by "tools" alone; call what that offers',
  ]);
});
