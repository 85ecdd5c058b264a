import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applyPatch } from "diff";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { planPatch } from "./patch.ts";
import { applySpans, type Span } from "./planned-text.ts";
import { renderDiff, wholeFileDiff } from "./unified-diff.ts";

function span(before: string, old: string, text: string): Span {
  const start = Buffer.from(before).indexOf(old);
  return { start, end: start + Buffer.byteLength(old), text: Buffer.from(text) };
}

function diff(before: string, ...changes: [old: string, text: string][]): string {
  const spans = changes.map(([old, text]) => span(before, old, text));
  return renderDiff("f", Buffer.from(before), spans);
}

const numbered = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, index) => `${from + index}\n`).join("");

describe("a diff made from spans", () => {
  test("shows the changed line with three lines around it", () => {
    verifies("EDIT-4");
    expect(diff(numbered(1, 20), ["10", "ten"])).toBe(
      [
        "--- a/f",
        "+++ b/f",
        "@@ -7,7 +7,7 @@",
        " 7",
        " 8",
        " 9",
        "-10",
        "+ten",
        " 11",
        " 12",
        " 13",
        "",
      ].join("\n"),
    );
  });

  test("joins hunks whose context touches, and only those", () => {
    const joined = diff(numbered(10, 30), ["15", "a"], ["22", "b"]);
    expect(joined.match(/^@@.*$/gm)).toEqual(["@@ -3,14 +3,14 @@"]);
    const apart = diff(numbered(10, 40), ["15\n", "a\nb\n"], ["23", "c"]);
    expect(apart.match(/^@@.*$/gm)).toEqual(["@@ -3,7 +3,8 @@", "@@ -11,7 +12,7 @@"]);
  });

  test("counts the lines added by all hunks before", () => {
    const three = diff(
      numbered(10, 60),
      ["15\n", "a\nb\n"],
      ["30\n", ""],
      ["31\n", ""],
      ["50", "c"],
    );
    expect(three.match(/^@@.*$/gm)).toEqual([
      "@@ -3,7 +3,8 @@",
      "@@ -18,8 +19,6 @@",
      "@@ -38,7 +37,7 @@",
    ]);
  });

  test("shows several spans of one line as one changed line", () => {
    expect(diff("a b c\n", ["a", "1"], ["c", "3"])).toContain("\n-a b c\n+1 b 3\n");
    expect(diff("a b c\n", ["a", "1"], ["c\n", "3\n"])).toContain("\n-a b c\n+1 b 3\n");
  });

  test("omits lines that a span holds on both sides", () => {
    const hunk = diff("a\nb\nc\nd\ne\n", ["a\nb\nc\nd\n", "a\nB\nc\nd\n"]);
    expect(hunk).toContain("@@ -1,5 +1,5 @@\n a\n-b\n+B\n c\n d\n e\n");
    const inside = diff("a\nb\nc\nd\ne\n", ["a\nb\nc\nd\ne", "A\nb\nc\nd\nE"]);
    expect(inside).toContain("-a\n+A\n b\n c\n d\n-e\n+E\n");
  });

  test("shows inserted and removed lines as such", () => {
    expect(diff("a\nb\n", ["a\n", "a\nx\n"])).toContain("@@ -1,2 +1,3 @@\n a\n+x\n b\n");
    expect(diff("a\nb\n", ["a\n", ""])).toContain("@@ -1,2 +1,1 @@\n-a\n b\n");
    expect(diff("a\n", ["a\n", ""])).toContain("@@ -1,1 +0,0 @@\n-a\n");
    expect(diff("a\nb\n", ["\nb", "b"])).toContain("-a\n-b\n+ab\n");
  });

  test("says where the final line break is missing", () => {
    expect(diff("a\nb", ["b", "c"])).toBe(
      "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
    );
    expect(diff("a\nb", ["b", "b\n"])).toContain("-b\n\\ No newline at end of file\n+b\n");
    expect(diff("a\nb\n", ["b\n", "b"])).toMatch(/-b\n\+b\n\\ No newline at end of file\n$/);
    expect(diff("a\nb", ["a", "c"])).toMatch(/-a\n\+c\n b\n\\ No newline at end of file\n$/);
  });

  test("keeps carriage returns where they are", () => {
    verifies("EDIT-4");
    expect(diff("a\r\nb\nc\r\n", ["b", "x"])).toContain(" a\r\n-b\n+x\n c\r\n");
    expect(diff("a\r\nb\rc\n", ["a\r", "a"])).toContain("-a\r\n+a\n b\rc\n");
  });

  test("of a new file has no old side", () => {
    const text = Buffer.from("a\nb\n");
    expect(renderDiff("f", undefined, [{ start: 0, end: 0, text }])).toBe(
      "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n",
    );
    expect(renderDiff("f", new Uint8Array(), [{ start: 0, end: 0, text }])).toBe(
      "--- a/f\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n",
    );
    expect(renderDiff("f", undefined, [])).toBe("--- /dev/null\n+++ b/f\n");
  });

  test("is empty when nothing changes", () => {
    expect(renderDiff("f", Buffer.from("a\n"), [])).toBe("");
    expect(diff("a\nb\n", ["a", "a"])).toBe("");
  });

  test("is readable in any encoding of the file", () => {
    verifies("EDIT-4");
    for (const encoding of ["le", "be"]) {
      const encode = (text: string): Buffer => {
        const bytes = Buffer.from(text, "utf16le");
        return encoding === "le" ? bytes : bytes.swap16();
      };
      const before = encode("\ufeffeins\r\nzwölf\r\n\u0a00\u000a");
      const start = before.indexOf(encode("zwölf"));
      const spans = [{ start, end: start + 10, text: encode("drei𝄞") }];
      expect(renderDiff("f", before, spans)).toBe(
        "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n eins\r\n-zwölf\r\n+drei𝄞\r\n \u0a00\n",
      );
    }
    const latin1 = Buffer.from("Les élèves étaient déjà là.\nFin.\n", "latin1");
    const end = { start: latin1.indexOf("Fin"), end: latin1.indexOf("Fin") + 3 };
    const legacy = renderDiff("f", latin1, [{ ...end, text: Buffer.from("Été", "latin1") }]);
    expect(legacy).toContain(" Les élèves étaient déjà là.\n-Fin.\n+Été.\n");
  });

  test("of lines that differ only in bytes that do not decode shows the change", () => {
    const before = Buffer.from([0xc3, 0xb6, 0xc3, 0xb6, 0x20, 0xff, 0x0a, 0xc3, 0xb6, 0x0a]);
    const spans = [{ start: 5, end: 6, text: Buffer.from([0xfe]) }];
    expect(renderDiff("f", before, spans)).toContain("-öö \ufffd\n+öö \ufffd\n ö\n");
  });

  test.each([
    ["src/a.ts", "a/src/a.ts"],
    ["/etc/hosts", "a/etc/hosts"],
    ["with space.txt", "a/with space.txt\t"],
    ["größe.txt", "a/größe.txt"],
    ['say "hi"', '"a/say \\"hi\\""'],
    ["back\\slash", '"a/back\\\\slash"'],
    ["two\nlines\t", '"a/two\\012lines\\011"'],
  ])("names %j so that the header stays one line", (name, header) => {
    const text = renderDiff(name, Buffer.from("a\n"), [
      { start: 0, end: 1, text: Buffer.from("b") },
    ]);
    expect(text.split("\n").slice(0, 3)).toEqual([
      `--- ${header}`,
      `+++ ${header.replace("a/", "b/")}`,
      "@@ -1,1 +1,1 @@",
    ]);
  });

  test("of very many places on one line is made in one go", () => {
    const before = Buffer.from("a,".repeat(100_000));
    const spans = Array.from({ length: 100_000 }, (_, index) => ({
      start: index * 2,
      end: index * 2 + 1,
      text: Buffer.from(""),
    }));
    const text = renderDiff("f", before, spans);
    expect(text).toContain(`+${",".repeat(100_000)}\n`);
  });
});

