// Lowering (SCHEMA-3): a schema written with unions, references and compositions, said again inside
// the core subset (SCHEMA-1) without losing anything. Pure and total; what does not fit is named.

import { isRecord, sameJson, type JsonSchema, type SchemaNode } from "./json.ts";
import { lowerNode, openRun, report, TOP, type Run } from "./lower-node.ts";
import { isPlainSchema } from "./plain-schema.ts";
import { openPatterns } from "./prepare-schema.ts";
import { typesOf } from "./tidy-schema.ts";
import { childSchemas, VOCABULARY, type SchemaProblem } from "./vocabulary.ts";

export type LoweredSchema =
  | { kind: "core"; schema: JsonSchema }
  | { kind: "extended"; schema: JsonSchema; outside: SchemaProblem[] };

const MAX_NODES = 20_000;
const MAX_ROUNDS = 4;

/** Nodes that need nothing are shared with the original; a schema that needs nothing is answered as it is. */
export function lowerSchema(original: JsonSchema): LoweredSchema {
  if (isPlainSchema(original)) return { kind: "core", schema: original };
  try {
    const { schema: first, problems, exhausted } = lowerOnce(original);
    if (exhausted || expandedSize(first) > MAX_NODES) return tooLarge(original);
    if (problems.size === 0) return { kind: "core", schema: first };
    const schema = settle(first);
    if (expandedSize(schema) > MAX_NODES) return tooLarge(original);
    if (isInside(schema)) return { kind: "core", schema };
    return { kind: "extended", schema, outside: [...problems.values()] };
  } catch {
    // Only a schema nobody has read first (bottomless, or with getters that throw) comes here.
    return tooLarge(original);
  }
}

function lowerOnce(given: JsonSchema): {
  schema: JsonSchema;
  problems: ReadonlyMap<string, SchemaProblem>;
  exhausted: boolean;
} {
  const run = openRun(given, MAX_NODES);
  const root = asArguments(run, lowerNode(run, given, TOP));
  const schema = withDefinitions(run, root);
  return { schema, problems: run.problems, exhausted: run.budget.left < 0 };
}

/** What had to stay apart at first may fit once its surroundings are simpler, so it is tried again. */
function settle(first: JsonSchema): JsonSchema {
  let schema = first;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const next = lowerOnce(schema);
    if (next.exhausted || sameJson(next.schema, schema, { left: MAX_NODES })) break;
    schema = next.schema;
  }
  return schema;
}

function withDefinitions(run: Run, root: JsonSchema): JsonSchema {
  if (run.definitions.size === 0) return root;
  const definitions = [...run.definitions.values()].map(({ name, node }) => [name, node]);
  return { ...root, $defs: Object.fromEntries(definitions) };
}

/** Arguments are always an object, so a root that leaves its type open is an object. */
function asArguments(run: Run, root: SchemaNode): JsonSchema {
  if (typeof root === "boolean") {
    report(run, TOP, "not", "no arguments could ever be valid");
    return { not: {} };
  }
  const types = typesOf(root);
  if (types === undefined) return { type: "object", ...root };
  if (!types.includes("object")) {
    report(run, TOP, "type", "the root of an input schema must be an object");
    return root;
  }
  return root.type === "object" ? root : { ...root, type: "object" };
}

/** Problems may have gone away with what held them, so the result itself decides. */
function isInside(schema: JsonSchema): boolean {
  if (schema.type !== "object") return false;
  const patterns = openPatterns();
  const waiting: JsonSchema[] = [schema];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    for (const name of Object.keys(node)) {
      const entry = VOCABULARY.get(name);
      if (entry?.standing !== "core" && entry?.standing !== "note") return false;
      if (!entry.accepts(node[name])) return false;
    }
    if (Array.isArray(node.enum) && node.enum.length === 0) return false;
    if (typeof node.pattern === "string" && patterns.refusal(node.pattern)) return false;
    if (isRecord(node.properties) && Object.values(node.properties).includes(false)) return false;
    for (const child of childSchemas(node, "")) if (isRecord(child.node)) waiting.push(child.node);
  }
  return true;
}

/** How many nodes the schema has once written as text, where shared parts are written each time. */
function expandedSize(schema: JsonSchema): number {
  const sizes = new Map<JsonSchema, number>();
  const size = (node: SchemaNode): number => {
    if (!isRecord(node)) return 1;
    let total = sizes.get(node);
    if (total === undefined) {
      total = 1;
      for (const child of childSchemas(node, "")) total += size(child.node);
      sizes.set(node, total);
    }
    return total;
  };
  return size(schema);
}

function tooLarge(original: JsonSchema): LoweredSchema {
  const message = "the schema is too large or too deep to be written out";
  return {
    kind: "extended",
    schema: original,
    outside: [{ pointer: "", keyword: "$ref", message }],
  };
}
