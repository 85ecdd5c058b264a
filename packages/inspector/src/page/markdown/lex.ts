// Markdown as tokens, whole or while it is being written. HTML stays text, and no text is refused: what the lexer cannot
// read is a paragraph as it was written.

import { visible, visibleLine } from "@soong/core";
import { Lexer, type Token } from "marked";

/** Of what is written on: a longer block is shown as plain text until it is whole. */
const LONGEST_OPEN = 40_000;

/** Of one paragraph, cell or title: for each of them the lexer may read all that follows again. */
const MOST_MARKS = 400;
const MARKS = /[*_~`[\]<]/g;
/** A line within 40 quotes and lists: for each of them the lexer reads all of them again. */
const TOO_DEEP = /^(?:[ \t]*(?:>|(?:[*+-]|\d{1,9}[.)])[ \t])){40}/m;

/** Hidden characters are made visible first, so that none of them hides what follows. */
export function lexMarkdown(text: string): Token[] {
  const shown = visible(text);
  return lex(shown) ?? [plain(shown)];
}

/** Undefined: it cannot be read, or not without holding up the page. */
function lex(text: string): Token[] | undefined {
  if (TOO_DEEP.test(text)) return undefined;
  try {
    return new BoundedLexer({ gfm: true }).lex(text);
  } catch {
    return undefined;
  }
}

/** Of 40 000 asterisks the lexer would make nothing else in 15 seconds. */
class BoundedLexer extends Lexer {
  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    const marks = src.match(MARKS)?.length ?? 0;
    if (marks <= MOST_MARKS) return super.inlineTokens(src, tokens);
    tokens.push({ type: "text", raw: src, text: src });
    return tokens;
  }
}

export interface OpenMarkdown {
  /** Those that do not change any more. */
  readonly done: readonly Token[];
  /** How much of the text they are of. */
  readonly at: number;
  /** What the rest is as far as it is there. */
  readonly open: readonly Token[];
}

export const NOTHING_OPEN: OpenMarkdown = { done: [], at: 0, open: [] };

/**
 * `before`: of the beginning of the same text. Only what follows its whole blocks is read again: a block is whole once
 * another one follows it.
 */
export function lexOpenMarkdown(text: string, before: OpenMarkdown): OpenMarkdown {
  const from = text.length < before.at ? NOTHING_OPEN : before;
  const rest = text.slice(from.at);
  if (rest.length > LONGEST_OPEN) return { ...from, open: [plain(visible(rest))] };
  const tokens = lex(rest);
  if (tokens === undefined) return { ...from, open: [plain(visible(rest))] };
  const last = tokens.findLastIndex(({ type }) => type !== "space");
  const whole = tokens.slice(0, Math.max(0, last));
  const length = whole.reduce((sum, { raw }) => sum + raw.length, 0);
  // The lexer reads some characters as others, such as line ends: then lengths say nothing.
  const isCounted = whole.length > 0 && rest.startsWith(whole.map(({ raw }) => raw).join(""));
  if (!isCounted) return { ...from, open: lexMarkdown(rest) };
  return {
    done: [...from.done, ...lexMarkdown(rest.slice(0, length))],
    at: from.at + length,
    open: lexMarkdown(rest.slice(length)),
  };
}

function plain(text: string): Token {
  return { type: "paragraph", raw: text, text, tokens: [{ type: "text", raw: text, text }] };
}

const ENTITY = /&(amp|lt|gt|quot|nbsp|#x[0-9a-f]{1,6}|#\d{1,7});/gi;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  nbsp: " ",
};

/** Entities as what they are for, in text that stays text. */
export function decodeEntities(text: string): string {
  return text.replaceAll(ENTITY, (entity, name: string) => {
    const code = /^#(?:x([0-9a-f]{1,6})|(\d{1,7}))$/i.exec(name);
    if (code === null) return ENTITIES[name.toLowerCase()] ?? entity;
    const char = Number.parseInt(code[1] ?? code[2] ?? "", code[1] === undefined ? 10 : 16);
    return char > 0x10ffff ? entity : visibleLine(String.fromCodePoint(char));
  });
}

const SCHEMES: readonly string[] = ["http:", "https:", "mailto:"];

/** The address a link may lead to, as the browser reads it; undefined for any other. */
export function readLink(href: string): string | undefined {
  let url: URL;
  try {
    url = new URL(href);
  } catch {
    return undefined;
  }
  return SCHEMES.includes(url.protocol) ? url.href : undefined;
}
