// JSON with positions. Strict JSON is read by the platform's own parser; a tree beside it has the positions.

import { createScanner, parseTree, printParseErrorCode, type Node } from "jsonc-parser";
import {
  MAX_DEPTH,
  REPEATED,
  positionFinder,
  type DocumentPath,
  type DocumentPosition,
  type ParsedText,
  type PlacedMessage,
} from "./problem.ts";

export function parseJson(text: string, format: "json" | "jsonc"): ParsedText {
  const positionAt = positionFinder(text);
  const refused = (offset: number, message: string): ParsedText => ({
    ok: false,
    problems: [{ ...positionAt(offset), path: [], message }],
  });
  const tooDeep = offsetBelow(text, MAX_DEPTH);
  if (tooDeep !== undefined) return refused(tooDeep, `is nested deeper than ${MAX_DEPTH} levels`);
  const errors: Parameters<typeof parseTree>[1] = [];
  const isStrict = format === "json";
  const root = parseTree(text, errors, {
    disallowComments: isStrict,
    allowTrailingComma: !isStrict,
  });
  const [first] = errors;
  // What follows the first mistake is mostly its echo.
  if (first !== undefined) {
    return refused(
      first.offset,
      syntaxMessage(text, first.offset, printParseErrorCode(first.error)),
    );
  }
  if (root === undefined) return refused(0, EMPTY);
  let value: unknown;
  try {
    value = isStrict ? JSON.parse(text) : readValue(root);
  } catch {
    return refused(0, "is not JSON");
  }
  return {
    ok: true,
    value,
    positionOf(path, of) {
      const node = nodeAt(root, path);
      const isKey = of === "key" && node.parent?.type === "property";
      return positionAt((isKey ? node.parent : node).offset);
    },
    repeatedKeys: repeatedKeys(root, positionAt),
  };
}

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
  ["InvalidSymbol", "has a word or sign that JSON does not know; write text and keys in quotes"],
  ["InvalidNumberFormat", "has a number JSON does not know"],
  ["PropertyNameExpected", "lacks a key in double quotes here"],
  ["ValueExpected", "lacks a value here"],
  ["ColonExpected", 'lacks a ":" between key and value'],
  ["CommaExpected", 'lacks a "," here'],
  ["CloseBraceExpected", 'ends where a "}" is still missing'],
  ["CloseBracketExpected", 'ends where a "]" is still missing'],
  ["EndOfFileExpected", "continues after its end; a file holds one value"],
  ["InvalidCommentToken", "has a comment; JSON allows none"],
  ["UnexpectedEndOfComment", "has a comment without its end"],
  ["UnexpectedEndOfString", "has a text without its closing double quote on the same line"],
  ["UnexpectedEndOfNumber", "has a number that is not finished"],
  ["InvalidUnicode", "has a \\u that is not followed by four hexadecimal digits"],
  ["InvalidEscapeCharacter", "has a backslash before a character that takes none"],
  [
    "InvalidCharacter",
    "has a control character in a text; write it as an escape such as \\n or \\t",
  ],
]);

/** `Object.fromEntries` makes `__proto__` a key like any other. */
function readValue({ type, value, children = [] }: Node): unknown {
  if (type === "array") return children.map(readValue);
  if (type !== "object") return value as unknown;
  return Object.fromEntries(
    children.flatMap(({ children: [key, of] = [] }) =>
      key === undefined || of === undefined ? [] : [[String(key.value), readValue(of)]],
    ),
  );
}

function repeatedKeys(root: Node, positionAt: (offset: number) => DocumentPosition) {
  const found: PlacedMessage[] = [];
  walk(root, []);
  return found;

  function walk({ type, children = [] }: Node, path: DocumentPath): void {
    if (type === "array") {
      for (const [index, item] of children.entries()) walk(item, [...path, index]);
    }
    if (type !== "object") return;
    const seen = new Set<string>();
    for (const { children: [key, value] = [] } of children) {
      if (key === undefined || value === undefined) continue;
      const name = String(key.value);
      const at = [...path, name];
      if (seen.has(name)) found.push({ ...positionAt(key.offset), path: at, message: REPEATED });
      seen.add(name);
      walk(value, at);
    }
  }
}

function nodeAt(root: Node, path: DocumentPath): Node {
  let node = root;
  for (const step of path) {
    const next = childAt(node, step);
    if (next === undefined) return node;
    node = next;
  }
  return node;
}

/** An index may come as text, as JSON pointers have it. Of a repeated key the last counts. */
function childAt(node: Node, step: string | number): Node | undefined {
  if (node.type === "array") return node.children?.[Number(step)];
  if (node.type !== "object") return undefined;
  const property = node.children?.findLast(({ children }) => children?.[0]?.value === String(step));
  return property?.children?.[1];
}
