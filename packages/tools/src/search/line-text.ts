// A line as it is shown: columns in characters, and no more of a long line than is useful around a match.

import { isHighSurrogate, isLowSurrogate } from "@soong/schema";

/** The most characters shown of a line with a match, and of a line beside one. */
const MOST_MATCH_CHARS = 1000;
const MOST_CONTEXT_CHARS = 500;
/** Of all lines together; more is of no use to anyone in one answer. */
export const MOST_ANSWER_CHARS = 2_000_000;
/** How much of a cut line is kept before the match. */
const LEAD_CHARS = 300;

/** Code points before `index`, which is between two characters. */
export function codePointsBefore(text: string, index: number): number {
  let count = 0;
  for (let at = 0; at < index; at += 1) {
    // The second half of a pair belongs to the first.
    if (!splitsPair(text, at)) count += 1;
  }
  return count;
}

export interface ShownLine {
  readonly text: string;
  readonly cut: boolean;
}

/** Redacted before it is cut: half a secret is not recognised (REDACT-1). */
export function shownMatch(
  text: string,
  index: number,
  redact: (text: string) => string,
): ShownLine {
  if (text.length <= MOST_MATCH_CHARS) return { text, cut: false };
  const redacted = redact(text);
  // Where a placeholder of another length is before the match, the place moves a little.
  const near = Math.max(0, index + Math.min(0, redacted.length - text.length) - LEAD_CHARS);
  const start = onBorder(redacted, Math.min(near, Math.max(0, redacted.length - MOST_MATCH_CHARS)));
  const end = onBorder(redacted, start + MOST_MATCH_CHARS);
  return { text: copyText(redacted.slice(start, end)), cut: true };
}

export function shownContext(text: string, redact: (text: string) => string): string {
  if (text.length <= MOST_CONTEXT_CHARS) return text;
  const redacted = redact(text);
  return copyText(redacted.slice(0, onBorder(redacted, MOST_CONTEXT_CHARS)));
}

/** A part of a string keeps the whole of it in memory. */
function copyText(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}

/** Not in the middle of a surrogate pair. */
function onBorder(text: string, at: number): number {
  return splitsPair(text, at) ? at - 1 : at;
}

function splitsPair(text: string, at: number): boolean {
  return isLowSurrogate(text.charCodeAt(at)) && isHighSurrogate(text.charCodeAt(at - 1));
}

/** A path as one line of text: a name may hold a line break, or pretend to be more than one name. */
export function quotePath(path: string): string {
  return PLAIN.test(path) ? path : JSON.stringify(path);
}

/** No control or format characters, no blank at either end, nothing that looks quoted already. */
const PLAIN = /^(?![\s"])[^\p{C}\u2028\u2029]+(?<!\s)$/u;

/** Matches with the lines beside them: each gets those before it, and those after it as they come. */
export function collectWithNeighbours<Match extends { line: number; after: string[] }>(
  contextLines: number,
) {
  const matches: Match[] = [];
  const before: string[] = [];
  const add = (line: number, shown: string, toMatch?: (before: string[]) => Match): void => {
    for (const open of contextLines === 0 ? [] : matches.slice(-contextLines)) {
      if (line - open.line <= contextLines) open.after.push(shown);
    }
    if (toMatch !== undefined) matches.push(toMatch([...before]));
    before.push(shown);
    if (before.length > contextLines) before.shift();
  };
  return { matches, add };
}
