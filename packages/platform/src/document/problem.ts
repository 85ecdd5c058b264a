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
