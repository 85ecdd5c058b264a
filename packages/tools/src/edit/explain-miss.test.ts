import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { planEdits } from "./plan-edits.ts";

interface Closest {
  start_line: number;
  end_line: number;
  text: string;
  text_truncated: boolean;
  differs: string[];
}

function miss(before: string | Uint8Array, old: string): { message: string; closest: Closest[] } {
  const bytes = typeof before === "string" ? Buffer.from(before) : before;
  const planned = planEdits(bytes, [{ old, new: "something else" }], { create: false });
  if (planned.ok) throw new Error("planned, though nothing should have been found");
  expect(planned.error.code).toBe("text_not_found");
  return {
    message: planned.error.message,
    closest: planned.error.details?.closest as unknown as Closest[],
  };
}

const SOURCE = [
  'import { x } from "y";',
  "",
  "function wait(limit) {",
  "\tif (limit > 30000) {",
  "\t\treturn “late” - 1;   ",
  "\t}",
  "    const text = 'a';",
  '  const html = "<b>x & y</b>";',
  '  const escaped = "one\\ntwo";',
  "  const entity = `&lt;i&gt; &amp; &quot;q&quot;`;",
  "  return limit\u200b + 1;",
  "  let price = 10\u00a0EUR;",
  "}",
  "",
].join("\n");

