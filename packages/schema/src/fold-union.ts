// Alternatives (anyOf, oneOf) written as one schema without a union, when that says exactly the same:
// constants into one enum, null into the type list, scalars of different types side by side.

import { describeSchema } from "./describe-schema.ts";
import { FORMATS } from "./formats.ts";
import {
  omitUndefined,
  sameJson,
  typeOfJson,
  type Budget,
  type JsonSchema,
  type JsonType,
  type SchemaNode,
} from "./json.ts";
import { createRegex } from "./regex.ts";
import {
  acceptsType,
  asType,
  distinctValues,
  tidySchema,
  listTypes,
  type MutableSchema,
} from "./tidy-schema.ts";
import { VOCABULARY } from "./vocabulary.ts";

type Mode = "anyOf" | "oneOf";

/** The branches are lowered already. Undefined: only a union can say this. */
export function foldUnion(
  branches: readonly SchemaNode[],
  mode: Mode,
  budget: Budget,
): SchemaNode | undefined {
  const all = branches.filter((branch) => branch !== false).map(readBranch);
  const [only] = all;
  if (only === undefined) return false;
  if (all.length === 1) return only.node;
  const folded = fold(all, mode, budget);
  // Constants that none of their own types takes: no value is left at all.
  if (Array.isArray(folded?.enum) && folded.enum.length === 0) return false;
  return folded && tidySchema({ ...folded, ...collectNotes(all, budget) }, budget);
}

type Branch = {
  node: JsonSchema;
  types: JsonType[] | undefined;
  values: unknown[] | undefined;
  /** What constrains it beyond `type` and `enum`. */
  rest: JsonSchema;
  hasRest: boolean;
  /** All of that, without notes. */
  constraints: JsonSchema;
};

function readBranch(given: SchemaNode): Branch {
  const node = typeof given === "boolean" ? {} : given;
  const rest: MutableSchema = {};
  for (const name of Object.keys(node)) {
    const isNote = VOCABULARY.get(name)?.standing === "note";
    if (name !== "type" && name !== "enum" && !isNote) rest[name] = node[name];
  }
  const types = listTypes(node);
  const values = Array.isArray(node.enum) ? node.enum : undefined;
  const constraints = { ...omitUndefined({ type: types && asType(types), enum: values }), ...rest };
  return { node, types, values, rest, hasRest: Object.keys(rest).length > 0, constraints };
}

function fold(given: readonly Branch[], mode: Mode, budget: Budget): JsonSchema | undefined {
  const branches = mode === "anyOf" ? dropRepeats(given, budget) : given;
  const [first] = branches;
  if (mode === "anyOf" && branches.some(takesAll)) return {};
  if (branches.length === 1) return first?.constraints;
  const finite = foldValues(branches, mode, budget);
  if (finite !== undefined) return finite;

  const others = branches.filter(({ types, values, hasRest }) => {
    return types?.join() !== "null" || hasRest || values !== undefined;
  });
  const nulls = branches.length - others.length;
  if (nulls === 0) return foldScalars(branches, mode) ?? foldTexts(branches, mode, budget);
  if (nulls > 1 && mode === "oneOf") return undefined;
  const rest = others.length === 1 ? others[0]?.constraints : fold(others, mode, budget);
  return rest && withNull(rest, mode);
}

/** A branch that says what another says already. Schemas inside are not compared, only seen to be the same. */
function dropRepeats(branches: readonly Branch[], budget: Budget): Branch[] {
  const kept: Branch[] = [];
  for (const { node, constraints, ...branch } of branches) {
    const isFlat = Object.keys(constraints).every((name) => {
      return VOCABULARY.get(name)?.holds === "value";
    });
    const isRepeat = kept.some(
      (other) =>
        other.node === node || (isFlat && sameJson(other.constraints, constraints, budget)),
    );
    if (!isRepeat) kept.push({ node, constraints, ...branch });
  }
  return kept;
}

function takesAll({ types, values, hasRest }: Branch): boolean {
  return types === undefined && values === undefined && !hasRest;
}

/** Constants, and the two types that have so few values that they can be listed. */
function foldValues(
  branches: readonly Branch[],
  mode: Mode,
  budget: Budget,
): JsonSchema | undefined {
  if (!branches.some(({ values }) => values !== undefined)) return undefined;
  const values: unknown[] = [];
  for (const branch of branches) {
    const listed = branch.hasRest ? undefined : listValues(branch);
    if (listed === undefined) return undefined;
    values.push(...listed);
  }
  const distinct = distinctValues(values, budget);
  if (distinct.length < values.length && mode === "oneOf") return undefined;
  return { type: asType(distinct.map(typeOfJson)), enum: distinct };
}

function listValues({ types, values }: Branch): unknown[] | undefined {
  if (values !== undefined) {
    return values.filter((value) => !types || acceptsType(types, typeOfJson(value)));
  }
  if (!types?.every((type) => type === "boolean" || type === "null")) return undefined;
  return types.flatMap((type): unknown[] => (type === "null" ? [null] : [true, false]));
}

