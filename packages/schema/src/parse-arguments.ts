// The arguments of a call, from the text a model wrote (or a value someone parsed) to a plain JSON
// object within bounds (SCHEMA-8). What is wrong is said so that the next try can be right.

import { isPlainRecord, isRecord, type JsonObject, type JsonValue } from "./json.ts";
import { utf8Length } from "./text.ts";

export type ArgumentLimits = { maxBytes: number; maxDepth: number };

export const DEFAULT_ARGUMENT_LIMITS: ArgumentLimits = Object.freeze({
  maxBytes: 1024 * 1024,
  maxDepth: 64,
});

export type ParsedArguments =
  | { ok: true; value: JsonObject }
  | {
      ok: false;
      code:
        | "arguments_not_json"
        | "arguments_not_object"
        | "arguments_too_large"
        | "arguments_too_deep";
      message: string;
    };

type Refusal = Extract<ParsedArguments, { ok: false }>;

/**
 * A string is JSON text; anything else is taken as already parsed and copied, so that no one holds on
 * to what was checked. The key `__proto__` is refused everywhere: no later copy of the arguments, ours
 * or a handler's, can then change a prototype by accident.
 */
export function parseArguments(
  raw: unknown,
  limits: ArgumentLimits = DEFAULT_ARGUMENT_LIMITS,
): ParsedArguments {
  return typeof raw === "string" ? parseText(raw, limits) : copyArguments(raw, limits);
}

function parseText(text: string, limits: ArgumentLimits): ParsedArguments {
  if (exceedsBytes(text, limits.maxBytes)) return tooLarge(limits);
  if (nestsDeeper(text, limits.maxDepth)) return tooDeep(limits);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refuseArguments("arguments_not_json", syntaxMessage(text, error));
  }
  if (!isRecord(value)) return notObject(value);
  // The name may be written with escapes, so those are looked into as well.
  if (text.includes("__proto__") || text.includes("\\u00")) {
    const at = findProtoKey(value);
    if (at !== undefined) return forbiddenKey(at);
  }
  return { ok: true, value: value as JsonObject };
}

/** UTF-8 bytes, counted only when the length does not already decide. */
function exceedsBytes(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true;
  if (text.length * 3 <= maxBytes) return false;
  return utf8Length(text) > maxBytes;
}

/** Whether the brackets of a JSON text nest deeper than this: parsers, copies and checks of values are recursive. */
export function nestsDeeper(text: string, levels: number): boolean {
  return mayExceedDepth(text, levels) && textDepth(text) > levels;
}

/** Only a text with more opening brackets than allowed levels can be too deep. */
function mayExceedDepth(text: string, maxDepth: number): boolean {
  if (text.length <= maxDepth * 2) return false;
  let opened = 0;
  for (const bracket of ["{", "["]) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      opened += 1;
      if (opened > maxDepth) return true;
    }
  }
  return false;
}

/** Before parsing: some engines parse recursively, and ten thousand levels would end their stack. */
function textDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (inString) {
      if (unit === 0x5c) at += 1;
      else if (unit === 0x22) inString = false;
    } else if (unit === 0x22) inString = true;
    else if (unit === 0x7b || unit === 0x5b) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (unit === 0x7d || unit === 0x5d) depth -= 1;
  }
  return deepest;
}

/** The path of an object with that key; the depth is the caller's to choose, so no recursion. */
function findProtoKey(root: object): string | undefined {
  const waiting: { value: object; path: string }[] = [{ value: root, path: "" }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, path } = next;
    for (const [key, inner] of Object.entries(value as Record<string, unknown>)) {
      if (key === "__proto__") return path;
      if (typeof inner === "object" && inner !== null) {
        waiting.push({ value: inner, path: step(value, path, key) });
      }
    }
  }
  return undefined;
}

