import { describe, expect, test } from "vitest";
import { htmlToMarkdown } from "./html-to-markdown.ts";

const { signal } = new AbortController();
const convert = (html: string, plain = false) =>
  htmlToMarkdown(html, { base: "https://example.org/a/b", plain, signal });
const markdown = async (html: string, plain = false): Promise<string> =>
  (await convert(html, plain)).text;

describe("HTML as Markdown", () => {
  test.each([
    ["<h1>One</h1><p>a\n  b</p><p>c<br>d</p>", "# One\n\na b\n\nc\nd"],
    ["a <b>bold</b>, <em>soft</em> and <code>x = 1</code>.", "a **bold**, *soft* and `x = 1`."],
    [
      '<a href="../c?x=1&amp;y=2">go</a> <a href="#x">here</a>',
      "[go](https://example.org/c?x=1&y=2) here",
    ],
    ['<a href="javascript:alert(1)">bad</a><a href="/e"></a>', "bad"],
    ["<ul><li>a<li>b<ul><li>c</ul><li>d</ul>e", "- a\n- b\n  - c\n- d\n\ne"],
    ['<ol start="3"><li><p>a</p></li><li>b</li></ol>', "3. a\n4. b"],
    ["<pre>  a\n\n  b</pre>c", "```\n  a\n\n  b\n```\n\nc"],
    ["<blockquote><p>a</p><p>b</p></blockquote>c", "> a\n>\n> b\n\nc"],
    [
      "<table><tr><th>A<th>B</tr><tr><td>1<td><p>2</p><p>3</p></tr></table>",
      "| A | B |\n| --- | --- |\n| 1 | 2 3 |",
    ],
    ['<img alt="A map" src="m.png"><img src="x.png">', "![A map](https://example.org/a/m.png)"],
    ["a<script>b</script><style>c</style><noscript>d</noscript>e", "ae"],
    ["<b></b><p><i>open<p>next", "*open*\n\nnext"],
    ["&lt;b&gt; &amp;amp; &#128512; &nbsp;&nosuch;", "<b> &amp; 😀 &nosuch;"],
  ])("%s", async (html, expected) => {
    expect(await markdown(html)).toBe(expected);
  });

  test("without marks", async () => {
    const html = '<h2>A</h2><p><b>b</b> <a href="/c">c</a></p><table><tr><td>1<td>2</tr></table>';
    expect(await markdown(html, true)).toBe("A\n\nb c\n\n1 2");
  });

  test("the title is apart, and an open head ends with the body", async () => {
    const html = "<html><head><title>A &amp; B</title><meta><body>text</body>";
    expect(await convert(html)).toMatchObject({ title: "A & B", text: "text" });
  });

  test.each([
    ["<b>", "</i>"],
    ["<div>", "x"],
    ["<blockquote><ul><li>", "</ul>"],
    ["<table><tr><td>", "x"],
    ["<a href=x>", "<"],
    ["<", "&#"],
    ["<!--", "-->x"],
    ["<a href='", "&amp;"],
    ["&amp;", "\n"],
  ])(
    "10 MB of %j and %j end soon, within bounds",
    async (first, second) => {
      const half = 5 * 1024 * 1024;
      const html = first.repeat(half / first.length) + second.repeat(half / second.length);
      const { text } = await convert(html);
      expect(text.length).toBeLessThan(2_100_000);
    },
    20_000,
  );

  test("line ends of a page within deep lists take no more than the bound", async () => {
    const html = `${"<ul><li><blockquote>".repeat(30)}<pre>${"\n".repeat(9_000_000)}x`;
    const { text, isCut } = await convert(html);
    expect([text.length < 2_100_000, isCut]).toEqual([true, true]);
  });
});
