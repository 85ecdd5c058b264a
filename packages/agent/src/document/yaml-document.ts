// YAML (and so JSON) with positions: the value that was written, and where each part of it stands. Holds
// against files made to hurt: depth is bounded before the tree is built, aliases when they are followed.

import { messageOf } from "@soong/core";
import { Composer, isAlias, isMap, isSeq, Lexer, LineCounter, Parser } from "yaml";
import type { CST, Document } from "yaml";
import {
  keyText,
  nodeProblems,
  startOf,
  type YamlPosition,
  type YamlProblem,
} from "./node-problems.ts";
import type { FieldPath } from "./document-problem.ts";

export interface YamlDocument {
  readonly value: unknown;
  /** Of a value, or of the key that names it; of the nearest thing around what is not there. */
  positionOf(path: FieldPath, of: "key" | "value"): YamlPosition;
  /** Of each, the value has the last only. */
  readonly repeatedKeys: readonly YamlProblem[];
}

export type ReadYaml =
  | { ok: true; document: YamlDocument }
  | { ok: false; problems: readonly YamlProblem[] };

/** Deeper, the composer would exhaust the stack. */
const MAX_DEPTH = 100;
/** The document and the scalar in hand. */
const STACK_BESIDE = 2;
const MAX_ALIAS_COUNT = 100;

export function readYaml(text: string): ReadYaml {
  const lines = new LineCounter();
  const positionAt = (offset: number): YamlPosition => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const refused = (offset: number, message: string): ReadYaml => ({
    ok: false,
    problems: [{ ...positionAt(offset), path: [], message }],
  });

  const tokens = tokensOf(text, lines);
  if (tokens.tooDeepAt !== undefined) {
    return refused(tokens.tooDeepAt, `is nested deeper than ${MAX_DEPTH} levels`);
  }
  // The composer's own search for repeated keys takes quadratic time.
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
  const { repeated, unreadable } = nodeProblems(document, positionAt);
  if (unreadable.length > 0) return { ok: false, problems: [...unreadable, ...repeated] };
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: MAX_ALIAS_COUNT });
  } catch (error) {
    return refused(0, `has aliases that cannot be followed: ${messageOf(error)}`);
  }
  return {
    ok: true,
    document: {
      value,
      positionOf: (path, of) => positionAt(offsetOf(document, path, of)),
      repeatedKeys: repeated,
    },
  };
}

interface Tokens {
  readonly found: readonly CST.Token[];
  readonly tooDeepAt?: number;
}

function tokensOf(text: string, lines: LineCounter): Tokens {
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

/** Follows aliases to where the thing really stands: that is where it is mended. */
function offsetOf(document: Document, path: FieldPath, of: "key" | "value"): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const [index, step] of path.entries()) {
    if (isAlias(node)) {
      node = node.resolve(document);
      offset = startOf(node) ?? offset;
    }
    const isLast = index === path.length - 1;
    if (isMap(node)) {
      const pair = node.items.findLast(({ key }) => keyText(key) === String(step));
      if (pair === undefined) return offset;
      const keyOffset = startOf(pair.key) ?? offset;
      if (isLast && of === "key") return keyOffset;
      node = pair.value;
      offset = startOf(node) ?? keyOffset;
    } else if (isSeq(node) && typeof step === "number") {
      node = node.items[step];
      offset = startOf(node) ?? offset;
    } else return offset;
  }
  return offset;
}
