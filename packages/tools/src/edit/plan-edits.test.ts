import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { planEdits, type TextEdit } from "./plan-edits.ts";
import type { PlannedText } from "./planned-text.ts";

const utf16le = (text: string): Buffer => Buffer.from(`\ufeff${text}`, "utf16le");
const utf16be = (text: string): Buffer => utf16le(text).swap16();
const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

function plan(before: string | Uint8Array, ...edits: TextEdit[]): PlannedText {
  return planEdits(typeof before === "string" ? Buffer.from(before) : before, edits, {
    create: false,
  });
}

function afterOf(planned: PlannedText): Buffer {
  if (!planned.ok) throw new Error(`${planned.error.code}: ${planned.error.message}`);
  return Buffer.from(planned.after);
}

function edited(before: string, ...edits: TextEdit[]): string {
  return afterOf(plan(before, ...edits)).toString();
}

function errorOf(planned: PlannedText): { code: string; message: string; details: unknown } {
  if (planned.ok) throw new Error("planned, though an error was expected");
  return { details: undefined, ...planned.error };
}

describe("which texts are replaced", () => {
  test("a text that occurs once is replaced", () => {
    verifies("EDIT-2");
    expect(edited("one two three", { old: "two", new: "2" })).toBe("one 2 three");
  });

  test("the spans name the bytes replaced and what takes their place", () => {
    const planned = plan("aé b", { old: "b", new: "ü" }, { old: "é", new: "" });
    expect(planned).toMatchObject({
      ok: true,
      spans: [
        { start: 1, end: 3, text: Buffer.from("") },
        { start: 4, end: 5, text: Buffer.from("ü") },
      ],
    });
  });

  test("a text that does not occur is text_not_found and says nothing was changed", () => {
    verifies("EDIT-2");
    const error = errorOf(plan("one\n", { old: "four", new: "4" }));
    expect(error.code).toBe("text_not_found");
    expect(error.message).toMatch(/edits\[0\]\.old is not in the file.*Nothing was changed/);
  });

  test("a text that occurs several times is ambiguous_edit with the line of each place", () => {
    verifies("EDIT-2");
    const error = errorOf(plan("x\ny\nx\n\nx x\n", { old: "x", new: "z" }));
    expect(error.code).toBe("ambiguous_edit");
    expect(error.details).toEqual({ edit: 0, lines: [1, 3, 5], places: 4, lines_truncated: false });
    expect(error.message).toContain("occurs 4 times, at line 1, 3, 5.");
    expect(error.message).toContain("replace_all");
  });

  test("places that overlap count as several", () => {
    verifies("EDIT-2");
    expect(errorOf(plan("aaa", { old: "aa", new: "b" })).code).toBe("ambiguous_edit");
    expect(edited("aaa", { old: "aa", new: "b", replace_all: true })).toBe("ba");
    expect(errorOf(plan(utf16le("aaa"), { old: "aa", new: "b" })).code).toBe("ambiguous_edit");
  });

  test("the list of lines of an ambiguous text is bounded", () => {
    const error = errorOf(plan("x\n".repeat(5000), { old: "x", new: "z" }));
    expect(error.details).toMatchObject({ places: 1000, lines_truncated: true });
    expect((error.details as { lines: number[] }).lines).toHaveLength(20);
    expect(error.message).toContain("1000 times or more");
    expect(error.message.length).toBeLessThan(500);
    const twenty = errorOf(plan("x\n".repeat(20), { old: "x", new: "z" }));
    expect(twenty.details).toMatchObject({ places: 20, lines_truncated: false });
  });

  test("replace_all replaces every place from left to right", () => {
    verifies("EDIT-2");
    expect(edited("a-a-a", { old: "a", new: "aa", replace_all: true })).toBe("aa-aa-aa");
    expect(edited("x", { old: "x", new: "y", replace_all: true })).toBe("y");
    const missing = errorOf(plan("x", { old: "q", new: "y", replace_all: true }));
    expect(missing.code).toBe("text_not_found");
  });

  test("more places than one call may change are refused, of one edit or of several", () => {
    const ab = (count: number): Buffer => Buffer.from("ab".repeat(count));
    const all = (old: string): TextEdit => ({ old, new: "x", replace_all: true });
    expect(errorOf(plan(ab(100_001), all("a")))).toMatchObject({
      code: "invalid_edits",
      details: { edit: 0 },
    });
    expect(errorOf(plan(ab(50_001), all("a"), all("b")))).toMatchObject({
      code: "invalid_edits",
      details: { edit: 1 },
    });
    const most = afterOf(plan(ab(50_000), all("a"), all("b")));
    expect(most.equals(Buffer.alloc(100_000, "x"))).toBe(true);
  });

  test("all edits are looked up in the text before, in any order", () => {
    verifies("EDIT-2");
    const swap = [
      { old: "one", new: "two" },
      { old: "two", new: "one" },
    ];
    expect(edited("one two", ...swap)).toBe("two one");
    expect(edited("one two", ...swap.toReversed())).toBe("two one");
    const chained = plan("one", { old: "one", new: "two" }, { old: "two", new: "three" });
    expect(errorOf(chained).code).toBe("text_not_found");
  });

  test("one edit that fails stops all, and the others that fail are named", () => {
    verifies("EDIT-2");
    const error = errorOf(
      plan("a b b", { old: "a", new: "1" }, { old: "q", new: "2" }, { old: "b", new: "3" }),
    );
    expect(error.code).toBe("text_not_found");
    expect(error.details).toMatchObject({
      edit: 1,
      also_failing: [{ edit: 2, code: "ambiguous_edit" }],
    });
    expect(error.message).toContain("These fail too: edits[2] (ambiguous_edit).");
  });

  test("the names of further failing edits are bounded", () => {
    const many = Array.from({ length: 30 }, (_, index) => ({ old: `q${index}`, new: "" }));
    const error = errorOf(plan("nothing of it", ...many));
    expect((error.details as { also_failing: unknown[] }).also_failing).toHaveLength(20);
    expect(error.message).toContain("and 9 more.");
  });

  test("edits that overlap are overlapping_edits and both are named", () => {
    verifies("EDIT-2");
    const error = errorOf(
      plan("x\nabcd\n", { old: "x", new: "y" }, { old: "bcd", new: "2" }, { old: "abc", new: "1" }),
    );
    expect(error.code).toBe("overlapping_edits");
    expect(error.details).toEqual({ edits: [1, 2], line: 2 });
    expect(error.message).toContain("edits[1] and edits[2]");
  });

  test("the same edit twice overlaps with itself, also where it would change nothing", () => {
    const twice = plan("abc", { old: "b", new: "x" }, { old: "b", new: "x" });
    expect(errorOf(twice).code).toBe("overlapping_edits");
    const inside = plan(
      "a\r\nb a\nb",
      { old: "a\nb", new: "a\r\nb", replace_all: true },
      { old: "a\r\nb", new: "q" },
    );
    expect(errorOf(inside).code).toBe("overlapping_edits");
  });

  test("edits that touch do not overlap", () => {
    verifies("EDIT-2");
    expect(edited("abcd", { old: "cd", new: "2" }, { old: "ab", new: "1" })).toBe("12");
  });

  test("an empty list of edits is invalid", () => {
    verifies("EDIT-2");
    for (const create of [true, false]) {
      expect(errorOf(planEdits(Buffer.from("a"), [], { create })).code).toBe("invalid_edits");
      expect(errorOf(planEdits(undefined, [], { create })).code).toBe("invalid_edits");
    }
  });

  test("an empty old is invalid in a file that has text, with replace_all too", () => {
    verifies("EDIT-2");
    for (const replace_all of [true, false]) {
      const error = errorOf(
        plan("abc", { old: "b", new: "x" }, { old: "", new: "x", replace_all }),
      );
      expect(error).toMatchObject({ code: "invalid_edits", details: { edit: 1 } });
    }
    expect(errorOf(plan("", { old: "", new: "x" })).code).toBe("invalid_edits");
  });

  test("an edit that changes nothing is no_change", () => {
    verifies("EDIT-2");
    const error = errorOf(plan("ab", { old: "a", new: "c" }, { old: "b", new: "b" }));
    expect(error).toMatchObject({ code: "no_change", details: { edit: 1 } });
    // What differs only in line breaks takes those of the place and is then the same.
    expect(errorOf(plan("a\r\nb", { old: "a\r\nb", new: "a\nb" })).code).toBe("no_change");
  });

  test("a place of several that comes out as it was is no span", () => {
    const planned = plan("a\r\nb a\nb", { old: "a\nb", new: "a\r\nb", replace_all: true });
    expect(afterOf(planned).toString()).toBe("a\r\nb a\r\nb");
    expect(planned).toMatchObject({ spans: [{ start: 5, end: 8 }] });
  });

  test("half a surrogate pair is refused before anything is looked up", () => {
    for (const edit of [
      { old: "\ud834", new: "x" },
      { old: "x", new: "\udd1e" },
    ]) {
      const error = errorOf(plan("x \ufffd 𝄞", edit));
      expect(error).toMatchObject({ code: "invalid_edits", details: { edit: 0 } });
    }
    expect(edited("x", { old: "x", new: "𝄞" })).toBe("𝄞");
  });
});

