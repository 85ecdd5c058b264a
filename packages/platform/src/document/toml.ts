// TOML with positions. What is no TOML is one problem with its place: the parser stops at the first.

import { parse, TomlError } from "smol-toml";
import { REPEATED, MAX_DEPTH, type ParsedText, type PlacedMessage } from "./parsed-text.ts";
import type { DocumentPath } from "./problem.ts";
import { tomlPlaces } from "./toml-places.ts";

export function parseToml(text: string): ParsedText {
  try {
    const value = parse(text, { maxDepth: MAX_DEPTH });
    const places = tomlPlaces(text);
    const positionOf = (path: DocumentPath, of: "key" | "value") => places.positionOf(path, of);
    return { ok: true, value, positionOf, repeatedKeys: [] };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return { ok: false, problems: [placeError(error, text)] };
  }
}

function placeError({ message, line, column }: TomlError, text: string): PlacedMessage {
  // After its first line the parser shows the text around the place, which may hold a secret.
  const [first = ""] = message.split("\n");
  const what = first.replace(/^Invalid TOML document: /, "");
  if (!what.startsWith("trying to redefine")) {
    const hint = what.startsWith("invalid value") ? "; text needs quotes" : "";
    return { line, column, path: [], message: `is not valid TOML: ${what}${hint}` };
  }
  const { path, firstLine } = findFirst(text, line, column);
  const where = firstLine === undefined ? "" : `; the first is on line ${firstLine}`;
  return { line, column, path, message: `${REPEATED}${where}` };
}

/** All before the second definition is sound, so the first can be found in it. */
function findFirst(
  text: string,
  line: number,
  column: number,
): { path: DocumentPath; firstLine: number | undefined } {
  const lines = text.split("\n");
  const whole = lines[line - 1] ?? "";
  const isHeader = whole.trimStart().startsWith("[");
  const before = tomlPlaces(lines.slice(0, line - 1).join("\n"));
  const key = readKey(whole.slice(column - 1), isHeader ? "]" : "=");
  const path = isHeader ? key : [...before.openTable, ...key];
  // Within an inline table the lines before may know nothing of it.
  return before.has(path)
    ? { path, firstLine: before.positionOf(path, "key").line }
    : { path: key, firstLine: undefined };
}

function readKey(statement: string, end: "]" | "="): DocumentPath {
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