function withNull(node: JsonSchema, mode: Mode): JsonSchema | undefined {
  const { types, values, rest } = readBranch(node);
  // Keywords about strings, numbers, arrays and objects let null pass; the others may not.
  if (Object.keys(rest).some((name) => VOCABULARY.get(name)?.concerns === "any")) return undefined;
  const takesNull = (types?.includes("null") ?? true) && (values?.includes(null) ?? true);
  if (takesNull) return mode === "anyOf" ? node : undefined;
  const type = types && asType([...types, "null"]);
  return { ...node, ...omitUndefined({ type, enum: values && [...values, null] }) };
}

const SCALARS: ReadonlySet<JsonType> = new Set(["string", "number", "integer", "boolean", "null"]);

/** Each keyword speaks about one type only, so schemas of different types can share a node. */
function foldScalars(given: readonly Branch[], mode: Mode): JsonSchema | undefined {
  const branches = mode === "anyOf" ? given.filter((one) => !isAbsorbed(one, given)) : given;
  const result: MutableSchema = {};
  const types: JsonType[] = [];
  for (const branch of branches) {
    if (branch.types === undefined || branch.values !== undefined) return undefined;
    for (const type of branch.types) {
      const isTaken = acceptsType(types, type) || (type === "number" && types.includes("integer"));
      if (!SCALARS.has(type) || isTaken) return undefined;
    }
    types.push(...branch.types);
    for (const [name, value] of Object.entries(branch.rest)) {
      if (!staysWithin(name, value, branch.types) || name in result) return undefined;
      result[name] = value;
    }
  }
  return { type: asType(types), ...result };
}

/** "any string" next to "these strings" takes any string. */
function isAbsorbed(branch: Branch, branches: readonly Branch[]): boolean {
  return branches.some(
    ({ types, values, hasRest, node }) =>
      node !== branch.node &&
      !hasRest &&
      values === undefined &&
      types !== undefined &&
      branch.types?.every((type) => acceptsType(types, type)) === true,
  );
}

function staysWithin(name: string, value: unknown, types: readonly JsonType[]): boolean {
  if (name === "format" && !types.includes("string")) {
    // "int32" and the like: said to the model, not enforced, harmless beside a string.
    return typeof value === "string" && !Object.hasOwn(FORMATS, value);
  }
  const concerns = VOCABULARY.get(name)?.concerns;
  if (concerns === "number") return types.includes("number") || types.includes("integer");
  return concerns === "string" && types.includes("string");
}

/** Strings described by patterns and constants: one pattern with alternatives. */
function foldTexts(
  branches: readonly Branch[],
  mode: Mode,
  budget: Budget,
): JsonSchema | undefined {
  if (mode === "oneOf") return undefined;
  const choices: string[] = [];
  const formats = new Set<unknown>();
  for (const { types, values, rest } of branches) {
    const { pattern, format, ...others } = rest;
    if (types?.join() !== "string" || Object.keys(others).length > 0) return undefined;
    formats.add(format);
    if (typeof pattern === "string" && values === undefined) choices.push(`(?:${pattern})`);
    else if (values !== undefined && pattern === undefined) {
      const texts = values.filter((value) => typeof value === "string");
      const escaped = texts.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
      choices.push(`^(?:${escaped.join("|")})$`);
    } else return undefined;
  }
  const pattern = choices.join("|");
  const [format] = formats;
  budget.left -= 10;
  if (formats.size > 1 || !createRegex(pattern).ok) return undefined;
  return omitUndefined({ type: "string", pattern, format });
}

/**
 * What the branches said about themselves. One description is kept as it is; several are kept with
 * the choice each belongs to.
 */
function collectNotes(branches: readonly Branch[], budget: Budget): JsonSchema {
  const notes: MutableSchema = {};
  const said = branches.flatMap(({ node, values }) => {
    const text = node.description ?? (values && node.title);
    return typeof text === "string" && text !== "" ? [{ node, text }] : [];
  });
  const texts = new Set(said.map(({ text }) => text));
  if (texts.size === 1) notes.description = said[0]?.text;
  else if (texts.size > 1) {
    notes.description = said.map(({ node, text }) => `${describeSchema(node)}: ${text}`).join("\n");
  }
  const nodes = branches.map(({ node }) => node);
  const withDefault = nodes.find((node) => "default" in node);
  if (withDefault) notes.default = withDefault.default;
  const examples = nodes.flatMap((node): unknown[] =>
    Array.isArray(node.examples) ? node.examples : [],
  );
  // The constants an open string absorbed are still worth knowing.
  const isListed = branches.every((branch) => listValues(branch) !== undefined);
  if (!isListed) examples.push(...branches.flatMap(({ values }) => values ?? []));
  if (examples.length > 0) notes.examples = distinctValues(examples, budget);
  if (nodes.every((node) => node.deprecated === true)) notes.deprecated = true;
  return notes;
}