describe("files that are missing or empty", () => {
  const create = (before: Uint8Array | undefined, ...edits: TextEdit[]): PlannedText =>
    planEdits(before, edits, { create: true });

  test("one edit with an empty old creates a missing or empty file", () => {
    verifies("EDIT-2");
    for (const before of [undefined, new Uint8Array()]) {
      const planned = create(before, { old: "", new: "é\r\n$&\n\0" });
      expect(afterOf(planned).toString()).toBe("é\r\n$&\n\0");
      expect(planned).toMatchObject({ spans: [{ start: 0, end: 0 }] });
    }
  });

  test("a file is created empty, but an empty file does not change by it", () => {
    expect(afterOf(create(undefined, { old: "", new: "" }))).toHaveLength(0);
    expect(errorOf(create(new Uint8Array(), { old: "", new: "" })).code).toBe("no_change");
  });

  test("creating takes exactly one edit", () => {
    verifies("EDIT-2");
    const two = create(undefined, { old: "", new: "a" }, { old: "", new: "b" });
    expect(errorOf(two).code).toBe("invalid_edits");
    const mixed = create(undefined, { old: "x", new: "a" }, { old: "", new: "b" });
    expect(errorOf(mixed).code).toBe("invalid_edits");
  });

  test("a file that has text is not created again", () => {
    verifies("EDIT-2");
    expect(errorOf(create(Buffer.from("x"), { old: "", new: "a" })).code).toBe("path_conflict");
  });

  test("a missing file that is not to be created is file_not_found", () => {
    verifies("EDIT-2");
    const one = [{ old: "a", new: "b" }];
    expect(errorOf(planEdits(undefined, one, { create: false })).code).toBe("file_not_found");
    expect(errorOf(planEdits(undefined, one, { create: true })).code).toBe("file_not_found");
    const empty = planEdits(undefined, [{ old: "", new: "b" }], { create: false });
    expect(errorOf(empty).code).toBe("file_not_found");
  });

  test("create does not stop an edit of a file that exists", () => {
    expect(afterOf(create(Buffer.from("a"), { old: "a", new: "b" })).toString()).toBe("b");
  });

  test("nothing is found in an empty file", () => {
    const error = errorOf(plan("", { old: "a", new: "b" }));
    expect(error.code).toBe("text_not_found");
    expect(error.message).toContain("The file is empty.");
  });
});

