import { isUtf8 } from "node:buffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { planPatch } from "./patch.ts";
import { applySpans } from "./planned-text.ts";
import { renderDiff } from "./unified-diff.ts";

const options = { path: "src/x.txt", create: false };

function patched(before: string | Buffer, patch: string): string {
  const plan = planPatch(Buffer.from(before), patch, options);
  return plan.ok ? Buffer.from(plan.after).toString("latin1") : `refused: ${plan.error.code}`;
}

describe("hunks", () => {
  test("are put where their lines are, those no hunk names staying as they are", () => {
    verifies("EDIT-3");
    const patch = "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -5,3 +5,4 @@\n e\n f\n+F\n g\n";
    expect(patched("a\nb\nc\nd\ne\nf\ng\n", patch)).toBe("a\nB\nc\nd\ne\nf\nF\ng\n");
  });

  test("may be some lines off, and then go to the nearest place, the later of two equally near", () => {
    verifies("EDIT-3");
    const hunk = "@@ -4,2 +4,2 @@\n-x\n+y\n n\n";
    expect(patched("n\nx\nn\nn\nn\n", hunk)).toBe("n\ny\nn\nn\nn\n");
    expect(patched("n\nx\nn\n0\nn\nx\nn\n", hunk)).toBe("n\nx\nn\n0\nn\ny\nn\n");
  });

  test("go to the nearest place however far, where only two lines together identify it", () => {
    verifies("EDIT-3");
    const run = (line: string, count: number): string => `${line}\n`.repeat(count);
    for (const distance of [1, 255, 256, 257, 1023, 1024, 1025, 4096]) {
      // Line 200 is the last p before a q, and so is the one twice the distance further down.
      const start = run("q", 100) + run("p", 99);
      const between = run("q", distance - 1) + run("p", distance - 1);
      const hunk = `@@ -9,2 +${200 + distance},1 @@\n-p\n-q\n+x\n`;
      const { length } = start;
      const two = `${start}p\nq\n${between}p\nq\n${run("q", 99)}`;
      const onlyEarlier = `${start}p\nq\n${between}p\np\n${run("p", 99)}`;
      const onlyLater = `${run("q", 199)}q\nq\n${between}p\nq\n${run("q", 99)}`;
      const later = length + 4 + between.length;
      const replacedAt = (file: string, at: number): string =>
        `${file.slice(0, at)}x\n${file.slice(at + 4)}`;
      expect(patched(two, hunk)).toBe(replacedAt(two, later));
      expect(patched(onlyLater, hunk)).toBe(replacedAt(onlyLater, later));
      expect(patched(onlyEarlier, hunk)).toBe(replacedAt(onlyEarlier, length));
    }
  });

  test("never match with a line that is not the same", () => {
    verifies("EDIT-3");
    for (const other of ["B", "b ", " b", "b\r", "\tb", "bb", ""]) {
      const patch = "@@ -1,3 +1,3 @@\n a\n b\n-c\n+C\n";
      expect(patched(`a\n${other}\nc\n`, patch)).toBe("refused: patch_apply_failed");
    }
  });

  test("without context are put by line number: an insertion goes after the line it names", () => {
    verifies("EDIT-3");
    expect(patched("a\nb\nc\n", "@@ -2,0 +3 @@\n+x\n")).toBe("a\nb\nx\nc\n");
    expect(patched("a\nb\nc\n", "@@ -0,0 +1 @@\n+x\n")).toBe("x\na\nb\nc\n");
    expect(patched("a\nb\nc\n", "@@ -1,0 +2 @@\n+x\n@@ -3 +4,0 @@\n-c\n")).toBe("a\nx\nb\n");
  });

  test("out of order and sharing lines are refused, not applied twice", () => {
    verifies("EDIT-3");
    const first = "@@ -1,3 +1,4 @@\n a\n+x\n b\n c\n";
    const second = "@@ -3,3 +4,4 @@\n c\n+y\n d\n e\n";
    expect(patched("a\nb\nc\nd\ne\n", first + second)).toBe("refused: patch_apply_failed");
    expect(patched("a\nb\nc\nd\ne\n", second + first)).toBe("refused: patch_apply_failed");
    expect(patched("a\nb\nc\nd\ne\n", first + first)).toBe("refused: patch_apply_failed");
  });

  test("hold lines that look like headers, because the counts decide", () => {
    verifies("EDIT-3");
    const patch =
      "--- a/src/x.txt\n+++ b/src/x.txt\n@@ -1,3 +1,3 @@\n--- old sql\n+++ new c\n @@ -1 +1 @@\n end\n";
    expect(patched("-- old sql\n@@ -1 +1 @@\nend\n", patch)).toBe("++ new c\n@@ -1 +1 @@\nend\n");
  });

  test("may have lost the space of a blank context line", () => {
    verifies("EDIT-3");
    expect(patched("a\n\nb\n", "@@ -1,3 +1,3 @@\n-a\n+A\n\n b\n")).toBe("A\n\nb\n");
  });

  test("say by a mark that the last line has no newline", () => {
    verifies("EDIT-3");
    const mark = "\\ No newline at end of file\n";
    expect(patched("a\nb", `@@ -1,2 +1,2 @@\n a\n-b\n${mark}+c\n`)).toBe("a\nc\n");
    expect(patched("a\nb\n", `@@ -1,2 +1,2 @@\n a\n-b\n+c\n${mark}`)).toBe("a\nc");
    expect(patched("a\nb", `@@ -1,2 +1,2 @@\n-a\n+A\n b\n${mark}`)).toBe("A\nb");
    expect(patched("a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n")).toBe("refused: patch_apply_failed");
  });

  test("with $& and the like in them are taken literally", () => {
    verifies("EDIT-4");
    expect(patched("a$&\n", "@@ -1 +1 @@\n-a$&\n+$&$1$`$$\n")).toBe("$&$1$`$$\n");
  });

  test("that leave the file as it is are an error", () => {
    verifies("EDIT-3");
    expect(patched("a\n", "@@ -1 +1 @@\n-a\n+a\n")).toBe("refused: no_change");
  });

  test("may empty the file", () => {
    verifies("EDIT-3");
    expect(patched("a\nb\n", "@@ -1,2 +0,0 @@\n-a\n-b\n")).toBe("");
  });
});