describe("a diff of two whole texts", () => {
  test("shows what differs between them", () => {
    const before = Buffer.from(numbered(1, 50));
    const after = Buffer.from(numbered(1, 50).replace("\n20\n", "\n").replace("\n40\n", "\nx\n"));
    const text = wholeFileDiff("f", before, after);
    expect(text.match(/^@@.*$/gm)).toEqual(["@@ -17,7 +17,6 @@", "@@ -37,7 +36,7 @@"]);
    expect(wholeFileDiff("f", before, before)).toBe("");
    expect(wholeFileDiff("f", undefined, Buffer.from("a"))).toBe(
      "--- /dev/null\n+++ b/f\n@@ -0,0 +1,1 @@\n+a\n\\ No newline at end of file\n",
    );
  });

  test("replaces everything between the first and the last difference when there are too many", () => {
    const before = Buffer.from(`first\n${numbered(1, 3000)}last\n`);
    const after = Buffer.from(`first\n${numbered(5001, 8000)}last\n`);
    const text = wholeFileDiff("f", before, after);
    expect(text.match(/^@@.*$/gm)).toEqual(["@@ -1,3002 +1,3002 @@"]);
    expect(text.startsWith("--- a/f\n+++ b/f\n@@ -1,3002 +1,3002 @@\n first\n-1\n-2\n")).toBe(true);
    expect(text.endsWith("+8000\n last\n")).toBe(true);
  });

  test("reads each side in its own encoding", () => {
    const before = Buffer.from("\ufeffa\nb\n", "utf16le");
    expect(wholeFileDiff("f", before, Buffer.from("a\nc\n"))).toContain(" a\n-b\n+c\n");
  });
});

