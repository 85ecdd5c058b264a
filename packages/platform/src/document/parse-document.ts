// Text in one of the formats users write, to its value and the position of everything in it.

import { parseJson } from "./json.ts";
import type { ParsedText, PlacedMessage } from "./parsed-text.ts";
import {
  fieldName,
  hideSecrets,
  type DocumentPath,
  type DocumentPosition,
  type Problem,
} from "./problem.ts";
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
  const parsed = parseText(plain, format);
  const placed = ({ path, line, column, message }: PlacedMessage): Problem => ({
    file,
    line,
    column,
    ...(path.length === 0 ? {} : { field: hideSecrets(fieldName(path)) }),
    message: hideSecrets(message),
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

function parseText(text: string, format: DocumentFormat): ParsedText {
  if (format === "toml") return parseToml(text);
  return format === "yaml" ? parseYaml(text) : parseJson(text, format);
}
