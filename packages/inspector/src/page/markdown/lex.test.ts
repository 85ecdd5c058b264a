import { visible } from "@soong/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeEntities, lexMarkdown, lexOpenMarkdown, NOTHING_OPEN, readLink } from "./lex.ts";

const TEXT = `# Title

A paragraph with **bold** and \`code\`.

- one
- two

  more of two
- three

\`\`\`js
const a = 1;

const b = 2;
\`\`\`

| a | b |
| - | - |
| 1 | 2 |

> quoted
> text

The end.`;

function raws(tokens: readonly { type: string; raw: string }[]): string[] {
  return tokens.filter(({ type }) => type !== "space").map(({ raw }) => raw.trimEnd());
}

interface Nested {
  readonly type: string;
  readonly tokens?: readonly Nested[];
  readonly items?: readonly Nested[];
}

function countTokens(tokens: readonly Nested[]): number {
  return tokens.reduce(
    (sum, { tokens: inner = [], items = [] }) => sum + 1 + countTokens([...inner, ...items]),
    0,
  );
}

describe("Markdown", () => {
  it("is read while it is written as it is when it is whole", () => {
    for (const step of [1, 3, 7, 50]) {
      let open = NOTHING_OPEN;
      for (let end = step; end < TEXT.length + step; end += step) {
        open = lexOpenMarkdown(TEXT.slice(0, end), open);
      }
      expect(raws([...open.done, ...open.open])).toEqual(raws(lexMarkdown(TEXT)));
      expect(open.done.length).toBeGreaterThan(4);
    }
  });

  it("keeps every character of any text, however it is written", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), fc.integer({ min: 1, max: 40 }), (text, step) => {
        let open = NOTHING_OPEN;
        for (let end = step; end < text.length + step; end += step) {
          open = lexOpenMarkdown(text.slice(0, end), open);
        }
        const shown = [...open.done, ...open.open].map(({ raw }) => raw).join("");
        expect(shown.replaceAll(/\s/g, "")).toBe(visible(text).replaceAll(/\s/g, ""));
      }),
    );
  });

  it("that is nested without end, or long, is still shown", () => {
    expect(lexMarkdown(">".repeat(20_000)).length).toBeGreaterThan(0);
    const long = lexOpenMarkdown("word ".repeat(20_000), NOTHING_OPEN);
    expect(long.open).toHaveLength(1);
  });

  it("with more marks or levels than anyone writes is plain, and is not worked on for seconds", () => {
    const deep = "> ".repeat(200);
    for (const text of [
      `a ${"*".repeat(40_000)}!`,
      `[${"_".repeat(40_000)}]`,
      "__a".repeat(13_000),
      `> - a ${"*".repeat(40_000)}!`,
      `| ${"_a ".repeat(9000)} |\n| - |`,
      `${deep}a\nb`,
    ]) {
      // The lexer alone takes 4 to 28 seconds for one of the first three, which the limit of a test would end.
      expect(countTokens(lexMarkdown(text))).toBeLessThan(20);
      const { done, open } = lexOpenMarkdown(text.slice(0, 39_000), NOTHING_OPEN);
      expect(countTokens([...done, ...open])).toBeLessThan(20);
    }
    const [usual] = lexMarkdown("a **bold** word ".repeat(50));
    expect(countTokens(usual === undefined ? [] : [usual])).toBeGreaterThan(100);
  });

  it("shows what is hidden, and decodes entities as text", () => {
    expect(lexMarkdown("a\u202eb")[0]?.raw).toBe("a\\u202eb");
    expect(decodeEntities("&lt;b&gt; &amp;amp; &#x202e; &nope;")).toBe("<b> &amp; \\u202e &nope;");
  });

  it("leads to pages and mail addresses, and nowhere else", () => {
    expect(readLink("https://example.org/a?b#c")).toBe("https://example.org/a?b#c");
    expect(readLink("mailto:a@example.org")).toBe("mailto:a@example.org");
    for (const bad of [
      "javascript:alert(1)",
      "JaVaScRiPt:alert(1)",
      "java\nscript:alert(1)",
      "data:text/html,<script>alert(1)</script>",
      "vbscript:x",
      "file:///etc/passwd",
      "/api/runs",
      "#/questions",
      "blob:http://127.0.0.1/x",
    ]) {
      expect(readLink(bad)).toBeUndefined();
    }
  });
});
