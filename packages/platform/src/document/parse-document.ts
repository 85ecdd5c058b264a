// Text in one of the formats users write, to its value and the position of everything in it.

import { parseJson } from "./json.ts";
import type { ParsedText, PlacedMessage } from "./parsed-text.ts";
import { fieldName, type DocumentPath, type DocumentPosition, type Problem } from "./problem.ts";
import { parseYaml } from "./yaml.ts";

/** JSON as it is specified; JSON with comments and trailing commas; YAML, and so JSON. */
export type DocumentFormat = "json" | "jsonc" | "yaml";

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
  const parsed: ParsedText = format === "yaml" ? parseYaml(plain) : parseJson(plain, format);
  const placed = ({ path, line, column, message }: PlacedMessage): Problem => ({
    file,
    line,
    column,
    ...(path.length === 0 ? {} : { field: fieldName(path) }),
    message,
  });
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
