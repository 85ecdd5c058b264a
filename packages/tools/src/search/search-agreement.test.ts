import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compilePolicy } from "@soong/core";
import { READING_SUBJECT, restrictedGlobs, findRestriction } from "@soong/core/internal";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { plantFiles } from "../../../../test/tools/search-stage.ts";
import { parsePathGlob } from "./path-glob.ts";
import { locateRipgrep } from "./ripgrep.ts";
import { searchPlainly } from "./search-plain.ts";
import { searchWithRipgrep } from "./search-ripgrep.ts";
import type { SearchRequest } from "./search-request.ts";
import { restrictedFilesBelow } from "./restricted-files.ts";

const NAMES = ["a", "b.ts", "c.js", "id_work", "id_map.ts", "id_rsa.old", ".env", ".env.x", ".hid"];
const MORE_NAMES = [
  "x.pem",
  "d e",
  "ä.ts",
  "node_modules",
  "build",
  "a-b",
  "[q].ts",
  "😀.js",
  "\uffee.js",
];
const name = fc.constantFrom(...NAMES, ...MORE_NAMES);
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));

const WORDS = [
  "foo",
  "bar",
  "FOO",
  "boo",
  "ä",
  "😀",
  "1",
  "22",
  " ",
  "\t",
  "o",
  "{x}",
  "a.b",
  "",
  "$",
];
const line = fc.array(fc.constantFrom(...WORDS), { maxLength: 5 }).map((words) => words.join(""));
const text = fc
  .record({
    lines: fc.array(line, { maxLength: 6 }),
    end: fc.constantFrom("\n", "\r\n"),
    last: fc.boolean(),
  })
  .map(({ lines, end, last }) => lines.join(end) + (last && lines.length > 0 ? end : ""));
const content = fc.oneof(
  { weight: 8, arbitrary: text.map((whole) => Buffer.from(whole)) },
  { weight: 1, arbitrary: text.map((whole) => Buffer.from(`${whole}\0foo`)) },
  { weight: 1, arbitrary: text.map((whole) => Buffer.from(`\ufeff${whole}`)) },
  { weight: 1, arbitrary: text.map((whole) => Buffer.from(`\ufeff${whole}`, "utf16le")) },
  {
    weight: 1,
    arbitrary: text.map((whole) => Buffer.concat([Buffer.from([0xff, 0xe4]), Buffer.from(whole)])),
  },
);

const RULES = ["*.js", "build/", "/a", "!b.ts", "**/c.js", "d e", "node_modules", "a/*", "!.hid"];
const MORE_RULES = [
  "[ab].ts",
  "a/**",
  "!a/b.ts",
  "# no",
  "",
  "*.ts",
  "!*.ts",
  "\\[q].ts",
  "?",
  ".env",
  "b*",
];
const rules = fc
  .array(fc.constantFrom(...RULES, ...MORE_RULES), { maxLength: 4 })
  .map((lines) => Buffer.from(lines.join("\n")));

/** Not inside the names above, so that no file is also a directory. */
const tree = fc.record({
  files: fc.array(fc.tuple(path, content), { maxLength: 14 }),
  ignoring: fc.array(fc.tuple(fc.constantFrom("", "a/", "build/", "d e/"), rules), {
    maxLength: 3,
  }),
  exclude: fc.option(rules, { nil: undefined }),
  nested: fc.boolean(),
});

const QUERIES = [
  "foo",
  "fo+",
  "^foo",
  "bar$",
  "[fb]oo",
  "o",
  "[0-9]+",
  "ä",
  "FOO",
  "foo|bar",
  "^$",
];
const MORE_QUERIES = ["\\{x\\}", "a\\.b", "😀", "(foo)?b", "^", "\\t", "[^o]$"];
const query = fc.constantFrom(...QUERIES, ...MORE_QUERIES);
const GLOBS = [
  "*.ts",
  "*.{js,ts}",
  "a/**",
  "!*.js",
  "a/*.ts",
  "!a",
  "/b.ts",
  "?",
  "[!a]*",
  ".env*",
];
const MORE_GLOBS = ["id_*", "**/b.ts", "build/", "!build/**", "ä*"];
const asked = fc.record({
  query,
  literal: fc.boolean(),
  caseSensitive: fc.boolean(),
  glob: fc.option(fc.constantFrom(...GLOBS, ...MORE_GLOBS), { nil: undefined }),
  limit: fc.constantFrom(1, 3, 1000),
  contextLines: fc.constantFrom(0, 1, 3),
  hidden: fc.boolean(),
  ignored: fc.boolean(),
  below: fc.constantFrom("", "", "a"),
  rulePaths: fc.subarray(
    ["a/b.ts", "**/c.js", "a/d e/**", "*/a", "build", "a-b/", "**/id_*", "\\[q\\].ts", "a/?"],
    { maxLength: 2 },
  ),
});