describe("what others make of the diff", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "soong-diff-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const piece = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom("a", "b", "é", "𝄞", " ", "-- ", "+", "\\", "@@ ") },
    { weight: 4, arbitrary: fc.constantFrom("\n", "\r\n", "\n\n") },
    { weight: 1, arbitrary: fc.constantFrom("\r", "\u2028", "\f") },
  );
  const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));
  const changed = fc
    .array(fc.record({ kept: text, old: text, text }), { minLength: 1, maxLength: 5 })
    .chain((parts) => fc.record({ parts: fc.constant(parts), rest: text }))
    .map(({ parts, rest }) => {
      const spans: Span[] = [];
      let before = "";
      for (const part of parts) {
        before += part.kept;
        const start = Buffer.byteLength(before);
        before += part.old;
        spans.push({ start, end: Buffer.byteLength(before), text: Buffer.from(part.text) });
      }
      const bytes = Buffer.from(before + rest);
      return { before: bytes, spans, after: Buffer.from(applySpans(bytes, spans)) };
    });

  test("the diff package applies it to the old text and gets the new one", () => {
    verifies("EDIT-4");
    fc.assert(
      fc.property(changed, ({ before, spans, after }) => {
        for (const made of [renderDiff("f", before, spans), wholeFileDiff("f", before, after)]) {
          fc.pre(made !== "" || before.equals(after));
          if (made === "") continue;
          const options = { autoConvertLineEndings: false };
          expect(applyPatch(before.toString(), made, options)).toBe(after.toString());
        }
      }),
      { numRuns: 1000 },
    );
  });

  test("our own patches apply it to the old text and get the new one", () => {
    verifies("EDIT-4");
    fc.assert(
      fc.property(changed, ({ before, spans, after }) => {
        const made = renderDiff("some dir/f", before, spans);
        fc.pre(made !== "");
        const planned = planPatch(before, made, { path: "some dir/f", create: false });
        expect(planned.ok && Buffer.from(planned.after).equals(after)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  test("git applies it to the old text and gets the new one", () => {
    verifies("EDIT-4");
    const git = (...args: string[]): void => {
      execFileSync("git", args, {
        cwd: folder,
        env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
        stdio: ["ignore", "ignore", "pipe"],
      });
    };
    git("init", "-q");
    const apply = (name: string, before: Buffer, made: string): Buffer => {
      writeFileSync(join(folder, name), before);
      writeFileSync(join(folder, "patch"), made);
      git("apply", "--whitespace=nowarn", "--unidiff-zero", "patch");
      return readFileSync(join(folder, name));
    };
    fc.assert(
      fc.property(changed, ({ before, spans, after }) => {
        // A patch that leaves nothing is, to git, one that removes the file.
        fc.pre(after.length > 0 && before.length > 0 && !after.equals(before));
        expect(apply("f", before, renderDiff("f", before, spans)).equals(after)).toBe(true);
      }),
      { numRuns: process.env.SOONG_TEST_FULL === "1" ? 500 : 25 },
    );
    for (const name of ["with space", 'quo"te', "back\\slash", "größe", "tab\there"]) {
      const text = Buffer.from("b");
      const made = renderDiff(name, Buffer.from("a\n"), [{ start: 0, end: 1, text }]);
      expect(apply(name, Buffer.from("a\n"), made).toString()).toBe("b\n");
    }
  });
});
