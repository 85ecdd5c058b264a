// What both ways of searching, ripgrep and the plain walk, are asked, what they answer, and how they refuse a query.

import type { LinearRegex, ToolFailure } from "@soong/core";
import { invalidArguments } from "@soong/core/internal";
import { createRegex, shorten } from "@soong/schema";
import type { PathGlob } from "./path-glob.ts";
import type { ReasonLeftOut, RestrictedFiles } from "./restricted-files.ts";
import type { Place } from "./walk.ts";

export interface SearchRequest {
  readonly place: Place;
  readonly query: string;
  readonly literal: boolean;
  readonly caseSensitive: boolean;
  readonly glob: PathGlob | undefined;
  readonly limit: number;
  readonly contextLines: number;
  readonly hidden: boolean;
  readonly ignored: boolean;
  readonly restricted: RestrictedFiles;
  /** Hides what must not leave, before a line is cut. */
  readonly redact: (text: string) => string;
  readonly signal: AbortSignal;
}

export interface FoundLine {
  /** Relative to the searched directory; empty when a single file was searched. */
  readonly path: string;
  readonly line: number;
  /** Of the first match in the line, counted in characters (code points) from 1. */
  readonly column: number;
  readonly text: string;
  /** The line is longer than `text`. */
  readonly cut: boolean;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export interface SearchAnswer {
  /** By path, bytewise, then by line. */
  readonly lines: readonly FoundLine[];
  readonly truncated: boolean;
  readonly filesSearched: number;
  readonly filesWithMatches: number;
  readonly leftOut: LeftOut;
  readonly unreadable: number;
}

/** How many entries were omitted, and why. */
export type LeftOut = Record<ReasonLeftOut, number>;

/**
 * A query that ripgrep refuses, as an error that says where and why. ripgrep shows the pattern inside a group of its
 * own and a caret below it.
 */
export function refusedQuery(query: string, complaint: string): ToolFailure {
  const lines = complaint.split("\n").map((line) => line.replace(/\r$/, ""));
  const stated = lines.find((line) => line.startsWith("error: "))?.slice("error: ".length);
  const reason = stated ?? lines[0]?.replace(/^rg: /, "") ?? "it is not a regular expression";
  return invalidRegex(query, reason, findPosition(query, lines));
}

/** `at` counts characters of the query from 0. */
function invalidRegex(query: string, reason: string, at: number | undefined): ToolFailure {
  const where = at === undefined ? "" : ` at column ${at + 1}`;
  const shown = shorten(query, 200);
  return invalidArguments(
    "invalid_regex",
    `The query ${JSON.stringify(shown)} is not a usable regular expression${where}: ${reason}. ` +
      `Correct it, or set "literal": true to find it as plain text.`,
    { reason, ...(at === undefined ? {} : { offset: at, column: at + 1 }) },
  );
}

const INDENT = "    ";
const WRAPPER = "(?:";

function findPosition(query: string, lines: readonly string[]): number | undefined {
  const caretLine = lines.findIndex((line) => line.startsWith(INDENT) && /^\s*\^/.test(line));
  const shown = lines[caretLine - 1];
  if (caretLine === -1 || shown !== `${INDENT}${WRAPPER}${query})`) return undefined;
  const caret = lines[caretLine]?.indexOf("^") ?? 0;
  const at = caret - INDENT.length - WRAPPER.length;
  // A parenthesis too many or too few is blamed on the group around the query.
  if (at < 0 || at >= Array.from(query).length) return unbalancedParenthesis(query);
  return at;
}

function unbalancedParenthesis(query: string): number | undefined {
  const chars = Array.from(query);
  const open: number[] = [];
  let inSet = false;
  for (let at = 0; at < chars.length; at += 1) {
    const char = chars[at];
    if (char === "\\") at += 1;
    else if (inSet) inSet = char !== "]";
    else if (char === "[") inSet = true;
    else if (char === "(") open.push(at);
    else if (char === ")" && open.pop() === undefined) return at;
  }
  return open.at(-1);
}

/** By the linear regular expressions of the kernel, which are those of ECMAScript. */
export function compileQuery(query: string, literal: boolean, caseSensitive = true): LinearRegex {
  const source = literal ? query.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&") : query;
  const compiled = createRegex(source, caseSensitive ? "" : "i");
  if (!compiled.ok) throw invalidRegex(query, compiled.message, undefined);
  return compiled.regex;
}