describe("line breaks", () => {
  const rows: { name: string; before: string; edit: TextEdit; after: string }[] = [
    {
      name: "a line feed in old matches CRLF, and new takes CRLF",
      before: "a\r\nb\r\nc\r\n",
      edit: { old: "a\nb\n", new: "a\nx\ny\n" },
      after: "a\r\nx\r\ny\r\nc\r\n",
    },
    {
      name: "a line feed file stays one",
      before: "a\nb\nc",
      edit: { old: "a\nb", new: "a\nx\ny" },
      after: "a\nx\ny\nc",
    },
    {
      name: "each line break of new takes the one matched in its turn, further ones the last",
      before: "a\nb\r\nc\nd",
      edit: { old: "a\nb\nc", new: "1\n2\n3\n4" },
      after: "1\n2\r\n3\r\n4\nd",
    },
    {
      name: "fewer line breaks than matched take the first ones",
      before: "a\r\nb\nc\n",
      edit: { old: "a\nb\nc\n", new: "x\n" },
      after: "x\r\n",
    },
    {
      name: "without a line break in old, new takes that of its line",
      before: "a\nb\r\nc\n",
      edit: { old: "b", new: "x\ny" },
      after: "a\nx\r\ny\r\nc\n",
    },
    {
      name: "on a last line without end, that of the line before",
      before: "a\nb\r\nc",
      edit: { old: "c", new: "x\ny" },
      after: "a\nb\r\nx\r\ny",
    },
    {
      name: "in a file without any, a line feed",
      before: "abc",
      edit: { old: "b", new: "x\ny" },
      after: "ax\nyc",
    },
    {
      name: "a line break at the start of old takes the carriage return with it",
      before: "a\r\nb\r\n",
      edit: { old: "\nb", new: "" },
      after: "a\r\n",
    },
    {
      name: "a line break at the end of old leaves no carriage return behind",
      before: "a\r\nb\r\n",
      edit: { old: "a\n", new: "" },
      after: "b\r\n",
    },
    {
      name: "replace_all takes the line breaks of each place",
      before: "a;b\r\na;b\na;b",
      edit: { old: ";", new: "\n", replace_all: true },
      after: "a\r\nb\r\na\nb\na\nb",
    },
    {
      name: "a carriage return in new is taken as it is",
      before: "a\nb\n",
      edit: { old: "a\n", new: "a\r\nx\n" },
      after: "a\r\nx\nb\n",
    },
    {
      name: "a carriage return in old is matched exactly first",
      before: "a\nb a\r\nb",
      edit: { old: "a\r\nb", new: "x" },
      after: "a\nb x",
    },
    {
      name: "CRLF in old matches line feeds where there is no CRLF, and new follows the file",
      before: "a\nb\nc\n",
      edit: { old: "a\r\nb", new: "x\r\ny" },
      after: "x\ny\nc\n",
    },
    {
      name: "carriage returns alone can be taken out",
      before: "a\r\nb\r\nc\n",
      edit: { old: "\r", new: "", replace_all: true },
      after: "a\nb\nc\n",
    },
    {
      name: "a line feed matched without its carriage return is written without one",
      before: "a\r\nb\rc",
      edit: { old: "\nb\rc", new: "\nx" },
      after: "a\r\nx",
    },
    {
      name: "a carriage return that ends no line is text",
      before: "a\rb\r\r\nc\r\n",
      edit: { old: "c\n", new: "d\n" },
      after: "a\rb\r\r\nd\r\n",
    },
    {
      name: "a missing final line break stays missing",
      before: "a\nb",
      edit: { old: "b", new: "c" },
      after: "a\nc",
    },
    {
      name: "a final line break can be added and removed",
      before: "a\r\nb\r\n",
      edit: { old: "b\n", new: "b" },
      after: "a\r\nb",
    },
  ];

  test.each(rows)("$name", ({ before, edit, after }) => {
    verifies("EDIT-4");
    expect(edited(before, edit)).toBe(after);
    // In UTF-16 the same.
    expect(afterOf(plan(utf16le(before), edit)).equals(utf16le(after))).toBe(true);
    expect(afterOf(plan(utf16be(before), edit)).equals(utf16be(after))).toBe(true);
  });

  test("a line feed of its own and one of a CRLF are one place each", () => {
    verifies("EDIT-4");
    const error = errorOf(plan("a\r\nb\nc", { old: "\n", new: "" }));
    expect(error.details).toMatchObject({ lines: [1, 2], places: 2 });
  });
});