function copyArguments(raw: unknown, limits: ArgumentLimits): ParsedArguments {
  if (!isRecord(raw)) return notObject(raw);
  let left = limits.maxBytes;
  let refusal: Refusal | undefined;
  const open: object[] = [];
  const refuse = (reason: Refusal): null => {
    refusal ??= reason;
    return null;
  };

  const copy = (value: unknown, path: string): JsonValue => {
    if (refusal !== undefined) return null;
    if (typeof value === "string") {
      left -= value.length > left ? value.length : utf8Length(value) + 3;
      return left < 0 ? refuse(tooLarge(limits)) : value;
    }
    left -= 2;
    if (left < 0) return refuse(tooLarge(limits));
    if (value === null || typeof value === "boolean") return value;
    if (typeof value === "number") {
      return Number.isFinite(value) ? value : refuse(notJson(path, String(value)));
    }
    if (typeof value !== "object") return refuse(notJson(path, describeKind(value)));
    if (open.includes(value)) return refuse(notJson(path, "a value that contains itself"));
    if (open.length >= limits.maxDepth) return refuse(tooDeep(limits));
    if (!Array.isArray(value) && !isPlainRecord(value)) {
      return refuse(notJson(path, describeKind(value)));
    }
    open.push(value);
    const result = Array.isArray(value) ? copyItems(value, path) : copyFields(value, path);
    open.pop();
    return result;
  };

  const copyItems = (items: readonly unknown[], path: string): JsonValue[] => {
    const result: JsonValue[] = [];
    for (const [index, item] of items.entries()) {
      if (refusal !== undefined) break;
      result.push(copy(item, `${path}[${index}]`));
    }
    return result;
  };

  const copyFields = (fields: { readonly [key: string]: unknown }, path: string): JsonObject => {
    const result: JsonObject = {};
    for (const key of Object.keys(fields)) {
      if (refusal !== undefined) break;
      if (key === "__proto__") refuse(forbiddenKey(path));
      left -= key.length + 3;
      result[key] = copy(fields[key], step(fields, path, key));
    }
    return result;
  };

  try {
    const value = copy(raw, "");
    return refusal ?? { ok: true, value: value as JsonObject };
  } catch (error) {
    // With a bound of many thousand levels the stack ends first.
    if (error instanceof RangeError) return tooDeep(limits);
    // A getter or a proxy of the caller threw.
    return notJson("", "a value that cannot be read");
  }
}

function step(container: object, path: string, key: string): string {
  if (Array.isArray(container)) return `${path}[${key}]`;
  return path === "" ? key : `${path}.${key}`;
}

function refuseArguments(code: Refusal["code"], message: string): Refusal {
  return { ok: false, code, message };
}

function notObject(value: unknown): Refusal {
  const isEncodedTwice = typeof value === "string" && value.trimStart().startsWith("{");
  const hint = isEncodedTwice ? " (the object was encoded twice: send it as it is)" : "";
  const message = `The arguments must be a JSON object, not ${describeKind(value)}${hint}.`;
  return refuseArguments("arguments_not_object", message);
}

function notJson(path: string, what: string): Refusal {
  return refuseArguments(
    "arguments_not_json",
    `The arguments are not JSON: ${what}${placeText(path)}.`,
  );
}

function forbiddenKey(path: string): Refusal {
  const key = `the key "__proto__"${placeText(path)}`;
  return refuseArguments(
    "arguments_not_json",
    `The arguments contain ${key}, which is not accepted.`,
  );
}

function placeText(path: string): string {
  return path === "" ? "" : ` at ${path.slice(0, 200)}`;
}

function tooLarge({ maxBytes }: ArgumentLimits): Refusal {
  const message = `The arguments are larger than ${maxBytes} bytes. Send less at once.`;
  return refuseArguments("arguments_too_large", message);
}

function tooDeep({ maxDepth }: ArgumentLimits): Refusal {
  const message = `The arguments are nested deeper than ${maxDepth} levels.`;
  return refuseArguments("arguments_too_deep", message);
}

function describeKind(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "undefined";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") {
    return isPlainRecord(value)
      ? "an object"
      : `an instance of ${value.constructor?.name ?? "a class"}`;
  }
  return `a ${typeof value}`;
}

/** The engine's words differ by version; the place, when it names one, is shown with its surroundings. */
function syntaxMessage(text: string, error: unknown): string {
  if (text.trim() === "") {
    return "The arguments are empty. Send a JSON object; {} when there is nothing to say.";
  }
  const said = error instanceof Error ? error.message : "";
  const named = /at position (\d+)/.exec(said);
  const position = named ? Number(named[1]) : text.length;
  const before = text.slice(Math.max(0, position - 30), position).replace(/\s+/g, " ");
  const after = text.slice(position, position + 20).replace(/\s+/g, " ");
  const where =
    position >= text.length
      ? `they end too early, after: ${before}`
      : `at character ${position}: ${before} >>> ${after}`;
  return `The arguments are not valid JSON: ${where}`;
}
