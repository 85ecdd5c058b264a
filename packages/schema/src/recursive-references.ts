// Which places of a document refer to themselves, directly or through others. Those cannot be written
// out; every other reference can.

import { modernNode } from "./dialects.ts";
import type { JsonSchema, SchemaNode } from "./json.ts";
import { baseWithin, type References } from "./references.ts";
import { childSchemas } from "./vocabulary.ts";

/** The pointers of such places. Places on a way from one cycle to another are counted among them. */
export function recursiveTargets(root: JsonSchema, references: References): ReadonlySet<string> {
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
  const waiting: Place[] = [{ node: root, pointer: "", base: "" }];
  for (let start = waiting.pop(); start !== undefined; start = waiting.pop()) {
    if (found.has(start.pointer)) continue;
    const targets = new Set<string>();
    found.set(start.pointer, targets);
    const inside: Place[] = [start];
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

type Place = { node: SchemaNode; pointer: string; base: string };