describe("what differs is said in words", () => {
  const rows: { name: string; old: string; lines: [number, number]; differs: string[] }[] = [
    {
      name: "a digit",
      old: "if (limit > 30001) {",
      lines: [4, 4],
      differs: ["digits: old has 30001, the file has 30000 (line 4)"],
    },
    {
      name: "another length of number",
      old: "if (limit > 3) {",
      lines: [4, 4],
      differs: ["digits: old has 3, the file has 30000 (line 4)"],
    },
    {
      name: "spaces for tabs",
      old: "    if (limit > 30000) {\n        return",
      lines: [4, 5],
      differs: ["indentation: old has 4 spaces, the file has 1 tab (line 4 and 1 more)"],
    },
    {
      name: "indentation of a later line only",
      old: "{\n    if (limit",
      lines: [3, 4],
      differs: ["indentation: old has 4 spaces, the file has 1 tab (line 3)"],
    },
    {
      name: "too little indentation",
      old: "}\n  const text",
      lines: [6, 7],
      differs: ["indentation: old has 2 spaces, the file has 4 spaces (line 6)"],
    },
    {
      name: "white space at the end of a line",
      old: "- 1;\n\t}",
      lines: [5, 6],
      differs: ["white space at the end of a line: old has none, the file has 3 spaces (line 5)"],
    },
    {
      name: "white space at the end of old",
      old: 'import { x } from "y";  ',
      lines: [1, 1],
      differs: ["white space at the end of a line: old has 2 spaces, the file has none (line 1)"],
    },
    {
      name: "white space inside a line",
      old: "function  wait",
      lines: [3, 3],
      differs: ["white space: old has 2 spaces, the file has 1 space (line 3)"],
    },
    {
      name: "white space before the first word, in the middle of a line",
      old: "  wait(limit)",
      lines: [3, 3],
      differs: ["white space: old has 2 spaces, the file has 1 space (line 3)"],
    },
    {
      name: "straight quotes for curly ones",
      old: 'return "late" -',
      lines: [5, 5],
      differs: ['quotes: old has ", the file has “ (U+201C) (line 5 and 1 more)'],
    },
    {
      name: "one kind of straight quote for another",
      old: 'text = "a"',
      lines: [7, 7],
      differs: [`quotes: old has ", the file has ' (line 7 and 1 more)`],
    },
    {
      name: "a dash",
      old: "late” – 1",
      lines: [5, 5],
      differs: ["dash: old has – (U+2013), the file has - (line 5)"],
    },
    {
      name: "letter case",
      old: "function Wait(",
      lines: [3, 3],
      differs: ["letter case: old has W, the file has w (line 3)"],
    },
    {
      name: "an invisible character in the file",
      old: "return limit + 1",
      lines: [11, 11],
      differs: [
        "an invisible character: old has none there, the file has U+200B (zero width space) (line 11)",
      ],
    },
    {
      name: "an invisible character in old",
      old: "func\u00adtion wait",
      lines: [3, 3],
      differs: [
        "an invisible character: old has U+00AD (soft hyphen), the file has none there (line 3)",
      ],
    },
    {
      name: "a no-break space",
      old: "price = 10 EUR",
      lines: [12, 12],
      differs: ["white space: old has 1 space, the file has U+00A0 (no-break space) (line 12)"],
    },
    {
      name: "full-width characters",
      old: "wait（limit）",
      lines: [3, 3],
      differs: ["full-width character: old has （ (U+FF08), the file has ( (line 3 and 1 more)"],
    },
    {
      name: "other line breaks",
      old: "function wait(limit) { if (limit",
      lines: [3, 4],
      differs: ["line breaks: old has 1 space, the file has 1 line break, 1 tab (line 3)"],
    },
    {
      name: "a blank line too many",
      old: '"y";\n\n\nfunction',
      lines: [1, 3],
      differs: ["line breaks: old has 3 line breaks, the file has 2 line breaks (line 1)"],
    },
    {
      name: "line numbers of a listing",
      old: "     3\tfunction wait(limit) {\n     4\t\tif (limit > 30000) {",
      lines: [3, 4],
      differs: ["old begins its lines with line numbers copied from a listing, the file does not"],
    },
    {
      name: "line numbers of a listing with arrows and a blank line",
      old: '  1→import { x } from "y";\n  2→\n  3→function wait',
      lines: [1, 3],
      differs: ["old begins its lines with line numbers copied from a listing, the file does not"],
    },
    {
      name: "a line number as grep writes it, and a digit",
      old: "4:\tif (limit > 30001)",
      lines: [4, 4],
      differs: [
        "old begins its lines with line numbers copied from a listing, the file does not",
        "digits: old has 30001, the file has 30000 (line 4)",
      ],
    },
    {
      name: "escapes written out in old",
      old: "function wait(limit) {\\n\\tif",
      lines: [3, 4],
      differs: [
        'old has escapes such as \\n or \\" written as two characters, the file has the character meant',
      ],
    },
    {
      name: "escapes written out in the file",
      old: '"one\ntwo"',
      lines: [9, 9],
      differs: [
        'the file has escapes such as \\n or \\" written as two characters, old has the character meant',
      ],
    },
    {
      name: "HTML entities in old",
      old: "&lt;b&gt;x &amp; y",
      lines: [8, 8],
      differs: ["old has HTML entities such as &lt; or &amp;, the file has the character meant"],
    },
    {
      name: "text of its own",
      old: "function wait(limits, more) {",
      lines: [3, 3],
      differs: [
        'text: old has "function wait(limits, more) {", the file has "function wait(limit) {" (line 3)',
      ],
    },
    {
      name: "a word with a slip in it",
      old: "fucntion wait",
      lines: [3, 3],
      differs: ['text: old has "fucntion wait", the file has "function wait(limit) {" (line 3)'],
    },
    {
      name: "a later line, where the first begins in the middle of one",
      old: "wait(limit) {\n\tif (limit > 30000) {\n\t\tthrow late;",
      lines: [3, 5],
      differs: ['text: old has "throw late;", the file has "return “late” - 1;" (line 5)'],
    },
    {
      name: "one line of several, and their indentation",
      old: "    if (limit > 30000) {\n        throw late;\n    }\n    const text = 'a';\n",
      lines: [4, 7],
      differs: [
        "indentation: old has 4 spaces, the file has 1 tab (line 4)",
        'text: old has "throw late;", the file has "return “late” - 1;" (line 5)',
      ],
    },
  ];

  test.each(rows)("$name", ({ old, lines, differs }) => {
    verifies("EDIT-5");
    const { closest, message } = miss(SOURCE, old);
    const [place] = closest;
    expect(place?.differs).toEqual(differs);
    expect([place?.start_line, place?.end_line]).toEqual(lines);
    const shown = SOURCE.split("\n").slice(lines[0] - 1, lines[1]);
    expect(place).toMatchObject({ text: shown.join("\n"), text_truncated: false });
    for (const words of differs) expect(message).toContain(words);
  });

  test("entities that are in the file", () => {
    verifies("EDIT-5");
    const [place] = miss(SOURCE, '<i> & "q"').closest;
    expect(place).toMatchObject({ start_line: 10, end_line: 10 });
    expect(place?.differs[0]).toContain("the file has HTML entities");
    const [angle] = miss('a\n&lt;i&gt; "q"\n', '<i> "q"').closest;
    expect(angle?.differs).toEqual([
      "the file has HTML entities such as &lt; or &amp;, old has the character meant",
    ]);
  });
});

