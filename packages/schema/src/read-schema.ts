// Reading what an author or a server gave as a schema into plain, frozen JSON Schema. Everything
// that can be wrong with it comes out as problems with pointers; nothing here throws.

import { modernNode } from "./dialects.ts";
import {
  childPointer,
  isPlainRecord,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
} from "./json.ts";
import { copyPlainSchema } from "./plain-schema.ts";
import { baseWithin, openReferences } from "./references.ts";
import { createRegex } from "./regex.ts";
import type { StandardResult, StandardSchemaLike } from "./standard-schema.ts";
import { childSchemas, VOCABULARY, type SchemaProblem } from "./vocabulary.ts";

export type ReadSchema =
  | {
      ok: true;
      /** What was given, as data; deeply frozen. */
      original: JsonSchema;
      /** The Standard Schema's own validation, when there is one: refinements live only there. */
      check?: OwnCheck;
    }
  | { ok: false; problems: SchemaProblem[] };

/** May throw or never answer: it is the author's code. */
export type OwnCheck = (
  value: unknown,
) => StandardResult<unknown> | Promise<StandardResult<unknown>>;

/** Five thousand subschemas compile in about a second; what is larger is an accident or an attack. */
const LIMITS = { depth: 128, characters: 1024 * 1024, schemas: 5_000 };
const MAX_PROBLEMS = 20;

/** A JSON Schema, or a schema of a library that can write itself as one, ready to check values. */
export function readSchema(schema: unknown): ReadSchema {
  try {
    const plain = copyPlainSchema(schema);
    if (plain !== undefined) return { ok: true, original: plain };
    const standard = readStandard(schema);
    if (standard === undefined) return readJson(schema, () => true);
    if (!("emit" in standard)) return refuseSchema(standard.message);
    const read = readJson(standard.emit(), keepsEmitted);
    if (!read.ok || standard.validate === undefined) return read;
    return { ...read, check: standard.validate };
  } catch (error) {
    return refuseSchema(`the schema cannot be read: ${readMessage(error)}`);
  }
}

type Standard = { emit: () => unknown; validate?: OwnCheck };

/** arktype's schemas are functions, so "is it an object" is not the question. */
function readStandard(schema: unknown): Standard | { message: string } | undefined {
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null) {
    return undefined;
  }
  // Only looked like one so far: every part is asked for before it is used.
  const standard = (schema as Partial<StandardSchemaLike>)["~standard"];
  if (typeof standard !== "object" || standard === null) return undefined;
  const { jsonSchema, validate, vendor }: Partial<typeof standard> = standard;
  if (typeof jsonSchema?.input !== "function") {
    const library = typeof vendor === "string" ? `${vendor} ` : "";
    return { message: `this ${library}schema cannot emit JSON Schema: ${EMITTERS}` };
  }
  const emit = (): unknown => {
    try {
      return jsonSchema.input({ target: "draft-2020-12" });
    } catch (error) {
      try {
        return jsonSchema.input({ target: "draft-07" });
      } catch {
        throw error;
      }
    }
  };
  return typeof validate === "function"
    ? { emit, validate: (value) => standard.validate(value) }
    : { emit };
}

const EMITTERS =
  "use zod 4.2 or later, arktype, valibot through toStandardJsonSchema of @valibot/to-json-schema, or plain JSON Schema";

/** Whether a key of the given schema object belongs into our copy. */
type Keeps = (record: { readonly [key: string]: unknown }, key: string) => boolean;

function readJson(given: unknown, keeps: Keeps): ReadSchema {
  if (given === true) return readJson({}, keeps);
  if (!isPlainRecord(given)) {
    return refuseSchema("a schema is an object: plain JSON Schema, or a Standard Schema object");
  }
  const problems: SchemaProblem[] = [];
  const copy = copyJson(given, keeps, problems);
  if (problems.length === 0) checkSchema(copy as JsonSchema, problems);
  if (problems.length > 0) return { ok: false, problems: problems.slice(0, MAX_PROBLEMS) };
  return { ok: true, original: copy as JsonSchema };
}

