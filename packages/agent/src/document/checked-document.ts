// From the text of a document to its value, or to everything that is wrong with it, each with its place.

import { fieldName, type DocumentProblem } from "./document-problem.ts";
import type { FieldCheck } from "./field-checks.ts";
import type { YamlProblem } from "./node-problems.ts";
import { readYaml, type YamlDocument } from "./yaml-document.ts";

export type CheckedDocument =
  | {
      readonly ok: true;
      readonly value: unknown;
      positionOf: YamlDocument["positionOf"];
    }
  | { readonly ok: false; readonly problems: readonly DocumentProblem[] };

/** More are not read by anybody. */
const MAX_PROBLEMS = 100;

/** `file` is only for the problems. Takes YAML, and so JSON. */
export function checkedDocument(text: string, file: string, check: FieldCheck): CheckedDocument {
  const read = readYaml(text);
  if (!read.ok) return { ok: false, problems: placed(file, read.problems) };
  const { document } = read;
  const problems = [...document.repeatedKeys];
  let unreported = 0;
  check(document.value, [], (path, message, of = "value") => {
    if (problems.length >= MAX_PROBLEMS) unreported += 1;
    else problems.push({ path, message, ...document.positionOf(path, of) });
  });
  if (problems.length === 0) {
    const { value } = document;
    return { ok: true, value, positionOf: (path, of) => document.positionOf(path, of) };
  }
  return { ok: false, problems: placed(file, problems, unreported) };
}

function placed(file: string, found: readonly YamlProblem[], unreported = 0): DocumentProblem[] {
  const inOrder = found.toSorted((a, b) => a.line - b.line || a.column - b.column);
  const problems = inOrder.slice(0, MAX_PROBLEMS).map(({ line, column, path, message }) => {
    const problem = { file, line, column, message };
    return path.length === 0 ? problem : { ...problem, field: fieldName(path) };
  });
  const more = inOrder.length - problems.length + unreported;
  const last = problems.at(-1);
  if (more > 0 && last !== undefined) {
    const { line, column } = last;
    problems.push({ file, line, column, message: `has ${more} more problems after these` });
  }
  return problems;
}
