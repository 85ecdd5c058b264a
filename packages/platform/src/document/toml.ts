// TOML with positions. What is no TOML is one problem with its place: the parser stops at the first. It tells values but
// no places, so a scanner walks the same text once more and notes where each key and value begins.

import { parse, TomlError } from "smol-toml";
import {
  MAX_DEPTH,
  positionFinder,
  REPEATED,
  type DocumentPath,
  type DocumentPosition,
  type ParsedText,
  type PlacedMessage,
} from "./problem.ts";

export function parseToml(text: string): ParsedText {
  try {
    const value = parse(text, { maxDepth: MAX_DEPTH });
    const { positionOf } = tomlPlaces(text);
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

export interface TomlNode {
  /** Where its key is first written; for an item of a list, where the item begins. */
  readonly start: number;
  /** The text of the value, perhaps with blanks behind it; undefined for what only headers and dotted keys speak of. */
  value: { readonly start: number; readonly end: number } | undefined;
  readonly members: Map<string, TomlNode>;
  readonly items: TomlNode[];
}

/** Expects a text the parser has accepted, or the lines before its first mistake. */
export function tomlPlaces(text: string) {
  const scanned = scan(text);
  const positionAt = positionFinder(text);
  return {
    ...scanned,
    has: (path: DocumentPath): boolean => nearest(scanned.root, path).isExact,
    /** Of the key, or of the value after it (for a table, of its header); where there is none, of what is next above it. */
    positionOf: (path: DocumentPath, of: "key" | "value"): DocumentPosition => {
      const { value, start } = nearest(scanned.root, path).node;
      return positionAt(of === "key" ? start : (value?.start ?? start));
    },
  };
}

interface KeySegment {
  readonly name: string;
  readonly start: number;
}

function nearest(root: TomlNode, path: DocumentPath): { node: TomlNode; isExact: boolean } {
  let node = root;
  for (const step of path) {
    const next = typeof step === "number" ? node.items[step] : node.members.get(step);
    if (next === undefined) return { node, isExact: false };
    node = next;
  }
  return { node, isExact: true };
}

export interface TomlHeader {
  readonly path: DocumentPath;
  /** Of its "[". */
  readonly start: number;
  /** Behind its last "]", or behind the last statement below it. */
  end: number;
}

function scan(text: string): { root: TomlNode; openTable: DocumentPath; headers: TomlHeader[] } {
  const root = openNode(0);
  const headers: TomlHeader[] = [];
  let table = root;
  let openTable: DocumentPath = [];
  let at = 0;
  for (skip(BLANK); at < text.length; skip(BLANK)) {
    if (text[at] === "[") openHeader();
    else keyAndValue(table);
  }
  return { root, openTable, headers };

  function openHeader(): void {
    const start = at;
    const isList = text[at + 1] === "[";
    at += isList ? 2 : 1;
    const key = readKey();
    at += isList ? 2 : 1;
    const { node, path } = descend(root, key);
    headers.push({ path, start, end: at });
    openTable = path;
    table = node;
    if (!isList) return;
    table = openNode(key[0]?.start ?? at);
    node.items.push(table);
    openTable = [...path, node.items.length - 1];
  }

  function keyAndValue(into: TomlNode): void {
    const { node } = descend(into, readKey());
    at += 1;
    skip(SPACES);
    readValue(node);
    const open = headers.at(-1);
    if (open !== undefined) open.end = at;
  }

  function readKey(): KeySegment[] {
    const segments: KeySegment[] = [];
    do {
      skip(SPACES);
      const start = at;
      const name =
        text[at] === '"' || text[at] === "'"
          ? (parse(`name = ${skipString()}`).name as string)
          : skip(BARE_KEY);
      segments.push({ name, start });
      skip(SPACES);
    } while (skip(DOT) !== "");
    return segments;
  }

  function readValue(node: TomlNode): void {
    const start = at;
    const first = text[at];
    if (first === '"' || first === "'") skipString();
    else if (first === "[") readList(node);
    else if (first === "{") readInlineTable(node);
    else skip(BARE_VALUE);
    node.value = { start, end: at };
  }

  function readList(node: TomlNode): void {
    at += 1;
    for (skip(BLANK); at < text.length && text[at] !== "]"; skip(BLANK)) {
      const item = openNode(at);
      node.items.push(item);
      readValue(item);
      skip(BLANK);
      if (text[at] === ",") at += 1;
    }
    at += 1;
  }

  function readInlineTable(node: TomlNode): void {
    at += 1;
    for (skip(BLANK); at < text.length && text[at] !== "}"; skip(BLANK)) {
      keyAndValue(node);
      skip(BLANK);
      if (text[at] === ",") at += 1;
    }
    at += 1;
  }

  function skipString(): string {
    const whole = skip(STRING);
    // One without its end: all that is left.
    return whole === "" ? skip(REST) : whole;
  }

  function skip(pattern: RegExp): string {
    pattern.lastIndex = at;
    const [found = ""] = pattern.exec(text) ?? [];
    at += found.length;
    return found;
  }
}

const SPACES = /[ \t]*/y;
const BLANK = /(?:[ \t\r\n]|#[^\n]*)*/y;
const DOT = /\./y;
const BARE_KEY = /[A-Za-z0-9_-]*/y;
const BARE_VALUE = /[^,\]}#\r\n]*/y;
/** A long string may end in one or two quotes of its own. */
const STRING = /"""(?:\\[^]|[^\\])*?"{3,5}|'''[^]*?'{3,5}|"(?!"")(?:\\[^]|[^"\\])*"|'(?!'')[^']*'/y;
const REST = /[^]*/y;

function openNode(start: number): TomlNode {
  return { start, value: undefined, members: new Map(), items: [] };
}

/** Along a key; of a list of tables the last one is meant. */
function descend(
  from: TomlNode,
  key: readonly KeySegment[],
): { node: TomlNode; path: DocumentPath } {
  let node = from;
  const path: (string | number)[] = [];
  for (const [index, { name, start }] of key.entries()) {
    let next = node.members.get(name);
    if (next === undefined) {
      next = openNode(start);
      node.members.set(name, next);
    }
    path.push(name);
    const last = next.items.at(-1);
    if (index < key.length - 1 && last !== undefined) {
      path.push(next.items.length - 1);
      next = last;
    }
    node = next;
  }
  return { node, path };
}
