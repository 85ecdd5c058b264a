// What is wrong with a file a person wrote, with the place, so that it can be mended without searching.

import type { JsonDocument, JsonPath } from "./parse-json.ts";

export interface FileProblem {
  readonly file: string;
  /** Absent when the problem is the file itself. */
  readonly line?: number;
  readonly column?: number;
  /** Such as `tags[1]`, or the JSON pointer behind `input_schema`. */
  readonly field?: string;
  /** What is wrong, as a clause about the field or the file. */
  readonly message: string;
}

/** `weather.json:7:3: tags[1]: is not text` */
export function describeFileProblem({ file, line, column, field, message }: FileProblem): string {
  const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`;
  return field === undefined ? `${place}: ${message}` : `${place}: ${field}: ${message}`;
}

export function problemAt(
  file: string,
  document: JsonDocument,
  path: JsonPath,
  message: string,
): FileProblem {
  return withField(path, { file, ...document.valuePosition(path), message });
}

/** A problem of the key itself, such as one nobody knows. */
export function problemAtKey(
  file: string,
  document: JsonDocument,
  path: JsonPath,
  message: string,
): FileProblem {
  return withField(path, { file, ...document.keyPosition(path), message });
}

function fieldName(path: JsonPath): string {
  return path
    .map((step, index) =>
      typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`,
    )
    .join("");
}

function withField(path: JsonPath, problem: FileProblem): FileProblem {
  return path.length === 0 ? problem : { ...problem, field: fieldName(path) };
}
