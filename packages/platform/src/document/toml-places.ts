// Where everything stands in a TOML text. The parser tells values but no places, so this scanner walks the
// same text once more and notes where each key and value begins. It expects a text the parser has accepted.

import { parse } from "smol-toml";
import { positionFinder } from "./parsed-text.ts";
import type { DocumentPath, DocumentPosition } from "./problem.ts";

export interface TomlNode {
  /** Where its key is first written; for an item of a list, where the item begins. */
  readonly start: number;
  /** The text of the value, perhaps with blanks behind it; undefined for what only headers and dotted keys speak of. */
  readonly value: { readonly start: number; readonly end: number } | undefined;
  readonly members: ReadonlyMap<string, TomlNode>;
  readonly items: readonly TomlNode[];
}

export interface TomlPlaces {
  readonly root: TomlNode;
  /** The table that what comes next would stand in. */
  readonly openTable: DocumentPath;
  has(path: DocumentPath): boolean;
  /** Of the key, or of the value after it (for a table, of its header); where there is none, of what is next above it. */
  positionOf(path: DocumentPath, of: "key" | "value"): DocumentPosition;
}

export function tomlPlaces(text: string): TomlPlaces {
  const scanned = scan(text);
  const positionAt = positionFinder(text);
  return {
    ...scanned,
    has: (path) => nearest(scanned.root, path).isExact,
    positionOf(path, of) {
      const { value, start } = nearest(scanned.root, path).node;
      return positionAt(of === "key" ? start : (value?.start ?? start));
    },
  };
}

interface OpenNode {
  start: number;
  value: { start: number; end: number } | undefined;
  members: Map<string, OpenNode>;
  items: OpenNode[];
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

function scan(text: string): { root: TomlNode; openTable: DocumentPath } {
  const root = openNode(0);
  let table = root;
  let openTable: DocumentPath = [];
  let at = 0;
  for (skipBlank(); at < text.length; skipBlank()) {
    if (text[at] === "[") openHeader();
    else keyAndValue(table);
  }
  return { root, openTable };

  function openHeader(): void {
    const isList = text[at + 1] === "[";
    at += isList ? 2 : 1;
    const key = readKey();
    at += isList ? 2 : 1;
    const { node, path } = descend(root, key);
    openTable = path;
    table = node;
    if (!isList) return;
    table = openNode(key[0]?.start ?? at);
    node.items.push(table);
    openTable = [...path, node.items.length - 1];
  }

  function keyAndValue(into: OpenNode): void {
    const { node } = descend(into, readKey());
    at += 1;
    skipSpaces();
    readValue(node);
  }

  function readKey(): KeySegment[] {
    const segments: KeySegment[] = [];
    for (;;) {
      skipSpaces();
      const start = at;
      const quote = text[at];
      if (quote === '"' || quote === "'") {
        skipString();
        segments.push({ name: unquoted(text.slice(start, at)), start });
      } else {
        while (at < text.length && BARE_KEY.test(text.charAt(at))) at += 1;
        segments.push({ name: text.slice(start, at), start });
      }
      skipSpaces();
      if (text[at] !== ".") return segments;
      at += 1;
    }
  }

  function readValue(node: OpenNode): void {
    const start = at;
    const first = text[at];
    if (first === '"' || first === "'") skipString();
    else if (first === "[") readList(node);
    else if (first === "{") readInlineTable(node);
    else while (at < text.length && !END_OF_BARE_VALUE.test(text.charAt(at))) at += 1;
    node.value = { start, end: at };
  }

  function readList(node: OpenNode): void {
    at += 1;
    for (skipBlank(); at < text.length && text[at] !== "]"; skipBlank()) {
      const item = openNode(at);
      node.items.push(item);
      readValue(item);
      skipBlank();
      if (text[at] === ",") at += 1;
    }
    at += 1;
  }

  function readInlineTable(node: OpenNode): void {
    at += 1;
    for (skipBlank(); at < text.length && text[at] !== "}"; skipBlank()) {
      keyAndValue(node);
      skipBlank();
      if (text[at] === ",") at += 1;
    }
    at += 1;
  }

  function skipString(): void {
    const quote = text.charAt(at);
    const long = text.startsWith(quote.repeat(3), at);
    const end = long ? quote.repeat(3) : quote;
    at += end.length;
    while (at < text.length && !text.startsWith(end, at)) {
      at += quote === '"' && text[at] === "\\" ? 2 : 1;
    }
    at += end.length;
    if (!long) return;
    // A long string may end in one or two quotes of its own.
    for (let own = 0; own < 2 && text[at] === quote; own += 1) at += 1;
  }

  function skipSpaces(): void {
    while (text[at] === " " || text[at] === "\t") at += 1;
  }

  function skipBlank(): void {
    for (;;) {
      while (at < text.length && " \t\r\n".includes(text.charAt(at))) at += 1;
      if (text[at] !== "#") return;
      const end = text.indexOf("\n", at);
      at = end === -1 ? text.length : end;
    }
  }
}

const BARE_KEY = /[A-Za-z0-9_-]/;
const END_OF_BARE_VALUE = /[,\]}#\r\n]/;

function openNode(start: number): OpenNode {
  return { start, value: undefined, members: new Map(), items: [] };
}

/** Along a key; of a list of tables the last one is meant. */
function descend(
  from: OpenNode,
  key: readonly KeySegment[],
): { node: OpenNode; path: DocumentPath } {
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

function unquoted(quoted: string): string {
  return parse(`name = ${quoted}`).name as string;
}