const ripgrep = (await locateRipgrep({ project: "/nowhere", write: [] })) ?? "no ripgrep";

/** The places of a run with these denies. */
function placesUnder(paths: readonly string[], project: string) {
  const rules = paths.map((path) => ({ path, decision: "deny" as const }));
  const compiled = compilePolicy({
    home: "/nobody",
    roots: { project, write: [] },
    rules,
    protected_roots: [join(project, "home")],
  });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const { policy } = compiled;
  const asking = READING_SUBJECT.tool;
  return {
    restrictedBy: (path: string, access: "read" | "list" | "search" | "write") =>
      findRestriction(policy, asking, { path, access }),
    restrictedGlobs: (access: "read" | "list" | "search" | "write") =>
      restrictedGlobs(policy, asking, access),
  };
}

describe("the two ways of searching", () => {
  let base: string;

  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "soong-agree-")));
  });

  afterEach(() => rmSync(base, { recursive: true, force: true }));

  function requestOf(
    root: string,
    input: Partial<SearchRequest>,
    { rulePaths = [], project = root }: { rulePaths?: readonly string[]; project?: string } = {},
  ): SearchRequest {
    return {
      place: { path: root, kind: "directory" },
      query: "needle",
      literal: false,
      caseSensitive: true,
      glob: undefined,
      limit: 1000,
      contextLines: 0,
      hidden: false,
      ignored: false,
      restricted: restrictedFilesBelow(root, "search", placesUnder(rulePaths, project)),
      redact: (whole) => whole,
      signal: new AbortController().signal,
      ...input,
    };
  }

  test("agree on files, lines, columns, context and the count of what is omitted", async () => {
    verifies("CODE-3");
    verifies("PATH-3", "PERM-15");
    let rulesTried = 0;
    let count = 0;
    await fc.assert(
      fc.asyncProperty(tree, asked, async (planted, { below, glob, rulePaths, ...input }) => {
        const project = join(base, String((count += 1)));
        plantFiles(project, filesOf(planted));
        const request = requestOf(
          join(project, below),
          { ...input, glob: glob === undefined ? undefined : parsePathGlob(glob) },
          { rulePaths, project },
        );
        // What ripgrep has no option for is searched plainly.
        if (request.restricted.excluded === undefined) return;
        rulesTried += rulePaths.length;
        const [plain, fast] = await Promise.all([
          searchPlainly(request),
          searchWithRipgrep(ripgrep, request),
        ]);
        const { filesSearched, ...rest } = fast;
        const { filesSearched: plainly, ...expected } = plain;
        expect(rest).toEqual(expected);
        // An ignore file that takes a file back in makes ripgrep read what the glob does not mean.
        expect(filesSearched).toBeGreaterThanOrEqual(plainly);
        if (glob === undefined) expect(filesSearched).toBe(plainly);
      }),
      { numRuns: process.env.SOONG_TEST_FULL === "1" ? 2000 : 60 },
    );
    expect(rulesTried).toBeGreaterThan(10);
  });

  test("both keep an answer within bounds where matches have many neighbours", async () => {
    verifies("CODE-3");
    const line = `${"x".repeat(590)}\n`;
    plantFiles(base, { a: `needle\n${line.repeat(40)}`.repeat(150) });
    const request = requestOf(base, { contextLines: 20 });
    for (const answer of [
      await searchPlainly(request),
      await searchWithRipgrep(ripgrep, request),
    ]) {
      expect(answer.truncated).toBe(true);
      expect(answer.lines.length).toBeGreaterThan(50);
      expect(answer.lines.length).toBeLessThan(150);
      expect(answer.lines[1]?.before).toEqual(Array.from({ length: 20 }, () => "x".repeat(500)));
    }
  });
});

/** Leaves out what would make a directory of a file. */
function filesOf(planted: {
  files: [string, Buffer][];
  ignoring: [string, Buffer][];
  exclude: Buffer | undefined;
  nested: boolean;
}): Record<string, Buffer> {
  const files: Record<string, Buffer> = {};
  const taken = new Set<string>();
  const directories = new Set<string>();
  const add = (path: string, bytes: Buffer): void => {
    const above = path.split("/").map((_name, index, all) => all.slice(0, index).join("/"));
    if (directories.has(path) || above.some((directory) => taken.has(directory))) return;
    taken.add(path);
    for (const directory of above) directories.add(directory);
    files[path] = bytes;
  };
  add("a/keep.txt", Buffer.from("foo\n"));
  for (const [place, bytes] of planted.ignoring) add(`${place}.gitignore`, bytes);
  if (planted.exclude !== undefined) add(".git/info/exclude", planted.exclude);
  if (planted.nested) add("a/.git/HEAD", Buffer.from("foo"));
  for (const [path, bytes] of planted.files) add(path, bytes);
  return files;
}
