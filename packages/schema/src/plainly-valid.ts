// What a walk over a plain schema and a small value can see to be valid. Most calls are: no validator has to be made
// for them, which takes far longer than the walk. It says yes or nothing, reads a value as the validator does, and
// every complaint is the validator's.

import { countCharacters, typeOfJson, type SchemaNode } from "./json.ts";
import { COST_KEYWORD, type PreparedSchema } from "./prepare-schema.ts";

/** Undefined for a schema in which anything is not plain. */
export function plainCheck({
  schema,
  usesInheritedNames,
}: PreparedSchema): ((value: unknown) => boolean) | undefined {
  if (usesInheritedNames || !isPlain(schema)) return undefined;
  return (value) => isValid(schema, value, { left: MAX_STEPS });
}

/** Far below what the validator may spend, in the same measure. What takes more is worth a validator. */
const MAX_STEPS = 10_000;

type PlainNode = boolean | PlainSchema;
type PlainSchema = {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: PlainNode;
  readonly properties?: Readonly<Record<string, PlainNode>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: PlainNode;
  readonly [COST_KEYWORD]?: number;
};
type Steps = { left: number };

/** What a keyword must hold beyond what a prepared schema promises. */
const PLAIN = new Map<string, (held: unknown) => boolean>([
  ["type", () => true],
  ["enum", (held) => (held as unknown[]).every(isScalar)],
  ["minLength", () => true],
  ["maxLength", () => true],
  ["minimum", () => true],
  ["maximum", () => true],
  ["minItems", () => true],
  ["maxItems", () => true],
  ["items", (held) => isPlain(held as SchemaNode)],
  ["properties", (held) => Object.values(held as Record<string, SchemaNode>).every(isPlain)],
  ["required", () => true],
  ["additionalProperties", (held) => isPlain(held as SchemaNode)],
  [COST_KEYWORD, () => true],
]);

function isScalar(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  return value === null || typeof value === "string" || typeof value === "boolean";
}

function isPlain(node: SchemaNode): boolean {
  if (typeof node === "boolean") return true;
  return Object.entries(node).every(([name, held]) => PLAIN.get(name)?.(held) === true);
}

function isValid(node: PlainNode, value: unknown, steps: Steps): boolean {
  if (typeof node === "boolean") return node;
  steps.left -= node[COST_KEYWORD] ?? 1;
  if (steps.left < 0) return false;
  if (node.type !== undefined && ![node.type].flat().some((type) => isOf(type, value)))
    return false;
  if (node.enum !== undefined && !node.enum.includes(value)) return false;
  if (typeof value === "string") return hasLength(node, value, steps);
  if (typeof value === "number") {
    const { minimum = -Infinity, maximum = Infinity } = node;
    return value >= minimum && value <= maximum;
  }
  if (Array.isArray(value)) return hasItems(node, value, steps);
  return typeof value !== "object" || value === null || hasFields(node, value, steps);
}

function isOf(type: string, value: unknown): boolean {
  if (typeof value === "number") {
    return type === "number"
      ? Number.isFinite(value)
      : type === "integer" && Number.isInteger(value);
  }
  return JSON_KINDS.has(typeof value) && typeOfJson(value) === type;
}

const JSON_KINDS: ReadonlySet<string> = new Set(["string", "boolean", "object"]);

/** In characters, of which a text has at least half as many as units. */
function hasLength({ minLength = 0, maxLength }: PlainSchema, text: string, steps: Steps): boolean {
  const isLongEnough = text.length >= 2 * minLength;
  if (isLongEnough && (maxLength === undefined || text.length <= maxLength)) return true;
  steps.left -= text.length;
  if (steps.left < 0) return false;
  const count = countCharacters(text);
  return count >= minLength && count <= (maxLength ?? Infinity);
}

function hasItems(node: PlainSchema, value: readonly unknown[], steps: Steps): boolean {
  const { items = true, minItems = 0, maxItems = Infinity } = node;
  if (value.length < minItems || value.length > maxItems) return false;
  if (items === true) return true;
  for (const item of value) if (!isValid(items, item, steps)) return false;
  return true;
}

function hasFields(node: PlainSchema, value: object, steps: Steps): boolean {
  const { properties = {}, required = [], additionalProperties = true } = node;
  const fields = value as Readonly<Record<string, unknown>>;
  for (const name of required) if (fields[name] === undefined) return false;
  for (const [name, schema] of Object.entries(properties)) {
    const field = fields[name];
    if (field !== undefined && !isValid(schema, field, steps)) return false;
  }
  if (additionalProperties === true) return true;
  for (const name in fields) {
    if (Object.hasOwn(properties, name)) continue;
    if (!isValid(additionalProperties, fields[name], steps)) return false;
  }
  return true;
}
