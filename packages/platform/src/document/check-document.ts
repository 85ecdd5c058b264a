// Holds a document, or a value from code, against a shape. Nothing that looks like a secret is ever repeated.

import { parseDocument, type UserDocument } from "./parse-document.ts";
import { createPlace, type Shape, type ValueProblem, type ValueWords } from "./place.ts";
import {
  fieldName,
  hideSecrets,
  sortProblems,
  type DocumentPath,
  type Problem,
} from "./problem.ts";

export type CheckedDocument<T> =
  | { readonly ok: true; readonly value: T; readonly warnings: readonly Problem[] }
  | {
      readonly ok: false;
      readonly problems: readonly Problem[];
      readonly warnings: readonly Problem[];
    };

const MAX_PROBLEMS = 100;

/**
 * The problems of the part at `path` in the order of the file; of the whole document by default. Beyond `most` they are
 * counted.
 */
export function checkDocument<T>(
  document: UserDocument,
  shape: Shape<T>,
  { path = [], most = MAX_PROBLEMS }: { readonly path?: DocumentPath; readonly most?: number } = {},
): CheckedDocument<T> {
  const value = valueAt(document.value, path);
  const all = findProblems(value, shape, path, WORDS[document.format]);
  const repeated = path.length === 0 ? document.problems : [];
  const warnings = locate(
    document,
    all.filter(({ isWarning }) => isWarning === true),
    most,
  );
  const problems = locate(
    document,
    all.filter(({ isWarning }) => isWarning !== true),
    most,
    repeated,
  );
  return problems.length === 0
    ? { ok: true, value: value as T, warnings }
    : { ok: false, problems, warnings };
}

/** Positions are looked up for what is shown only: a large file can have very many problems. */
function locate(
  document: UserDocument,
  found: readonly ValueProblem[],
  most: number,
  located: readonly Problem[] = [],
): Problem[] {
  const shown = found
    .slice(0, most)
    .map(({ path, message, of }) => problemAt(document, path, message, of));
  const problems = sortProblems([...located, ...shown]).slice(0, most);
  const more = located.length + found.length - problems.length;
  const last = problems.at(-1);
  if (more > 0 && last !== undefined) {
    const { field: _, ...place } = last;
    problems.push({ ...place, message: `has ${more} more problems after these` });
  }
  return problems;
}

/** Parses and checks in one step. */
export function readDocument<T>(
  text: string,
  file: string,
  format: UserDocument["format"],
  shape: Shape<T>,
): { ok: false; problems: readonly Problem[] } | { ok: true; value: T; document: UserDocument } {
  const parsed = parseDocument(text, file, format);
  if (!parsed.ok) return parsed;
  const checked = checkDocument(parsed.document, shape);
  return checked.ok
    ? { ok: true, value: checked.value, document: parsed.document }
    : { ok: false, problems: checked.problems };
}

/** For what code gives instead of a file. */
export function checkValue(value: unknown, shape: Shape<unknown>): readonly ValueProblem[] {
  return findProblems(value, shape, [], WORDS.json).filter(({ isWarning }) => isWarning !== true);
}

export function problemAt(
  { file, positionOf }: Pick<UserDocument, "file" | "positionOf">,
  path: DocumentPath,
  message: string,
  of: "key" | "value" = "value",
): Problem {
  const field = path.length === 0 ? {} : { field: hideSecrets(fieldName(path)) };
  return { file, ...positionOf(path, of), ...field, message: hideSecrets(message) };
}

const JSON_WORDS: ValueWords = { nothing: "null", object: "an object" };
const WORDS = {
  json: JSON_WORDS,
  jsonc: JSON_WORDS,
  yaml: { nothing: "empty", object: "a mapping" },
  toml: { nothing: "missing", object: "a table" },
} satisfies Record<UserDocument["format"], ValueWords>;

function findProblems(
  value: unknown,
  shape: Shape<unknown>,
  path: DocumentPath,
  words: ValueWords,
): ValueProblem[] {
  const found: ValueProblem[] = [];
  shape(value, createPlace(path, words, found));
  return found;
}

function valueAt(value: unknown, path: DocumentPath): unknown {
  let found = value;
  for (const step of path) {
    const isThere = typeof found === "object" && found !== null && Object.hasOwn(found, step);
    found = isThere ? (found as Record<string | number, unknown>)[step] : undefined;
  }
  return found;
}
