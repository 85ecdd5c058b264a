// JSON as types, and the few questions about a value's kind that every file of this module asks.
// Realm-independent on purpose: a value may come from another VM context than this code.

export type JsonPrimitive = string | number | boolean | null;
export type JsonValue = JsonPrimitive | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** `Value` where all of it is data: a function or a class instance with methods in it does not compile. */
export type JsonLike<Value> = Value extends JsonValue | undefined
  ? Value
  : Value extends (...given: never[]) => unknown
    ? never
    : Value extends object
      ? { [Key in keyof Value]: JsonLike<Value[Key]> }
      : never;

/** A schema as data: JSON Schema draft 2020-12, or an older draft until it is lowered. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Wherever a schema is, `true` (anything) or `false` (nothing) may be too. */
export type SchemaNode = JsonSchema | boolean;

export type JsonType = "object" | "string" | "number" | "integer" | "boolean" | "array" | "null";

/** An object that is neither null nor a list. */
export function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The record, or an empty one where it is none. */
export function asRecord(value: unknown): { readonly [key: string]: unknown } {
  return isRecord(value) ? value : {};
}

/** A typed record as JSON, which it is: only its interface lacks the index signature. */
export function asJson<Value extends object>(record: Value & JsonLike<Value>): JsonObject {
  // The type of the parameter has checked that all of it is JSON.
  return record as unknown as JsonObject;
}

/** A record, where what is looked at came from JSON. */
export function isJsonObject(value: unknown): value is JsonObject {
  return isRecord(value);
}

export function isSchemaNode(value: unknown): value is SchemaNode {
  return typeof value === "boolean" || isRecord(value);
}

/** A record whose prototype is no one's class: what a JSON parser or a literal makes. */
export function isPlainRecord(value: unknown): value is { readonly [key: string]: unknown } {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Without the properties that are undefined: for spreads, and where keys are counted. The same object where there is none. */
export function omitUndefined<Value extends object>(value: Value): OmitUndefined<Value> {
  let given: object = value;
  if (Object.values(value).includes(undefined)) {
    const kept: Record<string, unknown> = {};
    for (const [key, held] of Object.entries(value)) if (held !== undefined) kept[key] = held;
    given = kept;
  }
  return given as OmitUndefined<Value>;
}

/** What may be undefined may be absent. */
export type OmitUndefined<Value> = Value extends object
  ? { [Key in keyof Value as undefined extends Value[Key] ? never : Key]: Value[Key] } & {
      [Key in keyof Value as undefined extends Value[Key] ? Key : never]?: Exclude<
        Value[Key],
        undefined
      >;
    }
  : never;

/** The JSON Schema type of a JSON value; numbers without a fraction are integers. */
export function typeOfJson(value: unknown): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "boolean";
  return "object";
}

/** As JSON Schema counts the length of a string: in code points. */
export function countCharacters(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; count += 1) {
    at += (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
  }
  return count;
}

/** How much work is still allowed; below zero the work is given up. */
export type Budget = { left: number };

/**
 * Whether two values are the same JSON; the order of keys says nothing. False where one of them is no plain data, or
 * the budget is used up.
 */
export function sameJson(a: unknown, b: unknown, budget: Budget = { left: Infinity }): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  budget.left -= 1;
  if (budget.left < 0) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => sameJson(item, b[index], budget));
  }
  if (!isPlainRecord(a) || !isPlainRecord(b) || typeof a.toJSON === "function") return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key], budget));
}

/** A JSON pointer one step further. */
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