test("A diff made from spans, given as a patch, makes the same change again", () => {
  verifies("EDIT-3", "EDIT-4");
  const words = fc.constantFrom("a", "b", "", "}", "\ta", "$&", "é", "-- x");
  const text = fc
    .array(fc.tuple(words, fc.constantFrom("\n", "\r\n", "\n")), { maxLength: 30 })
    .chain((lines) => fc.constantFrom("", "end").map((end) => lines.flat().join("") + end));
  const property = fc.property(text, fc.nat(), fc.nat(20), text, (old, at, count, fresh) => {
    const before = Buffer.from(old);
    const start = at % (before.length + 1);
    const span = { start, end: Math.min(before.length, start + count), text: Buffer.from(fresh) };
    const after = applySpans(before, [span]);
    // Cut in the middle of a character, the text would be another encoding.
    fc.pre(isUtf8(after) && !Buffer.from(after).equals(before));
    const plan = planPatch(before, renderDiff(options.path, before, [span]), options);
    expect(plan.ok && Buffer.from(plan.after).toString()).toBe(Buffer.from(after).toString());
  });
  fc.assert(property, { numRuns: 300 });
});

describe("bytes", () => {
  test("outside the changed line stay, no matter what they are, and one span gives the result", () => {
    verifies("EDIT-4");
    const junk = fc
      .array(fc.tuple(fc.uint8Array({ maxLength: 8 }), fc.constantFrom("\n", "\r\n", "\r", "\n\n")))
      .map((lines) => Buffer.concat(lines.flatMap(([bytes, end]) => [bytes, Buffer.from(end)])));
    const property = fc.property(
      junk,
      junk,
      fc.constantFrom("here\r\n", "here\n", "\there \n", "h\re\n"),
      fc.constantFrom("plain\n", "dos\r\n", "$&\n", "no end\n\\ No newline at end of file\n"),
      (head, tail, old, fresh) => {
        // The last line of `head` is whole, so that the line starts where it should.
        const start = Buffer.concat([Buffer.from("#"), head, Buffer.from("\n")]);
        const before = Buffer.concat([start, Buffer.from(old), tail]);
        const number = start.toString("latin1").split("\n").length;
        const plan = planPatch(before, `@@ -${number} +${number} @@\n-${old}+${fresh}`, options);
        const text = fresh.includes("\\") ? "no end" : fresh;
        expect(plan.ok && plan.spans).toEqual([
          { start: start.length, end: start.length + old.length, text: Buffer.from(text) },
        ]);
        const after = Buffer.concat([start, Buffer.from(text), tail]);
        expect(plan.ok && after.equals(plan.after)).toBe(true);
      },
    );
    fc.assert(property, { numRuns: 300 });
  });

  test("of several hunks with context: only the changed lines are in the spans", () => {
    verifies("EDIT-4");
    const before = Buffer.from("a\r\nb\nc\r\nd\ne\r\n");
    const plan = planPatch(before, "@@ -1,5 +1,5 @@\n a\r\n-b\n+B\n c\r\n-d\n+D\n e\r\n", options);
    expect(plan.ok && plan.spans).toEqual([
      { start: 3, end: 5, text: Buffer.from("B\n") },
      { start: 8, end: 10, text: Buffer.from("D\n") },
    ]);
  });

  test("of UTF-16 are compared and written as UTF-16, mark and damaged characters kept", () => {
    verifies("EDIT-4");
    const patch = "@@ -1,3 +1,4 @@\n ä\n-b\n+\u{1f600}\n+\u0a0a\n c\n";
    const old = "\ufeffä\nb\nc\n\ud800 half\n\u0a00\u000a";
    const expected = "\ufeffä\n\u{1f600}\n\u0a0a\nc\n\ud800 half\n\u0a00\u000a";
    const little = (text: string): Buffer => Buffer.from(text, "utf16le");
    const big = (text: string): Buffer => little(text).swap16();
    for (const encode of [little, big]) {
      const plan = planPatch(encode(old), patch, options);
      expect(plan.ok && encode(expected).equals(plan.after)).toBe(true);
    }
  });

  test("of UTF-16 end a line only where a character is a line feed, not where two make its bytes", () => {
    verifies("EDIT-4");
    const text = (inserted: string): string => `\ufeff\u4100\u0a41\u4100\n${inserted}b\n`;
    const little = (inserted: string): Buffer => Buffer.from(text(inserted), "utf16le");
    const big = (inserted: string): Buffer => little(inserted).swap16();
    for (const encode of [little, big]) {
      const plan = planPatch(encode(""), "@@ -1,0 +2 @@\n+x\n", options);
      expect(plan.ok && encode("x\n").equals(plan.after)).toBe(true);
    }
  });

  test("marked as UTF-16 that are no such text are refused", () => {
    verifies("EDIT-4");
    const plan = planPatch(
      Buffer.from("\xff\xfe\0\0a\n", "latin1"),
      "@@ -1,0 +2 @@\n+b\n",
      options,
    );
    expect(plan).toMatchObject({ ok: false, error: { code: "undecodable_text" } });
  });

  test("of the byte order mark stay in front, whether or not the patch knows of it", () => {
    verifies("EDIT-4");
    const mark = "\xef\xbb\xbf";
    const file = Buffer.from(`${mark}a\nb\n`, "latin1");
    expect(patched(file, "@@ -1,2 +1,2 @@\n-a\n+A\n b\n")).toBe(`${mark}A\nb\n`);
    expect(patched(file, "@@ -0,0 +1 @@\n+top\n")).toBe(`${mark}top\na\nb\n`);
    expect(patched(file, "@@ -1,2 +1,2 @@\n-\ufeffa\n+\ufeffA\n b\n")).toBe(`${mark}A\nb\n`);
    expect(patched(file, "@@ -1,2 +1,2 @@\n-\ufeffa\n+A\n b\n")).toBe("A\nb\n");
  });

  test("of an older encoding take the patch in that encoding, or refuse what it cannot hold", () => {
    verifies("EDIT-4");
    const file = Buffer.from("un \xe9t\xe9 \xe0 la plage\nd\xe9j\xe0 vu\nfin\n", "latin1");
    const patch = (text: string): string => `@@ -2,2 +2,2 @@\n-déjà vu\n+${text}\n fin\n`;
    expect(patched(file, patch("çà et là"))).toBe(
      "un \xe9t\xe9 \xe0 la plage\n\xe7\xe0 et l\xe0\nfin\n",
    );
    expect(patched(file, patch("\u65e5"))).toBe("refused: undecodable_text");
    const blank = Buffer.concat([file, Buffer.from("\n")]);
    expect(patched(blank, "@@ -4 +4 @@\n-\u65e5\n+x\n")).toBe("refused: patch_apply_failed");
  });

  test("that are no text at all match only as they are", () => {
    verifies("EDIT-4");
    const file = Buffer.from("\0\x01\xff\nkey=1\n\x80\x81\n", "latin1");
    expect(patched(file, "@@ -2 +2 @@\n-key=1\n+key=2\n")).toBe("\0\x01\xff\nkey=2\n\x80\x81\n");
    expect(patched(file, "@@ -3 +3 @@\n-\u0080\u0081\n+x\n")).toBe("refused: patch_apply_failed");
  });

  test("of half a character in the patch are refused", () => {
    verifies("EDIT-4");
    expect(patched("a\n", "@@ -1 +1 @@\n-a\n+\ud800\n")).toBe("refused: patch_apply_failed");
  });
});
