// Text in one of the formats users write, to its value and the position of everything in it; and a document, or a
// value from code, held against a shape. Nothing that looks like a secret is ever repeated.

import { parseJson } from "./json.ts";
import {
  fieldName,
  hideSecrets,
  sortProblems,
  type DocumentPath,
  type DocumentPosition,
  type ParsedText,
  type PlacedMessage,
  type Problem,
} from "./problem.ts";
import { createPlace, type Shape, type ValueProblem, type ValueWords } from "./shape.ts";
import { parseToml } from "./toml.ts";
import { parseYaml } from "./yaml.ts";

/** JSON as it is specified; JSON with comments and trailing commas; YAML, and so JSON; TOML. */
export type DocumentFormat = "json" | "jsonc" | "yaml" | "toml";

export interface UserDocument {
  readonly file: string;
  readonly format: DocumentFormat;
  readonly value: unknown;
  /** Of a value, or of the key that names it; of the nearest thing around what is not there. */
  positionOf(path: DocumentPath, of?: "key" | "value"): DocumentPosition;
  /** Keys that are given twice: no such document passes a check. */
  readonly problems: readonly Problem[];
}

export type ParsedDocument =
  | { readonly ok: true; readonly document: UserDocument }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** What follows is mostly their echo. */
const MAX_SYNTAX_PROBLEMS = 100;

/** `file` is only for the problems. */
export function parseDocument(text: string, file: string, format: DocumentFormat): ParsedDocument {
  const plain = text.replace(/^\uFEFF/, "");
  const parsed =
    format === "toml"
      ? parseToml(plain)
      : format === "yaml"
        ? parseYamlOrJson(plain)
        : parseJson(plain, format);
  const placed = ({ path, line, column, message }: PlacedMessage): Problem =>
    problemAt({ file, positionOf: () => ({ line, column }) }, path, message);
  if (!parsed.ok)
    return { ok: false, problems: parsed.problems.slice(0, MAX_SYNTAX_PROBLEMS).map(placed) };
  return {
    ok: true,
    document: {
      file,
      format,
      value: parsed.value,
      positionOf: (path, of = "value") => parsed.positionOf(path, of),
      problems: parsed.repeatedKeys.map(placed),
    },
  };
}

/** JSON is YAML, and as JSON it is read in a quarter of the time. */
function parseYamlOrJson(text: string): ParsedText {
  const json = /^\s*[[{]/.test(text) ? parseJson(text, "json") : undefined;
  return json?.ok === true ? json : parseYaml(text);
}

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
  const isWarning = (problem: ValueProblem): boolean => problem.isWarning === true;
  const warnings = locate(document, all.filter(isWarning), most);
  const wrong = all.filter((problem) => !isWarning(problem));
  const problems = locate(document, wrong, most, repeated);
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
):
  | { ok: false; problems: readonly Problem[] }
  | { ok: true; value: T; document: UserDocument; warnings: readonly Problem[] } {
  const parsed = parseDocument(text, file, format);
  if (!parsed.ok) return parsed;
  const checked = checkDocument(parsed.document, shape);
  return checked.ok
    ? { ok: true, value: checked.value, document: parsed.document, warnings: checked.warnings }
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
