// Pointers and references inside one schema document. Nothing is ever fetched: a reference that does
// not lead to a place in the same document leads nowhere.

import { isRecord, isSchemaNode, type JsonSchema, type SchemaNode } from "./json.ts";

/** Where a reference leads: the schema there, its pointer, and the resource (`$id`) it belongs to. */
export type Target = { node: SchemaNode; pointer: string; base: string };

/** `base` is the pointer of the nearest enclosing node with an `$id`; "" is the document. */
export type References = { locate: (reference: string, base: string) => Target | undefined };

export function openReferences(root: JsonSchema): References {
  let names: Map<string, string> | undefined;
  const known = new Map<string, Target | undefined>();

  const locate = (reference: string, base: string): Target | undefined => {
    const hash = reference.indexOf("#");
    const resource = hash < 0 ? reference : reference.slice(0, hash);
    const fragment = hash < 0 ? "" : decodeFragment(reference.slice(hash + 1));
    if (fragment === undefined) return undefined;
    let start: string | undefined = base;
    if (resource !== "") {
      names ??= namesIn(root);
      start = names.get(resource) ?? names.get(`${resource}#`);
    }
    if (start === undefined) return undefined;
    if (fragment === "" || fragment.startsWith("/")) return follow(root, start, fragment);
    names ??= namesIn(root);
    const anchor = names.get(`${start}\n${fragment}`);
    return anchor === undefined ? undefined : follow(root, "", anchor);
  };

  return {
    locate: (reference, base) => {
      const key = `${base}\n${reference}`;
      if (!known.has(key)) known.set(key, locate(reference, base));
      return known.get(key);
    },
  };
}

/** The resource a node belongs to, given the one around it. */
export function baseWithin(node: JsonSchema, pointer: string, around: string): string {
  return pointer !== "" && isResourceId(node.$id) ? pointer : around;
}

export function childPointer(pointer: string, token: string): string {
  return token.includes("~") || token.includes("/")
    ? `${pointer}/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`
    : `${pointer}/${token}`;
}

/** The unescaped tokens of a pointer. */
export function pointerTokens(pointer: string): string[] {
  if (pointer === "") return [];
  const tokens = pointer.slice(1).split("/");
  return pointer.includes("~")
    ? tokens.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"))
    : tokens;
}

function follow(root: JsonSchema, start: string, fragment: string): Target | undefined {
  let node: unknown = root;
  let pointer = "";
  let base = "";
  for (const token of [...pointerTokens(start), ...pointerTokens(fragment)]) {
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, token)) return undefined;
    node = (node as Record<string, unknown>)[token];
    pointer = childPointer(pointer, token);
    if (isRecord(node)) base = baseWithin(node, pointer, base);
  }
  return isSchemaNode(node) ? { node, pointer, base } : undefined;
}

/** `$id`s by themselves, and anchors as "<pointer of their resource>\n<anchor>", each to a pointer. */
function namesIn(root: JsonSchema): Map<string, string> {
  const names = new Map<string, string>();
  const seen = new Set<object>();
  const waiting: { value: object; pointer: string; base: string }[] = [
    { value: root, pointer: "", base: "" },
  ];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, pointer } = next;
    if (seen.has(value)) continue;
    seen.add(value);
    let base = next.base;
    if (isRecord(value)) {
      base = baseWithin(value, pointer, base);
      const { $id, $anchor, $dynamicAnchor } = value;
      if (isResourceId($id)) names.set($id, pointer);
      else if (typeof $id === "string") names.set(`${base}\n${$id.slice(1)}`, pointer);
      for (const anchor of [$anchor, $dynamicAnchor]) {
        if (typeof anchor === "string") names.set(`${base}\n${anchor}`, pointer);
      }
    }
    for (const [key, child] of Object.entries<unknown>(value as Record<string, unknown>)) {
      if (typeof child === "object" && child !== null) {
        waiting.push({ value: child, pointer: childPointer(pointer, key), base });
      }
    }
  }
  return names;
}

function isResourceId(id: unknown): id is string {
  // Draft-07 wrote anchors as `$id: "#name"`.
  return typeof id === "string" && id !== "" && !id.startsWith("#");
}

function decodeFragment(fragment: string): string | undefined {
  if (!fragment.includes("%")) return fragment;
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}
