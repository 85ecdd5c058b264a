// A JSON text with places: comments and trailing commas are fine, two keys of one name are not, because a
// parser would silently take the second.

import { parseTree, printParseErrorCode, type Node, type ParseError } from "jsonc-parser";

export interface Finding {
  readonly offset: number;
  readonly key: string;
  readonly message: string;
  readonly nearest?: string;
}

export type JsonDocument =
  | { readonly ok: true; readonly root: Node }
  | { readonly ok: false; readonly findings: readonly Finding[] };

/** No list of servers is larger; what is was not written by a person. */
const MAX_BYTES = 1_000_000;
const MAX_DEPTH = 50;

export function readJsonDocument(text: string): JsonDocument {
  if (text.length > MAX_BYTES) {
    return refused(0, `The file is too large: at most ${MAX_BYTES} characters are read.`);
  }
  const deep = tooDeepAt(text);
  if (deep !== undefined) {
    return refused(deep, `This is nested more than ${MAX_DEPTH} levels deep.`);
  }
  const errors: ParseError[] = [];
  const root = parseTree(text.replace(/^\uFEFF/, " "), errors, { allowTrailingComma: true });
  const first = errors[0];
  // What follows the first error is mostly its echo.
  if (first !== undefined) return refused(first.offset, syntaxMessage(first));
  if (root === undefined) {
    return refused(0, 'The file is empty; without servers it is {"mcpServers": {}}.');
  }
  const findings = repeatedKeys(root, "");
  return findings.length === 0 ? { ok: true, root } : { ok: false, findings };
}

/** The members of an object, in order. */
export function membersOf(node: Node): { name: string; keyOffset: number; value: Node }[] {
  return (node.children ?? []).flatMap((property) => {
    const [key, value] = property.children ?? [];
    return key === undefined || value === undefined
      ? []
      : [{ name: String(key.value), keyOffset: key.offset, value }];
  });
}

/** Counted from 1. A line ends with \n, \r\n or \r. */
export function placeAt(text: string, offset: number): { line: number; column: number } {
  const lines = text.slice(0, offset).split(/\r\n|\n|\r/);
  return { line: lines.length, column: (lines.at(-1) ?? "").length + 1 };
}

function refused(offset: number, message: string): JsonDocument {
  return { ok: false, findings: [{ offset, key: "", message }] };
}

function syntaxMessage({ error }: ParseError): string {
  const words = printParseErrorCode(error)
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
  return `This is not JSON: ${words}.`;
}

/** Before parsing, because the parser itself goes as deep as the text does. */
function tooDeepAt(text: string): number | undefined {
  let depth = 0;
  // Strings and comments are skipped whole, so that brackets in them do not count.
  for (const { 0: token, index } of text.matchAll(
    /"(?:[^"\\\n\r]|\\.)*"?|\/\/[^\n\r]*|\/\*[^]*?(?:\*\/|$)|[[\]{}]/g,
  )) {
    if (token === "[" || token === "{") depth += 1;
    if (token === "]" || token === "}") depth -= 1;
    if (depth > MAX_DEPTH) return index;
  }
  return undefined;
}

function repeatedKeys(node: Node, path: string): Finding[] {
  if (node.type === "array") {
    return (node.children ?? []).flatMap((item, index) => repeatedKeys(item, `${path}[${index}]`));
  }
  if (node.type !== "object") return [];
  const seen = new Set<string>();
  return membersOf(node).flatMap(({ name, keyOffset, value }) => {
    const key = path === "" ? name : `${path}.${name}`;
    const isRepeated = seen.has(name);
    seen.add(name);
    const inner = repeatedKeys(value, key);
    if (!isRepeated) return inner;
    const message = `"${name}" is here twice; only one of them could count.`;
    return [{ offset: keyOffset, key, message }, ...inner];
  });
}
