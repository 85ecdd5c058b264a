// The text of a paragraph, a heading or a cell as styled pieces: emphasis, code, links. HTML stays text. Without
// colours it stays as it was written, or its marks would be lost.

import { Lexer, type Token } from "marked";
import { borderNear, visible, visibleLine } from "../output/index.ts";
import type { Span, Style } from "./wrap-words.ts";

/** `text` is visible already. */
export function renderInline(
  text: string,
  isColoured: boolean,
  styles: readonly Style[] = [],
): Span[] {
  if (!isColoured || !MARKS.test(text)) return [{ text, styles }];
  // Again: what the lexer makes of a text may hold what the text did not.
  return renderTokens(lexInline(text), styles).map((span) => ({
    ...span,
    text: visible(span.text),
  }));
}

/** A text the lexer cannot read is shown as it is: an answer ends no conversation. */
function lexInline(text: string): Token[] {
  try {
    return Lexer.lexInline(text);
  } catch {
    return [{ type: "text", raw: text, text }];
  }
}

/** Where a text that is too long may be cut: behind a space that is within no emphasis, code or link. */
export function findCut(text: string, before: number): number {
  let end = 0;
  let cut = 0;
  for (const { type, raw } of lexInline(text)) {
    const start = end;
    end += raw.length;
    if (type === "text" || type === "br") {
      const space = lastSpace(raw, before - start);
      if (space >= 0) cut = start + space + 1;
    }
    if (end >= before) break;
  }
  return cut > 0 ? cut : lastSpace(text, before) + 1 || borderNear(text, before);
}

function lastSpace(text: string, before: number): number {
  return Math.max(text.lastIndexOf(" ", before - 1), text.lastIndexOf("\n", before - 1));
}

function renderTokens(tokens: readonly Token[], styles: readonly Style[]): Span[] {
  return tokens.flatMap((token) => renderToken(token, styles));
}

function renderToken(token: Token, styles: readonly Style[]): Span[] {
  const inner = (...more: Style[]): Span[] =>
    renderTokens(token.type === "text" ? [] : ("tokens" in token && token.tokens) || [], [
      ...new Set([...styles, ...more]),
    ]);
  switch (token.type) {
    case "strong":
      return inner("bold");
    case "em":
      return inner("italic");
    case "del":
      return inner("strike");
    case "codespan":
      return [{ text: token.text as string, styles: [...new Set([...styles, "cyan"] as const)] }];
    case "br":
      return [{ text: "\n", styles }];
    case "escape":
      return [{ text: token.text as string, styles }];
    case "link":
    case "image": {
      const { href, text } = token as { href: string; text: string };
      const isTold = [text, `mailto:${text}`, `http://${text}`, `https://${text}`].includes(href);
      const target: Span[] =
        isTold || href === "" ? [] : [{ text: ` (${href})`, styles: [...styles, "dim"] }];
      return [...inner("underline"), ...target];
    }
    case "text":
      // As it was written: the lexer decodes any entity, a line end or an escape sequence among them.
      return [{ text: token.raw.replaceAll(ENTITY, decodeEntity), styles }];
    default:
      return [{ text: token.raw, styles }];
  }
}

function decodeEntity(entity: string, name: string): string {
  const code = /^#(?:x([0-9a-f]{1,6})|(\d{1,7}))$/i.exec(name);
  if (code === null) return ENTITIES[name] ?? entity;
  const char = Number.parseInt(code[1] ?? code[2] ?? "", code[1] === undefined ? 10 : 16);
  return char > 0x10ffff ? entity : visibleLine(String.fromCodePoint(char));
}

const MARKS = /[*_`~[\]<&\\@]|:\/\/|www\./;
const ENTITY = /&(amp|lt|gt|quot|nbsp|#x[0-9a-f]{1,6}|#\d{1,7});/gi;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  nbsp: " ",
};