/** A deep, frozen copy of JSON data; what is not JSON, too deep or too much becomes a problem. */
function copyJson(root: unknown, keeps: Keeps, problems: SchemaProblem[]): JsonValue {
  let left = LIMITS.characters;
  const open = new Set<object>();
  const report = (pointer: string, message: string): null => {
    const keyword = pointer.slice(pointer.lastIndexOf("/") + 1);
    problems.push({ pointer, keyword, message });
    return null;
  };
  const spend = (characters: number): void => {
    if (left >= 0 && left < characters) {
      report("", `the schema is larger than ${LIMITS.characters} characters`);
    }
    left -= characters;
  };

  const copy = (value: unknown, pointer: string, depth: number): JsonValue => {
    spend(typeof value === "string" ? value.length + 2 : 4);
    if (left < 0 || problems.length >= MAX_PROBLEMS) return null;
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value === "number") {
      return Number.isFinite(value) ? value : report(pointer, `${value} is not a JSON number`);
    }
    const isList = Array.isArray(value);
    if (!isList && !isPlainRecord(value)) return report(pointer, `${describe(value)} is not JSON`);
    if (open.has(value)) return report(pointer, "the schema contains itself; use $ref");
    if (depth > LIMITS.depth) {
      return report(pointer, `the schema is nested deeper than ${LIMITS.depth} levels`);
    }
    open.add(value);
    const result = isList
      ? value.map((item, index) => copy(item, `${pointer}/${index}`, depth + 1))
      : copyRecord(value, pointer, depth);
    open.delete(value);
    Object.freeze(result);
    return result;
  };

  const copyRecord = (
    record: { readonly [key: string]: unknown },
    pointer: string,
    depth: number,
  ): JsonObject => {
    const result: JsonObject = {};
    for (const key of Object.keys(record)) {
      const at = childPointer(pointer, key);
      spend(key.length + 3);
      if (key === "__proto__") report(at, "a schema may not use the key __proto__");
      // An author's `description: undefined` is a way of writing nothing.
      else if (record[key] !== undefined && keeps(record, key)) {
        result[key] = copy(record[key], at, depth + 1);
      }
    }
    return result;
  };
  return copy(root, "", 0);
}

/** Keywords whose values have the wrong shape, and references that lead nowhere. */
function checkSchema(root: JsonSchema, problems: SchemaProblem[]): void {
  const references = openReferences(root);
  let left = LIMITS.schemas;
  const visit = (given: JsonSchema, pointer: string, around: string): void => {
    left -= 1;
    if (left === 0) {
      const message = `the schema has more than ${LIMITS.schemas} subschemas`;
      problems.push({ pointer: "", keyword: "", message });
    }
    if (left <= 0 || problems.length >= MAX_PROBLEMS) return;
    const base = baseWithin(given, pointer, around);
    const node = modernNode(given);
    for (const name of Object.keys(node)) {
      const entry = VOCABULARY.get(name);
      // A malformed annotation hurts no one: lowering omits it.
      if (entry === undefined || entry.standing === "note" || entry.standing === "stripped")
        continue;
      const at = childPointer(pointer, name);
      if (!entry.accepts(node[name])) {
        const message = `${name} must be ${entry.expected}, not ${describe(node[name])}`;
        problems.push({ pointer: at, keyword: name, message });
      } else if (name === "$ref" && !references.locate(node.$ref as string, base)) {
        const message = `${quote(node.$ref)} is not a place in this schema, and nothing is fetched`;
        problems.push({ pointer: at, keyword: name, message });
      }
    }
    for (const child of childSchemas(given, pointer)) {
      if (typeof child.node !== "boolean") visit(child.node, child.pointer, base);
    }
  };
  visit(root, "", "");
}

/**
 * Libraries emit the regex behind a named format next to it (`format: "duration"`), and some of those
 * need lookaheads. The library's own validation enforces them, and the format's name tells the model,
 * so such a pattern is omitted. An author's own pattern has no format beside it and stays.
 */
const keepsEmitted: Keeps = (record, key) =>
  key !== "pattern" ||
  typeof record.pattern !== "string" ||
  typeof record.format !== "string" ||
  createRegex(record.pattern).ok;

function refuseSchema(message: string): ReadSchema {
  return { ok: false, problems: [{ pointer: "", keyword: "", message }] };
}

function describe(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (typeof value === "symbol" || typeof value === "bigint") return `a ${typeof value}`;
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (isPlainRecord(value)) return "an object";
  if (typeof value !== "object" || value === null) return quote(value);
  return `an instance of ${value.constructor?.name ?? "a class"}`;
}

function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

function readMessage(error: unknown): string {
  const thrown = (error as { message?: unknown } | null | undefined)?.message ?? error;
  const message = typeof thrown === "string" ? thrown : "something that is not an error was thrown";
  return message.length > 300 ? `${message.slice(0, 297)}…` : message;
}