describe("the places shown", () => {
  test("are three at most, the closest first", () => {
    verifies("EDIT-5");
    const ports = [80, 8080, 30_000, 9090, 443].map((port) => `port = ${port};`).join("\n");
    const { closest } = miss(ports, "port = 30001;");
    expect(closest).toHaveLength(3);
    expect(closest[0]).toMatchObject({ start_line: 3, text: "port = 30000;" });
  });

  test("have the same numbers where there are too many to compare", () => {
    verifies("EDIT-5");
    const lines = Array.from({ length: 3000 }, (_, index) => `entry ${index} is here;`).join("\n");
    const { closest } = miss(lines, "entry  2345 is here;");
    expect(closest).toHaveLength(1);
    expect(closest[0]).toMatchObject({ start_line: 2346 });
    const [similar] = miss(lines, "entry 2345 is there;").closest;
    expect(similar).toMatchObject({ start_line: 2346 });
  });

  test("do not share lines with each other", () => {
    verifies("EDIT-5");
    const { closest } = miss(SOURCE, "function wait(limits, more) {");
    expect(closest).toHaveLength(1);
  });

  test("begin where the text begins, though the line there is much shorter", () => {
    verifies("EDIT-5");
    const lines = ["the line before it", "run();", "second = other(line);", "third = last(line);"];
    const old = ["while (condition(holds)) run();", ...lines.slice(2)].join("\n");
    const [place] = miss(lines.join("\n"), old).closest;
    expect(place).toMatchObject({ start_line: 2, end_line: 4 });
    expect(place?.differs).toEqual([
      'text: old has "while (condition(holds)) run();", the file has "run();" (line 2)',
    ]);
  });

  test("are none when nothing is alike", () => {
    verifies("EDIT-5");
    const { closest, message } = miss(SOURCE, "SELECT name FROM users WHERE id = ?");
    expect(closest).toEqual([]);
    expect(message).toContain("Nothing like it is there; read the file again.");
  });

  test("are none for white space alone", () => {
    const { closest, message } = miss("a b\n", "\t\t");
    expect(closest).toEqual([]);
    expect(message).toContain("only white space");
  });

  test("are bounded however long the lines are", () => {
    verifies("EDIT-5");
    const line = Array.from({ length: 50_000 }, (_, index) => `f${index}(x)`).join(";");
    const { closest, message } = miss(line, "f49000(X);f49001(x)");
    expect(closest[0]).toMatchObject({ start_line: 1, end_line: 1, text_truncated: true });
    expect(closest[0]?.text).toContain("f49000(x);f49001(x)");
    expect(closest[0]?.text.length).toBeLessThanOrEqual(2000);
    expect(message.length).toBeLessThan(2000);
    const [other] = miss(line, "f49000(x);g49001(y)").closest;
    expect(other?.text).toContain("f49000(x)");
    expect(other?.differs[0]?.length).toBeLessThan(400);
  });

  test("are bounded however many lines they have", () => {
    const lines = Array.from({ length: 2000 }, (_, index) => `line ${index}`).join("\n");
    const [place] = miss(lines, lines.replace("line 1\n", "LINE 1\n")).closest;
    expect(place).toMatchObject({ start_line: 1, end_line: 2000, text_truncated: true });
    expect(place?.text.length).toBe(2000);
    const [other] = miss(lines, lines.replace("line 7\n", "another 7\n")).closest;
    expect(other).toMatchObject({ start_line: 1, end_line: 2000 });
    expect(other?.differs).toEqual(['text: old has "another 7", the file has "line 7" (line 8)']);
  });

  test("are found where the file has a line more than old", () => {
    verifies("EDIT-5");
    const lines = ["alpha = start();", "beta = middle();", "gamma = more();", "delta = end();"];
    const [place] = miss(
      ["first", "second", ...lines, "last"].join("\n"),
      [lines[0], lines[1], lines[3]].join("\n"),
    ).closest;
    expect(place).toMatchObject({ start_line: 3, end_line: 5 });
    expect(place?.differs).toEqual([
      'text: old has "delta = end();", the file has "gamma = more();" (line 5)',
    ]);
  });

  test("are shown as they read in a UTF-16 file with CRLF", () => {
    verifies("EDIT-5");
    const before = Buffer.from("\ufeffone\r\n\ttwo 1\r\nthree\r\n", "utf16le");
    const [place] = miss(before, "  two 2\nthree").closest;
    expect(place).toEqual({
      start_line: 2,
      end_line: 3,
      text: "\ttwo 1\nthree",
      text_truncated: false,
      differs: [
        "indentation: old has 2 spaces, the file has 1 tab (line 2)",
        "digits: old has 2, the file has 1 (line 2)",
      ],
    });
  });

  test("never cut a character in two", () => {
    const line = `${"𝄞".repeat(3000)} end`;
    for (const lead of ["", "x"]) {
      const [place] = miss(`${lead}${line}`, `${"𝄞".repeat(1200)} END`).closest;
      expect(JSON.stringify(place)).not.toMatch(/\\ud/);
    }
  });

  test("name a carriage return that ends no line", () => {
    const [place] = miss("a\r\r\nb\n", "a\nb").closest;
    expect(place?.differs).toEqual([
      "an invisible character: old has none there, the file has U+000D (carriage return) (line 1)",
    ]);
  });

  test("say that the file ends where old continues", () => {
    const [place] = miss("a\nlast", "last\n").closest;
    expect(place?.differs).toEqual([
      "line breaks: old has 1 line break, the file has none (line 2)",
    ]);
  });
});

