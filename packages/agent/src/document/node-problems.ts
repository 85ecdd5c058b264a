// What YAML allows and our documents do not: keys that stand twice or are no text, aliases of nothing. Found in
// one walk, as the library's own search takes quadratic time or tells no place.

import { isAlias, isMap, isScalar, isSeq, type Document, type Node, type YAMLMap } from "yaml";
import type { FieldPath } from "./document-problem.ts";

/** Both from one. */
export interface YamlPosition {
  readonly line: number;
  readonly column: number;
}

export interface YamlProblem extends YamlPosition {
  readonly path: FieldPath;
  readonly message: string;
}

interface NodeProblems {
  /** The value has lost something by these. */
  readonly repeated: readonly YamlProblem[];
  /** By these there is no value. */
  readonly unreadable: readonly YamlProblem[];
}

export function nodeProblems(
  document: Document,
  positionAt: (offset: number) => YamlPosition,
): NodeProblems {
  const repeated: YamlProblem[] = [];
  const unreadable: YamlProblem[] = [];
  const anchors = new Set<string>();
  walk(document.contents, []);
  return { repeated, unreadable };

  function walk(node: unknown, path: FieldPath): void {
    if (isAlias(node)) {
      if (anchors.has(node.source)) return;
      const message = `is the alias *${node.source}, and no anchor &${node.source} stands before it`;
      unreadable.push({ ...positionAt(startOf(node) ?? 0), path, message });
      return;
    }
    rememberAnchor(node);
    if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) walk(item, [...path, index]);
    } else if (isMap(node)) walkMap(node, path);
  }

  function walkMap(map: YAMLMap, path: FieldPath): void {
    const seen = new Set<string>();
    for (const { key, value } of map.items) {
      const place = positionAt(startOf(key) ?? startOf(map) ?? 0);
      const text = keyText(key);
      if (text === undefined) {
        unreadable.push({ ...place, path, message: "has a key that is not text" });
        continue;
      }
      rememberAnchor(key);
      const at = [...path, text];
      if (seen.has(text)) repeated.push({ ...place, path: at, message: "stands a second time" });
      seen.add(text);
      walk(value, at);
    }
  }

  function rememberAnchor(node: unknown): void {
    const anchor = (node as Node | null)?.anchor;
    if (anchor !== undefined) anchors.add(anchor);
  }
}

export function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}

export function keyText(key: unknown): string | undefined {
  if (!isScalar(key)) return undefined;
  const { value } = key;
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}
