// What is wrong with a file that a user wrote, and where: enough to fix it without searching.

import { createRedactor } from "@soong/core";

export type DocumentPath = readonly (string | number)[];

/** Both from one; a column counts UTF-16 units, as editors do. */
export interface DocumentPosition {
  readonly line: number;
  readonly column: number;
}

export interface Problem {
  readonly file: string;
  /** Absent when the problem is the file itself. */
  readonly line?: number;
  readonly column?: number;
  /** Such as `turns[0].calls[1].tool`; absent when the problem is the file as a whole. */
  readonly field?: string;
  /** A clause about the field or the file. */
  readonly message: string;
}

/** Such as `weather.json:7:3: tags[1]: is 7; text is expected` */
export function describeProblem({ file, line, column, field, message }: Problem): string {
  const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`;
  return field === undefined ? `${place}: ${message}` : `${place}: ${field}: ${message}`;
}

/** In the order of the file. */
export function sortProblems(problems: readonly Problem[]): Problem[] {
  return problems.toSorted(
    (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  );
}

export function fieldName(path: DocumentPath): string {
  return path
    .map((step, index) => {
      if (typeof step === "number") return `[${step}]`;
      if (!PLAIN_KEY.test(step)) return `[${JSON.stringify(shorten(step, 60))}]`;
      return index === 0 ? step : `.${step}`;
    })
    .join("");
}

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_-]{0,59}$/;

export function shorten(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1)}…`;
}

/** Made when the first problem is. */
let redactor: ReturnType<typeof createRedactor> | undefined;

export function hideSecrets(text: string): string {
  redactor ??= createRedactor();
  return redactor.text(text);
}

/** What the parser of a format finds. */
export type ParsedText =
  | {
      readonly ok: true;
      readonly value: unknown;
      positionOf(path: DocumentPath, of: "key" | "value"): DocumentPosition;
      readonly repeatedKeys: readonly PlacedMessage[];
    }
  | { readonly ok: false; readonly problems: readonly PlacedMessage[] };

export interface PlacedMessage extends DocumentPosition {
  readonly path: DocumentPath;
  readonly message: string;
}

/** Deeper than anyone writes, and before a parser exhausts the stack. */
export const MAX_DEPTH = 100;

export const REPEATED = "is given a second time";

/** Turns offsets into lines and columns, in logarithmic time after one look at the text. */
export function positionFinder(text: string): (offset: number) => DocumentPosition {
  const starts = [0];
  for (const { index, 0: end } of text.matchAll(/\r\n|\r|\n/g)) starts.push(index + end.length);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}
