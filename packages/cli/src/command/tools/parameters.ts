// The parameters of a tool, read from its schema: for the page of a tool, for the flags of `soong call`, and for their help.

import { describeSchema, isJsonObject, type JsonObject, type JsonValue } from "@soong/schema";
import { visibleJson, visibleLine, wrap, type Output } from "../../output/index.ts";

export interface Parameter {
  readonly name: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
}

export function listParameters(schema: JsonObject): Parameter[] {
  const required = collectRequired(schema);
  return Object.entries(collectProperties(schema, schema)).map(([name, given]) => ({
    name,
    schema: follow(given, schema),
    isRequired: required.has(name),
  }));
}

/** Whether names that the schema does not list are taken. */
export function isOpenSchema({ properties, additionalProperties, ...rest }: JsonObject): boolean {
  const isFree = additionalProperties === true || isJsonObject(additionalProperties);
  return isFree || (properties === undefined && !COMBINED.some((key) => key in rest));
}

const COMBINED = ["allOf", "anyOf", "oneOf", "$ref"] as const;
const MOST_STEPS = 20;

/** Also those of the parts a schema is put together from. */
function collectProperties(
  given: JsonObject,
  root: JsonObject,
  steps = 0,
): Record<string, JsonValue> {
  const schema = follow(given, root);
  if (steps > MOST_STEPS) return {};
  const parts = (["allOf", "anyOf", "oneOf"] as const).flatMap((key) => {
    const list = schema[key];
    return Array.isArray(list) ? list.filter(isJsonObject) : [];
  });
  const { properties } = schema;
  return Object.assign(
    Object.create(null) as Record<string, JsonValue>,
    ...parts.map((part) => collectProperties(part, root, steps + 1)),
    isJsonObject(properties) ? properties : {},
  ) as Record<string, JsonValue>;
}

function collectRequired({ required }: JsonObject): ReadonlySet<unknown> {
  return new Set(Array.isArray(required) ? required : []);
}

/** Through references within the schema. */
export function follow(given: JsonValue, root: JsonObject): JsonObject {
  let schema = isJsonObject(given) ? given : {};
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const { $ref, ...rest } = schema;
    if (typeof $ref !== "string" || !$ref.startsWith("#/")) return schema;
    let found: JsonValue | undefined = root;
    for (const part of $ref.slice(2).split("/")) {
      const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
      found = isJsonObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
    }
    schema = { ...(isJsonObject(found) ? found : {}), ...rest };
  }
  return schema;
}

/** `string, required`, `integer, 1 to 2000, default 200`. */
export function describeParameter({ schema, isRequired }: Parameter): string {
  return [
    describeSchema(schema),
    ...describeBounds(schema),
    ...(isRequired ? ["required"] : []),
    ...(schema["default"] === undefined ? [] : [`default ${visibleJson(schema["default"])}`]),
  ].join(", ");
}

function describeBounds(schema: JsonObject): string[] {
  return BOUNDS.flatMap(([low, high, unit]) => {
    const [least, most] = [schema[low], schema[high]];
    if (typeof least === "number" && typeof most === "number") {
      return [`${least} to ${countOf(most, unit)}`];
    }
    // An empty text is rarely meant, and that it is refused says little.
    if (typeof least === "number" && !(unit === "character" && least === 1)) {
      return [`at least ${countOf(least, unit)}`];
    }
    return typeof most === "number" ? [`at most ${countOf(most, unit)}`] : [];
  });
}

function countOf(count: number, unit: string): string {
  return unit === "" ? String(count) : `${count} ${unit}${count === 1 ? "" : "s"}`;
}

const BOUNDS = [
  ["minimum", "maximum", ""],
  ["minLength", "maxLength", "character"],
  ["minItems", "maxItems", "item"],
] as const;

/** `prefix`: what is before a name, such as the dashes of a flag. */
export function renderParameters(
  { colours, width }: Pick<Output, "colours" | "width">,
  parameters: readonly Parameter[],
  prefix = "",
): string[] {
  return parameters.flatMap((parameter) => {
    const { description } = parameter.schema;
    const about = typeof description === "string" ? visibleLine(description) : "";
    return [
      `  ${colours.bold(visibleLine(`${prefix}${parameter.name}`))}  ${visibleLine(describeParameter(parameter))}`,
      ...wrap(about, width, "      ").map(colours.dim),
    ];
  });
}

/** A call that the schema takes, as far as it says. */
export function writeExampleCall(tool_name: string, parameters: readonly Parameter[]): string {
  const needed = parameters.filter(({ isRequired }) => isRequired);
  const shown = needed.length === 0 ? parameters.slice(0, 1) : needed;
  const flags = shown.flatMap(({ name, schema }) => {
    const value = exampleValue(name, schema);
    return value === true ? [`--${name}`] : [`--${name}`, quote(value)];
  });
  return ["soong", "call", tool_name, ...flags].join(" ");
}

function exampleValue(name: string, schema: JsonObject): JsonValue {
  const { enum: choices, examples, default: standard, type, minimum } = schema;
  if (Array.isArray(choices) && choices[0] !== undefined) return choices[0];
  if (Array.isArray(examples) && examples[0] !== undefined) return examples[0];
  if (standard !== undefined && standard !== null) return standard;
  switch (Array.isArray(type) ? type[0] : type) {
    case "boolean":
      return true;
    case "integer":
    case "number":
      return typeof minimum === "number" ? minimum : 1;
    case "array":
      return name === "argv" ? ["git", "status"] : ["…"];
    case "object":
      return {};
    default:
      return name === "path" ? "README.md" : "…";
  }
}

function quote(value: JsonValue): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
