// The fields of a form that a tool wants filled in (MCP-5): what each takes, and whether what was typed is that. The
// schema and all words in it come from a server; nothing of them is more than text here.

import { compileSchema, readSchema, type JsonObject, type JsonValue } from "@soong/core";
import { isJsonObject } from "@soong/schema";

export interface FormField {
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly required: boolean;
  /** Taken for an empty line. */
  readonly default?: JsonValue;
  readonly kind: FieldKind;
  /** What may be chosen. */
  readonly options: readonly FieldOption[];
  readonly schema: JsonObject;
}

export type FieldKind =
  | "text"
  | "number"
  | "whole number"
  | "yes or no"
  | "one of these"
  | "some of these"
  | "JSON";

export interface FieldOption {
  readonly value: string;
  readonly title: string;
}

export type ReadField =
  /** Undefined: omitted. */
  | { readonly ok: true; readonly value: JsonValue | undefined }
  | { readonly ok: false; readonly message: string };

export function formFields(schema: JsonObject): readonly FormField[] {
  const { properties, required } = schema;
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(isJsonObject(properties) ? properties : {}).map(([name, given]) => {
    const field = isJsonObject(given) ? given : {};
    const options = listOptions(field);
    return {
      name,
      title: readText(field["title"]) ?? name,
      description: readText(field["description"]),
      required: needed.includes(name),
      default: field["default"],
      kind: fieldKind(field, options),
      options,
      schema: field,
    };
  });
}

/** An empty line is the default, or nothing where nothing is needed. */
export function readField(field: FormField, typed: string): ReadField {
  const text = typed.trim();
  if (text === "") {
    if (field.default !== undefined) return { ok: true, value: field.default };
    return field.required
      ? { ok: false, message: "This one is needed; Ctrl-C gives the form up." }
      : { ok: true, value: undefined };
  }
  const read = parseValue(field, text);
  return read.ok && read.value !== undefined ? checkValue(field, read.value) : read;
}

function parseValue(field: FormField, text: string): ReadField {
  switch (field.kind) {
    case "text":
      return { ok: true, value: text };
    case "number":
    case "whole number": {
      const value = Number(text);
      const fits = field.kind === "number" ? Number.isFinite(value) : Number.isSafeInteger(value);
      return fits ? { ok: true, value } : { ok: false, message: `This takes a ${field.kind}.` };
    }
    case "yes or no": {
      const value = YES_OR_NO.get(text.toLowerCase());
      return value === undefined
        ? { ok: false, message: "This takes y or n." }
        : { ok: true, value };
    }
    case "one of these": {
      const value = parseChoice(field, text);
      return value === undefined ? refuseChoice(text) : { ok: true, value };
    }
    case "some of these": {
      const words = text.split(",").map((word) => word.trim());
      const values = words.map((word) => parseChoice(field, word));
      const wrong = values.indexOf(undefined);
      return wrong === -1
        ? { ok: true, value: [...new Set(values as string[])] }
        : refuseChoice(words[wrong] ?? "");
    }
    case "JSON":
      try {
        return { ok: true, value: JSON.parse(text) as JsonValue };
      } catch {
        return { ok: false, message: 'This takes JSON, such as {"a": 1} or ["b"].' };
      }
  }
}

/** By its number, its value or its title. */
function parseChoice({ options }: FormField, text: string): string | undefined {
  const exact = options.find(({ value, title }) => value === text || title === text);
  if (exact !== undefined) return exact.value;
  return /^\d+$/.test(text) ? options[Number(text) - 1]?.value : undefined;
}

function refuseChoice(text: string): ReadField {
  return { ok: false, message: `${text} is none of these; type a number of the list.` };
}

/** What the server says of lengths, limits and forms, in the words of the check. */
function checkValue({ schema }: FormField, value: JsonValue): ReadField {
  const read = readSchema(withoutWords(schema));
  const result = read.ok ? compileSchema(read.original)(value) : { ok: true as const };
  if (result.ok) return { ok: true, value };
  const words = result.issues.slice(0, 3).map(({ message }) => message);
  return { ok: false, message: `That does not fit: ${words.join("; ")}.` };
}

/** Those are for users, and some of them no schema knows. */
function withoutWords(schema: JsonObject): JsonObject {
  const { title: _t, description: _d, default: _v, enumNames: _n, ...rules } = schema;
  return rules;
}

function fieldKind(field: JsonObject, options: readonly FieldOption[]): FieldKind {
  const { type } = field;
  if (options.length > 0) return type === "array" ? "some of these" : "one of these";
  return typeof type === "string" ? (KINDS.get(type) ?? "JSON") : "JSON";
}

const KINDS: ReadonlyMap<string, FieldKind> = new Map([
  ["string", "text"],
  ["number", "number"],
  ["integer", "whole number"],
  ["boolean", "yes or no"],
]);

/** Bare, with names beside them, or each with a title; of a list, what may be in it. */
function listOptions(field: JsonObject): readonly FieldOption[] {
  const { type, items } = field;
  const from = type === "array" && isJsonObject(items) ? items : field;
  if (Array.isArray(from["enum"])) {
    const titles: readonly JsonValue[] = Array.isArray(from["enumNames"]) ? from["enumNames"] : [];
    return from["enum"].flatMap((value, at) =>
      typeof value === "string" ? [{ value, title: readText(titles[at]) ?? value }] : [],
    );
  }
  const titled = from["oneOf"] ?? from["anyOf"];
  return (Array.isArray(titled) ? titled : []).flatMap((one) => {
    if (!isJsonObject(one) || typeof one["const"] !== "string") return [];
    return [{ value: one["const"], title: readText(one["title"]) ?? one["const"] }];
  });
}

const YES_OR_NO: ReadonlyMap<string, boolean> = new Map([
  ["y", true],
  ["yes", true],
  ["true", true],
  ["n", false],
  ["no", false],
  ["false", false],
]);

function readText(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}