describe("bytes and encodings", () => {
  test.each(["$&", "$1$$", "$`$'", "\\n\\1\\", "\0", "${x}", "%s"])(
    "%j in the new text is written literally",
    (text) => {
      verifies("EDIT-4");
      expect(edited("a-b", { old: "-", new: text })).toBe(`a${text}b`);
    },
  );

  test("text is not normalised", () => {
    verifies("EDIT-4");
    expect(errorOf(plan("caf\u00e9", { old: "cafe\u0301", new: "x" })).code).toBe("text_not_found");
    expect(edited("cafe\u0301 x", { old: "x", new: "\u00e9" })).toBe("cafe\u0301 \u00e9");
  });

  test("a byte order mark stays in front of what is edited", () => {
    verifies("EDIT-4");
    expect(edited("\ufeffab", { old: "a", new: "x" })).toBe("\ufeffxb");
    expect(edited("\ufeffab", { old: "ab", new: "" })).toBe("\ufeff");
    expect(afterOf(plan(utf16be("ab"), { old: "a", new: "é" })).equals(utf16be("éb"))).toBe(true);
  });

  test("a byte order mark in the new text does not become a second one", () => {
    verifies("EDIT-4");
    expect(edited("\ufeffab", { old: "a", new: "\ufeffx" })).toBe("\ufeffxb");
    expect(afterOf(plan(utf16le("ab"), { old: "a", new: "\ufeffx" })).equals(utf16le("xb"))).toBe(
      true,
    );
    expect(edited("\ufeffab", { old: "b", new: "\ufeff" })).toBe("\ufeffa\ufeff");
    expect(edited("ab", { old: "a", new: "\ufeffa" })).toBe("\ufeffab");
  });

  test("a byte order mark in the old text is that of the file", () => {
    verifies("EDIT-4");
    expect(edited("\ufeffab", { old: "\ufeffa", new: "\ufeffx" })).toBe("\ufeffxb");
    expect(edited("\ufeffab", { old: "\ufeff", new: "" })).toBe("ab");
    expect(errorOf(plan("ab", { old: "\ufeffa", new: "x" })).code).toBe("text_not_found");
  });

  test("the mark of a UTF-16 file cannot be removed", () => {
    verifies("EDIT-4");
    const error = errorOf(plan(utf16le("ab"), { old: "\ufeffa", new: "x" }));
    expect(error.code).toBe("invalid_edits");
    expect(error.message).toContain("byte order mark");
    const kept = plan(utf16le("ab"), { old: "\ufeffa", new: "\ufeffx" });
    expect(afterOf(kept).equals(utf16le("xb"))).toBe(true);
  });

  test("in UTF-16 a match begins between two units", () => {
    verifies("EDIT-4");
    // The bytes 00 61 00 stand across two characters as well.
    const before = utf16be("\u6100\u6100a");
    expect(afterOf(plan(before, { old: "a", new: "𝄞" })).equals(utf16be("\u6100\u6100𝄞"))).toBe(
      true,
    );
    expect(errorOf(plan(utf16be("\u6100\u6101"), { old: "a", new: "b" })).code).toBe(
      "text_not_found",
    );
    // Bytes between two units that look like a match hide none that begins in the middle of them.
    const after = afterOf(plan(utf16be("\u0201\u0101"), { old: "\u0101", new: "b" }));
    expect(after.equals(utf16be("\u0201b"))).toBe(true);
  });

  test("in UTF-16 bytes across two units end no line", () => {
    verifies("EDIT-4");
    const across = "\u0a41\u4100\u0a00";
    const error = errorOf(plan(utf16le(`${across}\nx\n${across}x`), { old: "x", new: "y" }));
    expect(error.details).toMatchObject({ lines: [2, 3] });
    const before = `a\r\nx${across}`;
    const after = afterOf(plan(utf16le(before), { old: "x", new: "1\n2" }));
    expect(after.equals(utf16le(`a\r\n1\r\n2${across}`))).toBe(true);
  });

  test("a UTF-16 file with damage is edited by its mark, and the damage stays", () => {
    verifies("EDIT-4");
    const odd = Buffer.concat([utf16le("ab"), Buffer.from([0xd8])]);
    const after = afterOf(plan(odd, { old: "a", new: "é" }));
    expect(after.equals(Buffer.concat([utf16le("éb"), Buffer.from([0xd8])]))).toBe(true);
  });

  test("bytes that do not decode stay, and ASCII goes beside them", () => {
    verifies("EDIT-4");
    const broken = Buffer.concat([Buffer.from("größe "), Buffer.from([0xff]), Buffer.from(" x ö")]);
    const after = afterOf(plan(broken, { old: "x ö", new: "y" }));
    expect(after.equals(Buffer.concat([broken.subarray(0, 10), Buffer.from("y")]))).toBe(true);
  });

  test("beside bytes that do not decode other characters are refused", () => {
    verifies("EDIT-4");
    const broken = Buffer.concat([Buffer.from("größe "), Buffer.from([0xff]), Buffer.from(" x ö")]);
    const error = errorOf(plan(broken, { old: "x", new: "é" }));
    expect(error.code).toBe("undecodable_text");
    expect(error.message).toContain("edits[0].new");
    const marked = Buffer.concat([Buffer.from("\ufeff"), broken]);
    expect(afterOf(plan(marked, { old: "x", new: "é" })).includes("é")).toBe(true);
  });

  test("a replacement character copied from what was shown matches no bytes", () => {
    verifies("EDIT-4");
    const broken = Buffer.concat([Buffer.from("größe "), Buffer.from([0xff]), Buffer.from(" x ö")]);
    const error = errorOf(plan(broken, { old: "\ufffd x", new: "y" }));
    expect(error.code).toBe("text_not_found");
    expect(error.message).toContain("U+FFFD");
  });

  test("an old one-byte encoding is written in itself, and what it lacks is refused", () => {
    verifies("EDIT-4");
    const before = latin1(
      "Les élèves ont été à l'école, où le maître était déjà arrivé.\r\nFin.\r\n",
    );
    const after = afterOf(plan(before, { old: "été à", new: "dû être\nà" }));
    expect(after.toString("latin1")).toBe(
      "Les élèves ont dû être\r\nà l'école, où le maître était déjà arrivé.\r\nFin.\r\n",
    );
    const error = errorOf(plan(before, { old: "Fin", new: "終" }));
    expect(error.code).toBe("undecodable_text");
    expect(error.message).toContain("windows-1252");
  });

  test("in an old two-byte encoding the second byte of a character is no match", () => {
    verifies("EDIT-4");
    // In Shift JIS 表 is 95 5c and 5c alone a backslash; ソ is 83 5c.
    const sentence = Buffer.from(
      "93fa967b8cea82cc955c8ea682cd82b182cc8376838d834f8383838082c582cd8ae68dec82b382ea82dc82b72e",
      "hex",
    );
    const before = Buffer.concat([sentence, Buffer.from("\n\\n\n"), sentence]);
    const after = afterOf(plan(before, { old: "\\", new: "/" }));
    expect(after.equals(Buffer.concat([sentence, Buffer.from("\n/n\n"), sentence]))).toBe(true);
    const shown = afterOf(plan(before, { old: "\\n\n", new: "表\n" }));
    expect(shown.includes(Buffer.from("\n\x95\x5c\n", "latin1"))).toBe(true);
  });

  test("a binary file is refused", () => {
    verifies("EDIT-4");
    const error = errorOf(plan("abc\0def", { old: "abc", new: "x" }));
    expect(error.code).toBe("binary_file");
  });

  test("the text before is not written to", () => {
    const before = Buffer.from("a\r\nb");
    afterOf(plan(before, { old: "a\nb", new: "x\ny" }));
    expect(before.toString()).toBe("a\r\nb");
  });

  test("a thousand edits of a megabyte are planned at once", () => {
    verifies("EDIT-2");
    const line = (index: number): string => `line ${index} ${"x".repeat(90)}\n`;
    const before = Array.from({ length: 10_000 }, (_, index) => line(index)).join("");
    const edits = Array.from({ length: 1000 }, (_, index) => ({
      old: `\nline ${index * 10 + 1} `,
      new: `\nLINE ${index * 10 + 1} `,
    }));
    const after = edited(before, ...edits);
    expect(after).toBe(before.replace(/^line (\d*1) /gm, "LINE $1 "));
  });
});
