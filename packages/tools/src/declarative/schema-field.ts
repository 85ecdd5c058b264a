// What the input schema says of the field a template names (DECL-3): whether it is there at all, whether it
// may be absent, whether it is a list. Only what can stand in a command line is let through.

import { isSensitive, type JsonSchema, type SensitivePath } from "@soong/core";
import { isRecord, nearestName } from "@soong/schema";
import { templateName } from "./template.ts";

export interface SchemaField {
  readonly path: readonly string[];
  /** May be absent or null: then what it stands in is dropped. */
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
    const properties = isRecord(node) && isRecord(node["properties"]) ? node["properties"] : {};
    if (!Object.hasOwn(properties, step)) {
      const meant = nearestName(step, Object.keys(properties));
      const hint =
        meant === undefined
          ? ""
          : `; did you mean ${templateName([...path.slice(0, depth), meant])}?`;
      return refuse(`names no field of input_schema${hint}`);
    }
    optional ||=
      !isRequired(node, step) || (depth < path.length - 1 && mayBeNull(properties[step]));
    node = properties[step];
  }
  if (isSensitive(sensitive, path) || isSensitive(sensitive, [...path, "0"])) {
    return refuse("is marked sensitive and would show in the command line; read it from stdin");
  }
  const types = typesOf(node);
  if (types === undefined) return refuse("has no type in input_schema, so it could be anything");
  if (types.includes("object")) {
    return refuse("may be an object, which no command line can hold; read it from stdin");
  }
  const list = types.includes("array");
  if (list && !hasScalarItems(node)) {
    return refuse(
      "is a list whose items are not all text, numbers, true or false; say so in items",
    );
  }
  const isOnlyList = types.every((type) => type === "array" || type === "null");
  return {
    ok: true,
    field: {
      path,
      optional: optional || types.includes("null"),
      list,
      enumerated:
        isEnumerated(node) || (isRecord(node) && isOnlyList && isEnumerated(node["items"])),
    },
  };
}

function hasScalarItems(node: unknown): boolean {
  const types = isRecord(node) ? typesOf(node["items"]) : undefined;
  return types?.every((type) => SCALARS.has(type)) === true;
}

const SCALARS: ReadonlySet<string> = new Set(["string", "number", "integer", "boolean"]);

/** Undefined when the schema leaves it open. */
function typesOf(node: unknown): readonly string[] | undefined {
  if (!isRecord(node)) return undefined;
  const { type, enum: values } = node;
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.map(String);
  return Array.isArray(values) ? values.map(typeOfValue) : undefined;
}

function typeOfValue(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function isRequired(node: unknown, step: string): boolean {
  return isRecord(node) && Array.isArray(node["required"]) && node["required"].includes(step);
}

function isEnumerated(node: unknown): boolean {
  return isRecord(node) && Array.isArray(node["enum"]);
}

function mayBeNull(node: unknown): boolean {
  return typesOf(node)?.includes("null") !== false;
}