test("a miss is explained for any text, and never becomes a change", () => {
  verifies("EDIT-5");
  const piece = fc.constantFrom(
    ..."ab1 2\t\n\r\"'“-–\u200b\u00a0&lt;\\n(".split(""),
    "\r\n",
    "𝄞",
    "\ufffd",
    "30000",
    "function",
    "　",
    "，",
  );
  const text = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(text, text, (before, old) => {
      fc.pre(old !== "" && !before.replaceAll("\r\n", "\n").includes(old.replaceAll("\r\n", "\n")));
      fc.pre(!before.includes(old));
      const planned = planEdits(Buffer.from(before), [{ old, new: `${old}!` }], { create: false });
      expect(planned.ok).toBe(false);
      if (planned.ok) return;
      const closest = planned.error.details?.closest as unknown as Closest[];
      const lines = before.split("\n").length;
      for (const place of closest) {
        expect(place.start_line).toBeGreaterThanOrEqual(1);
        expect(place.end_line).toBeGreaterThanOrEqual(place.start_line);
        expect(place.end_line).toBeLessThanOrEqual(lines);
        expect(place.differs.length).toBeGreaterThan(0);
      }
    }),
    { numRuns: 1000 },
  );
});

test("a change of one character is found again and named in the place it was made", () => {
  verifies("EDIT-5");
  const swaps: [string, string, string][] = [
    ["digits", "7", "8"],
    ["letter case", "q", "Q"],
    ["quotes", '"', "”"],
    ["dash", "-", "—"],
    ["white space", " ", "\t"],
  ];
  fc.assert(
    fc.property(
      fc.nat({ max: 400 }),
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom(...swaps),
      (line, count, [kind, there, wrong]) => {
        const lines = Array.from(
          { length: 410 },
          (_, index) => `w${index * 7919} ( ${"xyz".slice(index % 3)} ${there} )`,
        );
        const wanted = lines.slice(line, line + count);
        const last = wanted.length - 1;
        wanted[last] = (wanted[last] ?? "").replace(` ${there} )`, ` ${wrong} )`);
        const [place] = miss(lines.join("\n"), wanted.join("\n")).closest;
        expect(place).toMatchObject({ start_line: line + 1, end_line: line + wanted.length });
        expect(place?.differs[0]).toContain(kind);
        expect(place?.differs[0]).toContain(`(line ${line + wanted.length}`);
      },
    ),
    { numRuns: 100 },
  );
});

test("a miss in a large file costs a bounded number of passes", () => {
  verifies("EDIT-5");
  const lines = process.env.SOONG_TEST_FULL === "1" ? 240_000 : 40_000;
  const line = (index: number): string => `  line number ${index} of the file = ${index * 7};`;
  const before = Buffer.from(Array.from({ length: lines }, (_, at) => line(at)).join("\n"));
  const last = lines - 2;
  const [alike] = miss(before, `line  number ${last} of`).closest;
  expect(alike).toMatchObject({ start_line: last + 1 });
  const [similar] = miss(before, `line number ${last} on the shelf = ${last * 7}`).closest;
  expect(similar).toMatchObject({ start_line: last + 1 });
  // One letter over and over is the worst there is for anything that compares places.
  const same = Buffer.alloc(lines * 40, "a");
  expect(miss(same, `${"a".repeat(5000)}b${"a".repeat(5000)}`).closest.length).toBeLessThan(4);
  expect(miss(Buffer.alloc(lines * 20, "\n"), "\n\nx\n").closest).toEqual([]);
});
