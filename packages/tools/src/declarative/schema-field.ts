// What the input schema says of the field a template names (DECL-3): whether it is there at all, whether it
// may be absent, whether it is a list. Only what can stand in a command line is let through.

import { isSensitive, type JsonSchema, type SensitivePath } from "@soong/core";
import { isRecord, nearestName } from "@soong/schema";
import { templateName } from "./template.ts";

export interface SchemaField {
  readonly path: readonly string[];
  /** May be absent or null: then what it is in is dropped. */
  readonly optional: boolean;
  /** May be a list: then it becomes several items. */
  readonly list: boolean;
  /** The author listed the values: none of them is a surprise. */
  readonly enumerated: boolean;
}

export type FoundField = { ok: true; field: SchemaField } | { ok: false; message: string };

/** `schema` is the lowered one: no references but those of a schema that contains itself. */
export function findSchemaField(
  { schema, sensitive }: { schema: JsonSchema; sensitive: readonly SensitivePath[] },
  path: readonly string[],
): FoundField {
  const name = templateName(path);
  const refuse = (why: string): FoundField => ({ ok: false, message: `${name} ${why}` });
  let node: unknown = schema;
  let optional = false;
  for (const [depth, step] of path.entries()) {
    const { properties: given, required } = asRecord(node);
    const properties = asRecord(given);
    if (!Object.hasOwn(properties, step)) {
      const meant = nearestName(step, Object.keys(properties));
      const hint =
        meant === undefined
          ? ""
          : `; did you mean ${templateName([...path.slice(0, depth), meant])}?`;
      return refuse(`names no field of input_schema${hint}`);
    }
    const isRequired = Array.isArray(required) && required.includes(step);
    node = properties[step];
    const mayBeNull = listTypes(node)?.includes("null") !== false;
    optional ||= !isRequired || (depth < path.length - 1 && mayBeNull);
  }
  if (isSensitive(sensitive, path) || isSensitive(sensitive, [...path, "0"])) {
    return refuse("is marked sensitive and would show in the command line; read it from stdin");
  }
  const types = listTypes(node);
  if (types === undefined) return refuse("has no type in input_schema, so it could be anything");
  if (types.includes("object")) {
    return refuse("may be an object, which no command line can hold; read it from stdin");
  }
  const list = types.includes("array");
  const { enum: values, items } = asRecord(node);
  if (list && listTypes(items)?.every((type) => SCALARS.has(type)) !== true) {
    return refuse(
      "is a list whose items are not all text, numbers, true or false; say so in items",
    );
  }
  const isOnlyList = types.every((type) => type === "array" || type === "null");
  const enumerated =
    Array.isArray(values) || (isOnlyList && Array.isArray(asRecord(items)["enum"]));
  return {
    ok: true,
    field: { path, optional: optional || types.includes("null"), list, enumerated },
  };
}

const SCALARS: ReadonlySet<string> = new Set(["string", "number", "integer", "boolean"]);

/** Undefined when the schema leaves it open. */
function listTypes(node: unknown): readonly string[] | undefined {
  const { type, enum: values } = asRecord(node);
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.map(String);
  if (!Array.isArray(values)) return undefined;
  return values.map((value) => {
    if (value === null) return "null";
    return Array.isArray(value) ? "array" : typeof value;
  });
}

function asRecord(node: unknown): Readonly<Record<string, unknown>> {
  return isRecord(node) ? node : {};
}
