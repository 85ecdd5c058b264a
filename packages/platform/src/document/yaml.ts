// YAML with positions. Holds against files made to hurt: depth is bounded before the tree is built, aliases when
// they are followed, and repeated keys are found in one walk, as the library's own search takes quadratic time.

import { messageOf } from "@soong/core";
import { Composer, isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, Parser } from "yaml";
import type { CST, Document, Node, YAMLMap } from "yaml";
import {
  MAX_DEPTH,
  REPEATED,
  type DocumentPath,
  type DocumentPosition,
  type ParsedText,
  type PlacedMessage,
} from "./problem.ts";

/** The document and the scalar in hand. */
const STACK_BESIDE = 2;
const MAX_ALIAS_COUNT = 100;

export function parseYaml(text: string): ParsedText {
  const lines = new LineCounter();
  const positionAt = (offset: number): DocumentPosition => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const refused = (offset: number, message: string): ParsedText => ({
    ok: false,
    problems: [{ ...positionAt(offset), path: [], message }],
  });

  const tokens = readTokens(text, lines);
  if (tokens.tooDeepAt !== undefined) {
    return refused(tokens.tooDeepAt, `is nested deeper than ${MAX_DEPTH} levels`);
  }
  const composer = new Composer({ uniqueKeys: false, prettyErrors: false });
  const [document, second] = [...composer.compose(tokens.found, false, text.length)];
  if (document === undefined) return refused(0, "is empty");
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    const problems = faults.map(({ pos, message }) => ({
      ...positionAt(pos[0]),
      path: [],
      message: `is not YAML that can be read: ${message}`,
    }));
    return { ok: false, problems };
  }
  if (second !== undefined) {
    return refused(second.range[0], "holds a second document; it has to be one");
  }
  const { repeated, unreadable } = findNodeProblems(document, positionAt);
  if (unreadable.length > 0) return { ok: false, problems: [...unreadable, ...repeated] };
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: MAX_ALIAS_COUNT });
  } catch (error) {
    return refused(0, `has aliases that cannot be followed: ${messageOf(error)}`);
  }
  return {
    ok: true,
    value,
    positionOf: (path, of) => positionAt(findOffset(document, path, of)),
    repeatedKeys: repeated,
  };
}

interface Tokens {
  readonly found: readonly CST.Token[];
  readonly tooDeepAt?: number;
}

function readTokens(text: string, lines: LineCounter): Tokens {
  const found: CST.Token[] = [];
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    found.push(...parser.next(lexeme));
    const depth = parser.stack.length - STACK_BESIDE;
    if (depth > MAX_DEPTH) return { found: [], tooDeepAt: parser.offset };
  }
  found.push(...parser.end());
  return { found };
}

/** What YAML allows and our documents do not. Without `unreadable` nodes only is there a value. */
function findNodeProblems(
  document: Document,
  positionAt: (offset: number) => DocumentPosition,
): { readonly repeated: readonly PlacedMessage[]; readonly unreadable: readonly PlacedMessage[] } {
  const repeated: PlacedMessage[] = [];
  const unreadable: PlacedMessage[] = [];
  const anchors = new Set<string>();
  walk(document.contents, []);
  return { repeated, unreadable };

  function walk(node: unknown, path: DocumentPath): void {
    if (isAlias(node)) {
      if (anchors.has(node.source)) return;
      const message = `is the alias *${node.source}, and no anchor &${node.source} is before it`;
      unreadable.push({ ...positionAt(findStart(node) ?? 0), path, message });
      return;
    }
    rememberAnchor(node);
    if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) walk(item, [...path, index]);
    } else if (isMap(node)) walkMap(node, path);
  }

  function walkMap(map: YAMLMap, path: DocumentPath): void {
    const seen = new Set<string>();
    for (const { key, value } of map.items) {
      const place = positionAt(findStart(key) ?? findStart(map) ?? 0);
      const name = keyText(key);
      if (name === undefined) {
        unreadable.push({ ...place, path, message: "has a key that is not text" });
        continue;
      }
      rememberAnchor(key);
      const at = [...path, name];
      if (seen.has(name)) repeated.push({ ...place, path: at, message: REPEATED });
      seen.add(name);
      walk(value, at);
    }
  }

  function rememberAnchor(node: unknown): void {
    const anchor = (node as Node | null)?.anchor;
    if (anchor !== undefined) anchors.add(anchor);
  }
}

function findStart(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}

function keyText(key: unknown): string | undefined {
  if (!isScalar(key)) return undefined;
  const { value } = key;
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

/** Follows aliases to where the thing really is: that is where it is fixed. */
function findOffset(document: Document, path: DocumentPath, of: "key" | "value"): number {
  let node: unknown = document.contents;
  let offset = findStart(node) ?? 0;
  for (const [index, step] of path.entries()) {
    if (isAlias(node)) {
      node = node.resolve(document);
      offset = findStart(node) ?? offset;
    }
    const isLast = index === path.length - 1;
    if (isMap(node)) {
      const pair = node.items.findLast(({ key }) => keyText(key) === String(step));
      if (pair === undefined) return offset;
      const keyOffset = findStart(pair.key) ?? offset;
      if (isLast && of === "key") return keyOffset;
      node = pair.value;
      offset = findStart(node) ?? keyOffset;
    } else if (isSeq(node) && typeof step === "number") {
      node = node.items[step];
      offset = findStart(node) ?? offset;
    } else return offset;
  }
  return offset;
}
