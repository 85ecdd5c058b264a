// From TOML text to values and the places of them. What is no TOML is one problem with its place: the parser
// stops at the first.

import { parse, TomlError } from "smol-toml";
import { ConfigError, configProblem } from "./config-error.ts";
import { tomlPlaces, type TomlPath, type TomlPlaces } from "./toml-places.ts";

export interface TomlDocument {
  readonly values: Readonly<Record<string, unknown>>;
  readonly places: TomlPlaces;
}

export function readDocument(text: string, file: string): TomlDocument {
  const document = text.startsWith("\uFEFF") ? text.slice(1) : text;
  try {
    return { values: parse(document, { maxDepth: MAX_DEPTH }), places: tomlPlaces(document) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new ConfigError([problemOf(error, document, file)]);
  }
}

const MAX_DEPTH = 64;

function problemOf(error: TomlError, text: string, file: string) {
  const { line, column } = error;
  // Behind its first line the parser shows the text around the place, which may hold a key.
  const [first = ""] = error.message.split("\n");
  const what = first.replace(/^Invalid TOML document: /, "");
  if (!what.startsWith("trying to redefine")) {
    const hint = what.startsWith("invalid value") ? "; text stands in quotes" : "";
    return configProblem(file, { line, column }, [], `is not valid TOML: ${what}${hint}`);
  }
  const { path, firstLine } = definedBefore(text, line, column);
  const where = firstLine === undefined ? "" : `; the first is on line ${firstLine}`;
  return configProblem(file, { line, column }, path, `is defined twice${where}`);
}

/** All before the second definition is sound, so the first can be found in it. */
function definedBefore(
  text: string,
  line: number,
  column: number,
): { path: TomlPath; firstLine: number | undefined } {
  const lines = text.split("\n");
  const whole = lines[line - 1] ?? "";
  const isHeader = whole.trimStart().startsWith("[");
  const before = tomlPlaces(lines.slice(0, line - 1).join("\n"));
  const key = keyOf(whole.slice(column - 1), isHeader ? "]" : "=");
  const path = isHeader ? key : [...before.openTable, ...key];
  // Within an inline table the lines before may know nothing of it.
  return before.has(path)
    ? { path, firstLine: before.keyPlace(path).line }
    : { path: key, firstLine: undefined };
}

function keyOf(statement: string, end: "]" | "="): TomlPath {
  const [key = ""] = statement.split(end, 1);
  let path: string[] = [];
  let table: unknown;
  try {
    table = parse(`${key} = 0`);
  } catch {
    return [key.trim()];
  }
  while (typeof table === "object" && table !== null) {
    const [entry] = Object.entries(table);
    if (entry === undefined) break;
    path = [...path, entry[0]];
    table = entry[1];
  }
  return path;
}
