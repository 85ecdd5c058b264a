// What the author's own schema (Zod or another) answered, in the form of ours. It is code like any other:
// the answer may be anything.

import type { ValidationIssue } from "../schema/index.ts";

export type OwnAnswer =
  | { value: unknown; issues?: undefined }
  | { issues: ValidationIssue[]; value?: undefined };

/** The answer, or what is wrong with it. */
export function readOwnAnswer(given: unknown): OwnAnswer | string {
  try {
    if (typeof given !== "object" || given === null) return "did not answer with an object";
    const { issues, value } = given as { issues?: unknown; value?: unknown };
    if (issues !== undefined) {
      if (!Array.isArray(issues) || issues.length === 0) return "gave issues that are no list";
      return { issues: issues.slice(0, MAX_ISSUES).map(issueOf) };
    }
    return "value" in given ? { value } : "answered with neither issues nor a value";
  } catch {
    return "answered with something that cannot be read";
  }
}

const MAX_ISSUES = 100;
const MAX_CHARS = 500;

function issueOf(given: unknown): ValidationIssue {
  const { message, path } = (given ?? {}) as { message?: unknown; path?: unknown };
  const text = typeof message === "string" && message !== "" ? message : "does not fit";
  const expected = text.slice(0, MAX_CHARS);
  return { path: pathOf(path), expected, received: "a value that does not fit", message: expected };
}

function pathOf(path: unknown): string {
  if (!Array.isArray(path)) return "";
  return path
    .map((part: unknown) => {
      const key: unknown =
        typeof part === "object" && part !== null ? (part as { key?: unknown }).key : part;
      return typeof key === "number" ? `[${key}]` : `.${String(key)}`;
    })
    .join("")
    .replace(/^\./, "")
    .slice(0, MAX_CHARS);
}
