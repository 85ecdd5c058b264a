// Strict JSON with positions: no comments, no trailing commas, no key twice. What was read comes from the
// platform's own parser; where it stands comes from a tree beside it.

import type { JsonValue } from "@soong/core";
import { createScanner, parseTree, printParseErrorCode, type Node } from "jsonc-parser";

export type JsonPath = readonly (string | number)[];

/** Both from one; a column counts UTF-16 units, as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface JsonDocument {
  readonly value: JsonValue;
  /** Of the value at this path, or of the nearest one around it. */
  valuePosition(path: JsonPath): Position;
  /** Of the key that names the value at this path; of the value where it has none. */
  keyPosition(path: JsonPath): Position;
}

export type ParsedJson =
  | { ok: true; document: JsonDocument }
  | { ok: false; problems: (Position & { message: string })[] };

export function parseJson(text: string): ParsedJson {
  const positionAt = lineIndex(text);
  const refused = (offset: number, message: string): ParsedJson => ({
    ok: false,
    problems: [{ ...positionAt(offset), message }],
  });
  const tooDeep = offsetBelow(text, MAX_DEPTH);
  if (tooDeep !== undefined) return refused(tooDeep, `is nested deeper than ${MAX_DEPTH} levels`);
  const errors: Parameters<typeof parseTree>[1] = [];
  const root = parseTree(text, errors, { disallowComments: true, allowTrailingComma: false });
  const [first] = errors;
  // What follows the first mistake is mostly its echo.
  if (first !== undefined) {
    return refused(
      first.offset,
      syntaxMessage(text, first.offset, printParseErrorCode(first.error)),
    );
  }
  if (root === undefined) return refused(0, EMPTY);
  const twice = repeatedKeys(root);
  if (twice.length > 0) {
    const problems = twice.map(({ offset, value }) => ({
      ...positionAt(offset),
      message: `has the key ${JSON.stringify(value)} a second time`,
    }));
    return { ok: false, problems };
  }
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return refused(0, "is not JSON");
  }
  return {
    ok: true,
    document: {
      value,
      valuePosition: (path) => positionAt(nodeAt(root, path).offset),
      keyPosition(path) {
        const node = nodeAt(root, path);
        const isProperty = node.parent?.type === "property";
        return positionAt((isProperty ? node.parent : node).offset);
      },
    },
  };
}

/** Nobody writes deeper by hand, and the tree is built by recursion. */
const MAX_DEPTH = 100;
const EMPTY = "is empty; a JSON object is expected";

/** Where brackets nest deeper than the limit, if they do. */
function offsetBelow(text: string, limit: number): number | undefined {
  if (text.length <= limit) return undefined;
  const scanner = createScanner(text, true);
  let depth = 0;
  for (let token: number = scanner.scan(); token !== END_OF_FILE; token = scanner.scan()) {
    if (token === OPEN_BRACE || token === OPEN_BRACKET) depth += 1;
    if (token === CLOSE_BRACE || token === CLOSE_BRACKET) depth -= 1;
    if (depth > limit) return scanner.getTokenOffset();
  }
  return undefined;
}

/** The library's tokens; its enum exists only for the compiler. */
const OPEN_BRACE = 1;
const CLOSE_BRACE = 2;
const OPEN_BRACKET = 3;
const CLOSE_BRACKET = 4;
const END_OF_FILE = 17;

function syntaxMessage(text: string, offset: number, code: string): string {
  const before = text.slice(0, offset).trimEnd();
  const closes = text[offset] === "}" || text[offset] === "]";
  if (closes && before.endsWith(","))
    return `has a comma before "${text[offset]}"; JSON allows none`;
  if (code === "ValueExpected" && before === "") return EMPTY;
  return SENTENCES.get(code) ?? "is not JSON";
}

const SENTENCES: ReadonlyMap<string, string> = new Map([
  [
    "InvalidSymbol",
    "has a word or sign that JSON does not know; texts and keys stand in double quotes",
  ],
  ["InvalidNumberFormat", "has a number JSON does not know"],
  ["PropertyNameExpected", "lacks a key in double quotes here"],
  ["ValueExpected", "lacks a value here"],
  ["ColonExpected", 'lacks a ":" between key and value'],
  ["CommaExpected", 'lacks a "," here'],
  ["CloseBraceExpected", 'ends where a "}" is still missing'],
  ["CloseBracketExpected", 'ends where a "]" is still missing'],
  ["EndOfFileExpected", "goes on after its end; a file holds one value"],
  ["InvalidCommentToken", "has a comment; JSON allows none"],
  ["UnexpectedEndOfComment", "has a comment; JSON allows none"],
  ["UnexpectedEndOfString", "has a text without its closing double quote on the same line"],
  ["UnexpectedEndOfNumber", "has a number that is not finished"],
  ["InvalidUnicode", "has a \\u that is not followed by four hexadecimal digits"],
  ["InvalidEscapeCharacter", "has a backslash before a character that takes none"],
  [
    "InvalidCharacter",
    "has a control character in a text; write it as an escape such as \\n or \\t",
  ],
]);

function repeatedKeys(root: Node): { offset: number; value: string }[] {
  const found: { offset: number; value: string }[] = [];
  const waiting: Node[] = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const children = node.children ?? [];
    if (node.type === "object") {
      const seen = new Set<string>();
      for (const { children: [key] = [] } of children) {
        if (key === undefined) continue;
        const value = String(key.value);
        if (seen.has(value)) found.push({ offset: key.offset, value });
        seen.add(value);
      }
    }
    waiting.push(...children);
  }
  return found.toSorted((a, b) => a.offset - b.offset);
}

function nodeAt(root: Node, path: JsonPath): Node {
  let node = root;
  for (const step of path) {
    const next = childAt(node, step);
    if (next === undefined) return node;
    node = next;
  }
  return node;
}

/** An index may come as text, as JSON pointers have it. */
function childAt(node: Node, step: string | number): Node | undefined {
  if (node.type === "array") return node.children?.[Number(step)];
  if (node.type !== "object") return undefined;
  const property = node.children?.find(({ children }) => children?.[0]?.value === String(step));
  return property?.children?.[1];
}

function lineIndex(text: string): (offset: number) => Position {
  const starts = [0];
  for (const { index, 0: end } of text.matchAll(/\r\n|\r|\n/g)) starts.push(index + end.length);
  return (offset) => {
    const line = starts.findLastIndex((start) => start <= offset);
    return { line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
  };
}
