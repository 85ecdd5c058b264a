import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { coloursFor } from "../output/index.ts";
import { measureWidth } from "../output/grapheme-width.ts";
import { createMarkdownStream } from "./markdown-stream.ts";

const PLAIN = coloursFor({}, {});
const COLOURED = coloursFor({}, { FORCE_COLOR: "1" });

function render(text: string, width = 40, colours = PLAIN): string[] {
  const stream = createMarkdownStream({ colours, width: () => width });
  return [...stream.push(text), ...stream.end()];
}

/** What is seen of a row, without its colours. */
function seen(row: string): string {
  // oxlint-disable-next-line no-control-regex -- colours are what is taken away
  return row.replaceAll(/\u001b\[[\d;]*m/g, "");
}

describe("Markdown at a terminal", () => {
  it("writes out what a terminal would obey, however it was written", () => {
    const written = [
      "\u001b]52;c;x\u0007",
      "&#27;]52;c;x&#7;",
      "&#x1B;[2J",
      "&#155;31m",
      "&#x202e;",
    ];
    for (const one of written) {
      for (const text of [one, `**${one}**`, `[${one}](http://a/${one})`, `| ${one} |\n|-|\n`]) {
        const shown = render(text, 40, COLOURED).map(seen).join("\n");
        // oxlint-disable-next-line no-control-regex -- nothing of that kind is left
        expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
      }
    }
    expect(render("a &#8212; &amp; &#39;b&#39;&#10;", 40, COLOURED)).toEqual(["a — & 'b'\\n"]);
  });

  it("shows lists with hanging indents, nested, numbered, with tasks and paragraphs", () => {
    const text = `
- one that is long enough to be wrapped somewhere
  * nested
      with more
  - [ ] open
  - [x] done

3) third
3) fourth

   a paragraph
   - in it
-
`;
    expect(render(text)).toEqual([
      "• one that is long enough to be wrapped",
      "  somewhere",
      "  • nested",
      "    with more",
      "  ☐ open",
      "  ✓ done",
      "",
      "3) third",
      "4) fourth",
      "",
      "   a paragraph",
      "   • in it",
      "•",
    ]);
  });

  it("shows quotes, rules, headings and code, within each other too", () => {
    const text = `# Title #
> quoted text that is long enough to be wrapped
lazily
>
> 1. \`\`\`js
>    if (a) {
>      b();
>    }
>    \`\`\`
***
Under
===
no heading: #tag
`;
    expect(render(text)).toEqual([
      "# Title",
      "│ quoted text that is long enough to be",
      "│ wrapped",
      "│ lazily",
      "│",
      "│ 1.   if (a) {",
      "│        b();",
      "│      }",
      "─".repeat(40),
      "# Under",
      "no heading: #tag",
    ]);
  });

  it("lays tables out: aligned, wrapped where they are too wide, one line for a cell where there is no room", () => {
    const text = `
| Name | Count | Says |
|:--|--:|:-:|
| 中文 | 1 | yes |
| b \\| c | 22 | something longer, which is wrapped |
| d |
after
`;
    expect(render(text, 36).map((row) => row.trimEnd())).toEqual([
      "Name  │ Count │         Says",
      "──────┼───────┼─────────────────────",
      "中文  │     1 │         yes",
      "b | c │    22 │  something longer,",
      "      │       │   which is wrapped",
      "d     │       │",
      "after",
    ]);
    expect(render("|A|B|\n|-|-|\n|one|two|\n|three|four|", 8)).toEqual([
      "A: one",
      "B: two",
      "",
      "A: three",
      "B: four",
    ]);
    expect(render("a | b\n- no table\n\n|a|b|\n|-|\n")).toEqual([
      "a | b",
      "• no table",
      "",
      "|a|b|",
      "|-|",
    ]);
  });

  it("colours emphasis, code and links, whose address is always shown; HTML is text", () => {
    const [row] = render(
      "**b** *i* ~~s~~ `c` [t](http://x.y/z) <http://x.y> \\*no\\* 2 * 3 &lt; <i>html</i>",
      200,
      COLOURED,
    );
    expect(row).toBe(
      "\u001b[1mb\u001b[22m \u001b[3mi\u001b[23m \u001b[9ms\u001b[29m \u001b[36mc\u001b[39m " +
        "\u001b[4mt\u001b[24m\u001b[2m (http://x.y/z)\u001b[22m \u001b[4mhttp://x.y\u001b[24m " +
        "*no* 2 * 3 < <i>html</i>",
    );
  });

  it("keeps the marks where there are no colours", () => {
    expect(render("## T `a`\n**b** [t](u) ~~no~~")).toEqual(["## T `a`", "**b** [t](u) ~~no~~"]);
  });

  it("colours code by its language, also over the ends of lines", () => {
    expect(render("```ts\nlet a = 1; /* x\ny */ 'z'\n```\n", 80, COLOURED)).toEqual([
      "  \u001b[35mlet\u001b[39m a = \u001b[33m1\u001b[39m; \u001b[2m/* x\u001b[22m",
      "  \u001b[2my */\u001b[22m \u001b[32m'z'\u001b[39m",
    ]);
    expect(render("```diff\n+a\n-b\n c\n```", 80, COLOURED)).toEqual([
      "  \u001b[32m+a\u001b[39m",
      "  \u001b[31m-b\u001b[39m",
      "   c",
    ]);
  });

  it("lets nothing through that a terminal would obey", () => {
    const shown = render(
      "a\u001b[2Jb `\u001b]0;x\u0007`\n```\n\u001b[1m\u202e\n```\n|\u0007|\n|-|\n",
      80,
      COLOURED,
    );
    // oxlint-disable-next-line no-control-regex -- none of them may be there
    expect(shown.map(seen).join("\n")).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(shown.map(seen).join("\n")).toContain("\\u001b[2J");
  });

  it("breaks Chinese between characters, and puts no closing sign at the beginning of a row", () => {
    expect(render("中文没有空格，所以在字之间换行。“引号”也对。", 20)).toEqual([
      "中文没有空格，所以在",
      "字之间换行。“引号”也",
      "对。",
    ]);
  });

  it("finishes the lines of a code block one by one, and shows the rest as it is", () => {
    const stream = createMarkdownStream({ colours: PLAIN, width: () => 40 });
    expect(stream.push("```sh\necho 1\nec")).toEqual(["  echo 1"]);
    expect(stream.open()).toEqual(["  ec"]);
    expect(stream.push("ho 2\n")).toEqual(["  echo 2"]);
    expect(stream.open()).toEqual([]);
    expect(stream.push("```\n**bo")).toEqual([]);
    expect(stream.open()).toEqual(["**bo"]);
    expect(stream.end()).toEqual(["**bo"]);
    expect(stream.end()).toEqual([]);
  });

  it("holds little of a text without an end", () => {
    const stream = createMarkdownStream({ colours: COLOURED, width: () => 80 });
    const rows: string[] = [];
    const text = "some **bold words** and [more](http://x.y) ".repeat(1000).trimEnd();
    for (let at = 0; at < text.length; at += 1000)
      rows.push(...stream.push(text.slice(at, at + 1000)));
    expect(stream.open().length).toBeLessThan(100);
    rows.push(...stream.end());
    const words = rows.map(seen).join(" ").split(" ");
    expect(words.filter((word) => word === "words")).toHaveLength(1000);
    // No row is left short where the text was cut.
    for (const row of rows.slice(0, -1)) expect(seen(row).length).toBeGreaterThan(60);
  });

  const LINES = fc.oneof(
    fc.constantFrom(
      "# h",
      "- a",
      "  - b",
      "1. c",
      "> q",
      "> - r",
      "```ts",
      "```",
      "~~~",
      "| a | b |",
      "|---|:-:|",
      "| `x|y` | 中 |",
      "---",
      "===",
      "    code",
      "",
      "",
      "text **bold",
      "more** `c",
      "[l](http://a.b)",
      "\t- tab",
      "- [x] t",
      "<b>",
      "\u001b[1m",
      "line\r",
      "x".repeat(5000),
      "word ".repeat(500),
      "字".repeat(2500),
      "👨‍👩‍👧é".repeat(300),
    ),
    fc.string({ unit: "grapheme", maxLength: 60 }),
  );

  it("shows the same however the stream was cut, and no row is wider than the screen", () => {
    fc.assert(
      fc.property(
        fc.array(LINES, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 8, max: 90 }),
        fc.boolean(),
        (lines, cuts, width, isColoured) => {
          const text = lines.join("\n");
          const colours = isColoured ? COLOURED : PLAIN;
          const whole = render(text, width, colours);
          const stream = createMarkdownStream({ colours, width: () => width });
          const rows: string[] = [];
          for (let at = 0, next = 0; at < text.length; next += 1) {
            const length = cuts[next % cuts.length] ?? 1;
            rows.push(...stream.push(text.slice(at, at + length)));
            const open = stream.open();
            for (const row of open) expect(measureWidth(seen(row))).toBeLessThanOrEqual(width);
            at += length;
          }
          const ahead = stream.open();
          const last = stream.end();
          expect(last).toEqual(ahead);
          expect([...rows, ...last]).toEqual(whole);
          for (const row of whole) expect(measureWidth(seen(row))).toBeLessThanOrEqual(width);
        },
      ),
    );
  });
});
