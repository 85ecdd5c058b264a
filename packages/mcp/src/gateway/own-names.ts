// One server served alone keeps its tools' own names, so that it can take the place in a host's config where the server
// stood: where they are names every host can take, and nothing else is called so.

import type { ModelTools } from "@soong/core";
import { canonicalName } from "../catalog/index.ts";
import { CALL_TOOL } from "./list-tools.ts";

const PLAIN = /^[A-Za-z0-9_-]{1,45}$/u;

const renamed = new WeakMap<ModelTools, ModelTools>();

/** The same object for the same list. */
export function underOwnNames(shown: ModelTools, server_id: string): ModelTools {
  const known = renamed.get(shown);
  if (known !== undefined) return known;
  const prefix = canonicalName(server_id, "");
  const taken = new Set([CALL_TOOL, ...shown.tools.map(({ name }) => name)]);
  const toOwn = new Map<string, string>();
  const toCanonical = new Map<string, string>();
  for (const { name: wire } of shown.tools) {
    const canonical = shown.names.toCanonical(wire) ?? wire;
    const own = canonical.startsWith(prefix) ? canonical.slice(prefix.length) : wire;
    if (own === wire || !PLAIN.test(own) || taken.has(own)) continue;
    toOwn.set(canonical, own);
    toCanonical.set(own, canonical);
  }
  const names = {
    toWire: (canonical: string) => toOwn.get(canonical) ?? shown.names.toWire(canonical),
    toCanonical: (wire: string) => toCanonical.get(wire) ?? shown.names.toCanonical(wire),
  };
  const own: ModelTools = {
    ...shown,
    names,
    tools: shown.tools.map((tool) => ({
      ...tool,
      name: names.toWire(shown.names.toCanonical(tool.name) ?? tool.name),
    })),
  };
  renamed.set(shown, own);
  return own;
}
