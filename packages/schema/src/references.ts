// Pointers and references inside one schema document. Nothing is ever fetched: a reference that does
// not lead to a place in the same document leads nowhere.

import { modernNode } from "./dialects.ts";
import {
  childPointer,
  isRecord,
  isSchemaNode,
  pointerTokens,
  type JsonSchema,
  type SchemaNode,
} from "./json.ts";
import { childSchemas } from "./vocabulary.ts";

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

/** `$id`s on their own, and anchors as "<pointer of their resource>\n<anchor>", each to a pointer. */
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

/**
 * The pointers of the places that refer to themselves, directly or through others: they cannot be written out. Places on
 * a way from one cycle to another are counted among them.
 */
export function findRecursiveTargets(
  root: JsonSchema,
  references: References,
): ReadonlySet<string> {
  const leadsTo = edges(root, references);
  if (leadsTo.get("")?.size === 0) return new Set();
  const comesFrom = new Map<string, Set<string>>([...leadsTo.keys()].map((at) => [at, new Set()]));
  for (const [from, targets] of leadsTo) for (const to of targets) comesFrom.get(to)?.add(from);
  peel(leadsTo, comesFrom);
  peel(comesFrom, leadsTo);
  return new Set(leadsTo.keys());
}

/** Takes away, again and again, what leads nowhere; what is left leads into a cycle. */
function peel(out: Map<string, Set<string>>, back: Map<string, Set<string>>): void {
  const ends = [...out].filter(([, targets]) => targets.size === 0).map(([at]) => at);
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
    for (const before of back.get(end) ?? []) {
      const targets = out.get(before);
      targets?.delete(end);
      if (targets?.size === 0) ends.push(before);
    }
    out.delete(end);
    back.delete(end);
  }
  for (const sources of back.values()) {
    for (const source of sources) if (!out.has(source)) sources.delete(source);
  }
}

/** For the root and every place referred to: the places its subtree refers to. */
function edges(root: JsonSchema, references: References): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  const waiting: Target[] = [{ node: root, pointer: "", base: "" }];
  for (let start = waiting.pop(); start !== undefined; start = waiting.pop()) {
    if (found.has(start.pointer)) continue;
    const targets = new Set<string>();
    found.set(start.pointer, targets);
    const inside: Target[] = [start];
    for (let place = inside.pop(); place !== undefined; place = inside.pop()) {
      if (typeof place.node === "boolean") continue;
      const base = baseWithin(place.node, place.pointer, place.base);
      const { $ref } = modernNode(place.node);
      const target = typeof $ref === "string" ? references.locate($ref, base) : undefined;
      if (target) {
        targets.add(target.pointer);
        waiting.push(target);
      }
      for (const child of childSchemas(place.node, place.pointer)) {
        if (child.keyword === "$defs" || child.keyword === "definitions") continue;
        inside.push({ node: child.node, pointer: child.pointer, base });
      }
    }
  }
  return found;
}
