// CODE-2 with git as the witness: what a recursive listing omits is what git ignores.

import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { createWorkbench, dataOf } from "./workbench.ts";

// ASCII only: `?` is one byte to git, and one character to ripgrep and to us.
const name = fc.constantFrom("a", "b", "build", "x.log", "keep.log", "c d", "[e]", "#f", "!g");
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
const rule = fc.constantFrom(
  "*.log",
  "!keep.log",
  "build/",
  "/a",
  "a/b",
  "**/b",
  "a/**",
  "a/*/b",
  "b/**/x.log",
  "*",
  "!*/",
  "!a",
  "\\#f",
  "\\!g",
  "# comment",
  "",
  "c d",
  "c d  ",
  "\\[e\\]",
  "[a-c]",
  "[!a]*",
  "?",
  "/build/*",
  "!/build/a",
  "a/",
  "*.lo[g]",
);
const tree = fc.record({
  files: fc.uniqueArray(path, { minLength: 1, maxLength: 12 }),
  ignore: fc.uniqueArray(
    fc.tuple(fc.constantFrom("", "a/", "build/", "a/b/"), fc.array(rule, { maxLength: 5 })),
    {
      maxLength: 3,
      selector: ([folder]) => folder,
    },
  ),
});

test("a recursive listing omits what git ignores, and nothing else", async () => {
  verifies("CODE-2");
  const bench = await createWorkbench();
  let count = 0;
  try {
    await fc.assert(
      fc.asyncProperty(tree, async ({ files, ignore }) => {
        count += 1;
        const root = join(bench.project, `t${count}`);
        const planted = [
          ...ignore.map(([folder, rules]) => [`${folder}.gitignore`, rules.join("\n")] as const),
          ...files.map((file) => [file, ""] as const),
        ];
        await mkdir(root);
        for (const [file, text] of planted) {
          // A name that is a directory in another path cannot be a file as well.
          await mkdir(dirname(join(root, file)), { recursive: true }).catch(() => {});
          await writeFile(join(root, file), text).catch(() => {});
        }
        execFileSync("git", ["init", "-q", "--template="], { cwd: root, env: gitEnvironment });
        const listed = execFileSync("git", ["ls-files", "-coz", "--exclude-standard"], {
          cwd: root,
          encoding: "utf8",
          env: gitEnvironment,
        });
        const expected = listed.split("\0").filter((file) => file !== "");
        const result = await bench.call("code.list_dir", { path: root, recursive: true });
        const { entries } = dataOf(result) as { entries: { path: string; type: string }[] };
        const found = entries.filter(({ type }) => type === "file").map((entry) => entry.path);
        expect(found.filter((file) => !file.startsWith(".git/")).toSorted()).toEqual(
          expected.toSorted(),
        );
      }),
      { numRuns: process.env["SOONG_TEST_FULL"] === "1" ? 1500 : 120 },
    );
  } finally {
    await bench.close();
  }
});

const gitEnvironment = {
  PATH: process.env["PATH"],
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
};
