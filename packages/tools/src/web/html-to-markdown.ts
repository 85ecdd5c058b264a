// HTML as Markdown, in one pass over the tokens: no tree is built, so a page of any size and depth costs time and memory in
// proportion to its length. What a reader of the page would not see (scripts, styles) is dropped.

import { Tokenizer } from "htmlparser2";
import { createEventLoopYield } from "../search/walk.ts";
import { createMarkdownWriter, type MarkdownWriter } from "./markdown-writer.ts";

export interface HtmlOptions {
  /** What relative addresses are relative to. */
  readonly base: string;
  /** Without marks and addresses. */
  readonly plain: boolean;
  readonly signal: AbortSignal;
}

export interface PageText {
  readonly text: string;
  readonly title: string | undefined;
  readonly isCut: boolean;
}

/** Of a page, as text: several times what a model takes. */
const MAX_CHARS = 2_000_000;
const MAX_ATTRIBUTE = 8_000;
const TOKENS_AT_ONCE = 2_000;

/** With all that is in them. */
const UNSEEN = new Set(
  "script style noscript template svg math iframe object canvas select datalist dialog head".split(
    " ",
  ),
);
const KEPT_ATTRIBUTES = new Set(["href", "src", "alt", "start"]);

export async function htmlToMarkdown(html: string, options: HtmlOptions): Promise<PageText> {
  const { base, plain, signal } = options;
  const writer = createMarkdownWriter({ plain, base, maxChars: MAX_CHARS });
  const pause = createEventLoopYield(signal);
  let title: string[] | undefined;
  let isTitleOpen = false;
  let tag = "";
  let attribute = "";
  let attributes = new Map<string, string>();
  let unseen: { name: string; depth: number } | undefined;
  let tokens = 0;

  const tokenizer = new Tokenizer(
    {},
    {
      onopentagname: (start, end) => {
        tag = html.slice(start, end).toLowerCase();
        attributes = new Map();
        rest();
      },
      onattribname: (start, end) => {
        attribute = html.slice(start, Math.min(end, start + 40)).toLowerCase();
        if (KEPT_ATTRIBUTES.has(attribute) && !attributes.has(attribute))
          attributes.set(attribute, "");
        else attribute = "";
      },
      onattribdata: (start, end) =>
        addToAttribute(html.slice(start, Math.min(end, start + MAX_ATTRIBUTE))),
      onattribentity: (codepoint) => addToAttribute(String.fromCodePoint(codepoint)),
      onattribend: () => {},
      onopentagend: openTag,
      onselfclosingtag: openTag,
      onclosetag: (start, end) => closeTag(html.slice(start, end).trim().toLowerCase()),
      ontext: (start, end) => takeText(html.slice(start, end)),
      ontextentity: (codepoint) => takeText(String.fromCodePoint(codepoint)),
      oncdata: () => {},
      oncomment: () => {},
      ondeclaration: () => {},
      onprocessinginstruction: () => {},
      onend: () => {},
    },
  );
  tokenizer.write(html);
  while (!tokenizer.running && !writer.isFull) {
    if (pause.isDue()) await pause.pause();
    tokens = 0;
    tokenizer.resume();
  }
  if (!writer.isFull) tokenizer.end();
  const named = title
    ?.join("")
    .slice(0, MAX_ATTRIBUTE)
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, 300);
  return { text: writer.end(), title: named === "" ? undefined : named, isCut: writer.isFull };

  /** Others have their turn now and then, and a page that is too long ends here. */
  function rest(): void {
    tokens += 1;
    if (tokens >= TOKENS_AT_ONCE || writer.isFull) tokenizer.pause();
  }

  function addToAttribute(text: string): void {
    if (attribute === "") return;
    const value = attributes.get(attribute) ?? "";
    if (value.length < MAX_ATTRIBUTE) attributes.set(attribute, value + text);
  }

  function openTag(): void {
    if (tag === "title" && title === undefined) {
      title = [];
      isTitleOpen = true;
    }
    // A page may leave the head open.
    if (tag === "body" && unseen?.name === "head") unseen = undefined;
    if (unseen !== undefined) {
      if (unseen.name === tag) unseen.depth += 1;
      return;
    }
    if (UNSEEN.has(tag)) unseen = { name: tag, depth: 1 };
    else writeOpening(writer, tag, attributes);
  }

  function closeTag(name: string): void {
    rest();
    if (name === "title") isTitleOpen = false;
    if (unseen === undefined) writeClosing(writer, name);
    else if (unseen.name === name) {
      unseen.depth -= 1;
      if (unseen.depth === 0) unseen = undefined;
    }
  }

  function takeText(text: string): void {
    rest();
    if (isTitleOpen) title?.push(text);
    else if (unseen === undefined) writer.text(text);
  }
}

const BLOCKS = new Set(
  (
    "address article aside center details dd div dl dt fieldset figcaption figure footer form header hgroup legend main menu nav " +
    "p section summary caption tbody thead tfoot body html"
  ).split(" "),
);
const HEADING = /^h([1-6])$/;

function writeOpening(
  writer: MarkdownWriter,
  tag: string,
  attributes: ReadonlyMap<string, string>,
): void {
  const heading = HEADING.exec(tag)?.[1];
  if (heading !== undefined) return writer.openHeading(Number(heading));
  if (BLOCKS.has(tag)) return writer.block();
  switch (tag) {
    case "br":
      return writer.line();
    case "hr":
      return writer.rule();
    case "a":
      return writer.openLink(attributes.get("href"));
    case "img":
      return writer.image(attributes.get("alt"), attributes.get("src"));
    case "b":
    case "strong":
      return writer.mark("**");
    case "i":
    case "em":
      return writer.mark("*");
    case "code":
    case "kbd":
    case "samp":
      return writer.mark("`");
    case "pre":
      return writer.openPre();
    case "blockquote":
      return writer.openQuote();
    case "ul":
      return writer.openList(undefined);
    case "ol":
      return writer.openList(Number(attributes.get("start") ?? "1") || 1);
    case "li":
      return writer.openItem();
    case "table":
      return writer.openTable();
    case "tr":
      return writer.openRow();
    case "td":
    case "th":
      return writer.openCell();
    default:
      return undefined;
  }
}

function writeClosing(writer: MarkdownWriter, tag: string): void {
  if (HEADING.test(tag) || BLOCKS.has(tag)) return writer.block();
  switch (tag) {
    case "a":
      return writer.closeLink();
    case "b":
    case "strong":
      return writer.closeMark("**");
    case "i":
    case "em":
      return writer.closeMark("*");
    case "code":
    case "kbd":
    case "samp":
      return writer.closeMark("`");
    case "pre":
      return writer.closePre();
    case "blockquote":
      return writer.closeQuote();
    case "ul":
    case "ol":
      return writer.closeList();
    case "table":
      return writer.closeTable();
    case "tr":
      return writer.closeRow();
    default:
      return undefined;
  }
}
