// What a shape is, and where it reports the problems of a value.

import type { DocumentPath } from "./problem.ts";

export interface Shape<T> {
  (value: unknown, place: Place): void;
  /** For the compiler only. */
  readonly type?: T;
}

export type ShapeValue<S> = S extends Shape<infer T> ? T : never;

/** Where a value is, and where its problems go. */
export interface Place {
  readonly path: DocumentPath;
  in(...steps: DocumentPath): Place;
  report(message: string): void;
  reportKey(message: string): void;
  /** What is taken all the same. */
  warn(message: string): void;
  warnKey(message: string): void;
  /** What a value is in the words of its format. Text is never repeated: it may be a secret. */
  kindOf(value: unknown): string;
}

export interface ValueProblem {
  readonly path: DocumentPath;
  readonly of: "key" | "value";
  readonly message: string;
  readonly isWarning?: true;
}

export interface ValueWords {
  readonly nothing: string;
  readonly object: string;
}

export function createPlace(path: DocumentPath, words: ValueWords, found: ValueProblem[]): Place {
  return {
    path,
    in: (...steps) => createPlace([...path, ...steps], words, found),
    report: (message) => void found.push({ path, of: "value", message }),
    reportKey: (message) => void found.push({ path, of: "key", message }),
    warn: (message) => void found.push({ path, of: "value", message, isWarning: true }),
    warnKey: (message) => void found.push({ path, of: "key", message, isWarning: true }),
    kindOf(value) {
      if (value === null || value === undefined) return words.nothing;
      if (Array.isArray(value)) return "a list";
      if (value instanceof Date) return "a date";
      if (typeof value === "object") return words.object;
      return typeof value === "number" || typeof value === "boolean" ? String(value) : "text";
    },
  };
}
