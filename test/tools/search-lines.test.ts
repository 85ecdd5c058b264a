// What code.search finds (CODE-3), by ripgrep and by the plain walk alike.

import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ToolResult } from "@soong/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { openStage, textOf, type Stage } from "./search-stage.ts";

interface Found {
  matches: { path: string; line: number; column: number; text: string; text_cut?: true }[];
  truncated: boolean;
  files_searched: number;
  files_with_matches: number;
  unreadable: number;
  engine: string;
}

const ENGINES = [
  { engine: "ripgrep", search: {} },
  { engine: "plain_walk", search: { locateRipgrep: () => Promise.resolve(undefined) } },
] as const;

describe.each(ENGINES)("a search by $engine", ({ engine, search: options }) => {
  let stage: Stage;

  beforeEach(async () => {
    stage = await openStage({ search: options });
  });

  afterEach(() => stage.close());

  async function search(input: object): Promise<Found & { text: string }> {
    const result = await stage.call("code.search", input);
    expect(result.status, result.summary).toBe("succeeded");
    const data = dataOf(result);
    expect(data.engine).toBe(engine);
    return { ...data, text: textOf(result) };
  }

  async function places(input: object): Promise<string[]> {
    const { matches } = await search(input);
    return matches.map(({ path, line, column }) => `${path}:${line}:${column}`);
  }

  test("gives path, line, column in characters, text and neighbours", async () => {
    verifies("CODE-3");
    stage.plant({
      "project/src/a.ts": "one\n\tä😀 needle needle\r\nthree\nfour\nneedle",
      "project/b.txt": "nothing\n",
    });
    const found = await search({ query: "needle", context_lines: 1 });
    expect(found).toMatchObject({
      matches: [
        {
          path: "src/a.ts",
          line: 2,
          column: 5,
          text: "\tä😀 needle needle",
          before: ["one"],
          after: ["three"],
        },
        { path: "src/a.ts", line: 5, column: 1, text: "needle", before: ["four"] },
      ],
      truncated: false,
      files_searched: 2,
      files_with_matches: 1,
    });
    expect(found.text).toBe(
      "src/a.ts\n  1-  one\n  2:5  \tä😀 needle needle\n  3-  three\n  4-  four\n  5:1  needle\n\n" +
        "(2 matching lines; matches in 1 of 2 files)",
    );
  });

  test("shows a line once that is both a match and a neighbour", async () => {
    verifies("CODE-3");
    stage.plant({ "project/a": "x1\nx2\n3\n4\n5\n6\n7\nx8\n" });
    const { text } = await search({ query: "x", context_lines: 2 });
    expect(text.split("\n").slice(0, 9)).toEqual([
      "a",
      "  1:1  x1",
      "  2:1  x2",
      "  3-  3",
      "  4-  4",
      "  --",
      "  6-  6",
      "  7-  7",
      "  8:1  x8",
    ]);
  });

  test("says when there is nothing", async () => {
    verifies("CODE-3");
    stage.plant({ "project/a": "x\n", "project/b": "" });
    const found = await search({ query: "needle" });
    expect(found.matches).toEqual([]);
    expect(found.text).toMatch(/^\(no match in \d files?\)$/);
  });

  test("comes by path in bytes, then by line, the same every time, up to the limit", async () => {
    verifies("CODE-3");
    const names = ["a/z", "a-b", "a.c", "B", "é", "\uffee", "😀"];
    stage.plant(Object.fromEntries(names.map((name) => [`project/${name}`, "needle\nneedle\n"])));
    const order = ["B", "a-b", "a.c", "a/z", "é", "\uffee", "😀"].flatMap((path) => [
      `${path}:1:1`,
      `${path}:2:1`,
    ]);
    expect(await places({ query: "needle" })).toEqual(order);
    for (const limit of [1, 3, 13, 14]) {
      const found = await search({ query: "needle", limit });
      expect(found.matches.map(({ path, line }) => `${path}:${line}:1`)).toEqual(
        order.slice(0, limit),
      );
      expect(found.truncated).toBe(limit < 14);
      expect(found.text.includes("Raise limit")).toBe(limit < 14);
      expect(found.files_with_matches).toBe(7);
    }
  });

  test("reaches a limit that takes many files", async () => {
    verifies("CODE-3");
    for (let i = 0; i < 300; i += 1)
      stage.plant({ [`project/f${String(i).padStart(3, "0")}`]: "needle" });
    expect(await places({ query: "needle", limit: 1000 })).toHaveLength(300);
    const cut = await search({ query: "needle", limit: 299 });
    expect(cut.matches.at(-1)?.path).toBe("f298");
    expect(cut.truncated).toBe(true);
  });

  test("takes query, path and glob for values, never for options", async () => {
    verifies("CODE-3");
    stage.plant({ "project/-v/--files": "--version\n-e x\n", "project/-rf": "--help\n" });
    expect(await places({ query: "--version" })).toEqual(["-v/--files:1:1"]);
    expect(await places({ query: "-e x", literal: true })).toEqual(["-v/--files:2:1"]);
    expect(await places({ query: "-e", path: "-v" })).toEqual(["-v/--files:2:1"]);
    expect(await places({ query: "--help", path: "-rf" })).toEqual(["-rf:1:1"]);
    expect(await places({ query: "--help", glob: "-r*" })).toEqual(["-rf:1:1"]);
  });

  test("finds plain text when asked to, and distinguishes cases unless asked not to", async () => {
    verifies("CODE-3");
    stage.plant({ "project/a": "a.b(\nA.B(\naxb(\n" });
    expect(await places({ query: "a.b(", literal: true })).toEqual(["a:1:1"]);
    expect(await places({ query: "a.b\\(" })).toEqual(["a:1:1", "a:3:1"]);
    expect(await places({ query: "A.B(", literal: true, case_sensitive: false })).toEqual([
      "a:1:1",
      "a:2:1",
    ]);
  });

  test("takes the end of a line for the same whether it is LF or CR LF", async () => {
    verifies("CODE-3");
    stage.plant({ "project/a": "one end\r\ntwo end\nend three\r\n" });
    expect(await places({ query: "end$" })).toEqual(["a:1:5", "a:2:5"]);
  });

  test("gives the last line its neighbours, also those that would have been matches", async () => {
    verifies("CODE-3");
    stage.plant({ "project/a": "x1\nx2\nx3\n4\n5\n6\n" });
    const { matches, truncated } = await search({ query: "x", limit: 1, context_lines: 4 });
    expect(matches).toMatchObject([{ line: 1, after: ["x2", "x3", "4", "5"] }]);
    expect(truncated).toBe(true);
    const whole = await search({ query: "x", limit: 3, context_lines: 1 });
    expect(whole.truncated).toBe(false);
  });

  test("honours the ignore files of the repository above, and without one none from above", async () => {
    verifies("CODE-3");
    stage.plant({
      ".gitignore": "a\n",
      "project/.gitignore": "b\n",
      "project/a": "needle",
      "project/sub/b": "needle",
      "project/sub/c": "needle",
    });
    expect(await places({ query: "needle" })).toEqual(["a:1:1", "sub/c:1:1"]);
    expect(await places({ query: "needle", path: "sub" })).toEqual(["sub/b:1:1", "sub/c:1:1"]);
    stage.plant({ "project/.git/HEAD": "" });
    expect(await places({ query: "needle", path: "sub" })).toEqual(["sub/c:1:1"]);
  });

  test("searches hidden and ignored files only when asked to, and .git never", async () => {
    verifies("CODE-3");
    stage.plant({
      "project/.git/config": "needle",
      "project/.gitignore": "dist\n",
      "project/.hidden": "needle",
      "project/dist/x": "needle",
      "project/y": "needle",
    });
    expect(await places({ query: "needle" })).toEqual(["y:1:1"]);
    expect(await places({ query: "needle", hidden: true })).toEqual([".hidden:1:1", "y:1:1"]);
    expect(await places({ query: "needle", ignored: true })).toEqual(["dist/x:1:1", "y:1:1"]);
    expect(await places({ query: "needle", path: "dist" })).toEqual(["dist/x:1:1"]);
  });

  test("takes a glob without letting ignored files in", async () => {
    verifies("CODE-3");
    stage.plant({
      "project/.gitignore": "*.js\n!keep.js\n",
      "project/a.js": "needle",
      "project/keep.js": "needle",
      "project/src/a.ts": "needle",
      "project/src/b.py": "needle",
      "project/.x.ts": "needle",
    });
    expect(await places({ query: "needle", glob: "*.{js,ts}" })).toEqual([
      "keep.js:1:1",
      "src/a.ts:1:1",
    ]);
    expect(await places({ query: "needle", glob: "*.py" })).toEqual(["src/b.py:1:1"]);
    expect(await places({ query: "needle", glob: "!src" })).toEqual(["keep.js:1:1"]);
    expect(await places({ query: "needle", glob: "src/" })).toEqual([
      "src/a.ts:1:1",
      "src/b.py:1:1",
    ]);
  });

  test("skips binary files, links and pipes, and reads UTF-16 and broken UTF-8", async () => {
    verifies("CODE-3");
    stage.plant({
      "project/binary": Buffer.from("needle\0\n"),
      "project/wide": Buffer.from("\ufeffä needle\n", "utf16le"),
      "project/broken": Buffer.concat([Buffer.from([0xe4, 0x20]), Buffer.from("needle")]),
      "project/bom": "\ufeffneedle",
      outside: "needle",
    });
    symlinkSync("../outside", join(stage.project, "link"));
    symlinkSync("..", join(stage.project, "up"));
    execFileSync("mkfifo", [join(stage.project, "pipe")]);
    const { matches } = await search({ query: "needle" });
    expect(matches).toEqual([
      { path: "bom", line: 1, column: 1, text: "needle" },
      { path: "broken", line: 1, column: 3, text: "\ufffd needle" },
      { path: "wide", line: 1, column: 3, text: "ä needle" },
    ]);
    expect((await search({ query: "needle", path: "binary" })).matches).toEqual([]);
  });

  test("shows the part of a very long line that matters, with the right column", async () => {
    verifies("CODE-3");
    const before = "ä".repeat(150_000);
    const after = "b".repeat(300_000);
    stage.plant({
      "project/long": `${before}needle${after}\nshort\n`,
      "project/fake": "[Omitted long line with needle]\n",
    });
    const found = await search({ query: "needle", context_lines: 1 });
    expect(found.matches[0]).toMatchObject({
      path: "fake",
      column: 25,
      text: "[Omitted long line with needle]",
    });
    expect(found.matches[0]).not.toHaveProperty("text_cut");
    const [, long] = found.matches;
    expect(long).toMatchObject({
      path: "long",
      line: 1,
      column: 150_001,
      text_cut: true,
      after: ["short"],
    });
    expect(long?.text).toMatch(/^ä{100,}needleb{100,}$/);
    expect(long?.text.length).toBeLessThanOrEqual(1000);
    const beside = await search({ query: "^short", path: "long", context_lines: 1 });
    expect(beside.matches[0]).toMatchObject({ line: 2, before: ["ä".repeat(500)] });
  });

  test("finds names that hold a line break or are not UTF-8", async () => {
    verifies("CODE-3");
    stage.plant({ "project/two\nlines": "needle" });
    writeFileSync(
      Buffer.concat([Buffer.from(`${stage.project}/caf`), Buffer.from([0xe9])]),
      "needle",
    );
    const found = await search({ query: "needle" });
    expect(found.matches.map(({ path }) => path)).toEqual(["caf\ufffd", "two\nlines"]);
    expect(found.text).toContain('"two\\nlines"\n  1:1  needle');
  });

  test("counts what cannot be reached and finds the rest", async () => {
    verifies("CODE-3");
    stage.plant({ "project/a": "needle" });
    // Too deep to be named by any path: a fault for root, too.
    const deep = `for (let i = 0; i < 24; i += 1) {
      fs.mkdirSync("d".repeat(200));
      process.chdir("d".repeat(200));
    }`;
    execFileSync(process.execPath, ["-e", deep], { cwd: stage.project });
    const found = await search({ query: "needle" });
    execFileSync("rm", ["-rf", stage.project]);
    expect(found.matches.map(({ path }) => path)).toEqual(["a"]);
    expect(found.unreadable).toBe(1);
    expect(found.text).toContain("Could not be read: 1");
  });

  test("searches a single file, and refuses what is none", async () => {
    verifies("CODE-3");
    stage.plant({ "project/src/a.ts": "x\nneedle\n" });
    execFileSync("mkfifo", [join(stage.project, "pipe")]);
    expect(await search({ query: "needle", path: "src/a.ts" })).toMatchObject({
      matches: [{ path: "src/a.ts", line: 2, column: 1, text: "needle" }],
      files_searched: 1,
      files_with_matches: 1,
    });
    for (const [path, code] of [
      ["gone", "file_not_found"],
      ["pipe", "not_a_regular_file"],
    ]) {
      expect((await stage.call("code.search", { query: "x", path })).error?.code).toBe(code);
    }
  });

  test("refuses a query that could match nothing, or is no expression", async () => {
    verifies("CODE-3");
    stage.plant({ "project/a": "x" });
    for (const [query, code] of [
      ["a\nb", "invalid_query"],
      ["a\0b", "invalid_query"],
      ["a(", "invalid_regex"],
      ["(?=a)b", "invalid_regex"],
    ]) {
      for (const path of [".", "a"]) {
        const result = await stage.call("code.search", { query, path });
        expect(result.error, `${query} ${path}`).toMatchObject({
          code,
          recovery: "change_arguments",
        });
      }
    }
    expect((await stage.call("code.search", { query: "a", glob: "[" })).error?.code).toBe(
      "invalid_glob",
    );
  });
});

function dataOf(result: ToolResult): Found {
  return result.data as unknown as Found;
}
