// Alternatives (anyOf, oneOf) written as one schema without a union, when that says exactly the same:
// constants into one enum, null into the type list, scalars of different types side by side.

import { describeSchema } from "./describe-schema.ts";
import { FORMATS } from "./formats.ts";
import {
  type Budget,
  type JsonSchema,
  type JsonType,
  type SchemaNode,
  omitUndefined,
  sameJson,
  typeOfJson,
} from "./json.ts";
import { createRegex } from "./regex.ts";
import { acceptsType, asType, distinctValues, tidySchema, typesOf } from "./tidy-schema.ts";
import { VOCABULARY } from "./vocabulary.ts";

type Mode = "anyOf" | "oneOf";

/** The branches are lowered already. Undefined: only a union can say this. */
export function foldUnion(
  branches: readonly SchemaNode[],
  mode: Mode,
  budget: Budget,
): SchemaNode | undefined {
  const possible = branches.filter((branch) => branch !== false);
  if (possible.length === 0) return false;
  const all = possible.map((node) => toBranch(node === true ? {} : node));
  const [only] = all;
  if (all.length === 1 && only !== undefined) return only.node;
  const folded = fold(all, mode, budget);
  // Constants that none of their own types takes: no value is left at all.
  if (Array.isArray(folded?.enum) && folded.enum.length === 0) return false;
  return folded && tidySchema({ ...folded, ...notesOf(all, budget) }, budget);
}

type Branch = {
  node: JsonSchema;
  types: JsonType[] | undefined;
  values: unknown[] | undefined;
  /** What constrains it beyond `type` and `enum`. */
  rest: { readonly [keyword: string]: unknown };
};

function toBranch(node: JsonSchema): Branch {
  const rest: { [keyword: string]: unknown } = {};
  for (const name of Object.keys(node)) {
    const standing = VOCABULARY.get(name)?.standing;
    if (name !== "type" && name !== "enum" && standing !== "note") rest[name] = node[name];
  }
  const values = Array.isArray(node.enum) ? node.enum : undefined;
  return { node, types: typesOf(node), values, rest };
}

function fold(given: readonly Branch[], mode: Mode, budget: Budget): JsonSchema | undefined {
  const branches = mode === "anyOf" ? withoutRepeats(given, budget) : given;
  if (mode === "anyOf" && branches.some(takesEverything)) return {};
  if (branches.length === 1) return constraintsOf(branches[0] as Branch);
  const finite = foldValues(branches, mode, budget);
  if (finite !== undefined) return finite;

  const isNull = (branch: Branch): boolean =>
    asList(branch.types) === "null" && isBare(branch) && branch.values === undefined;
  const others = branches.filter((branch) => !isNull(branch));
  const nulls = branches.length - others.length;
  if (nulls === 0) return foldScalars(branches, mode) ?? foldTexts(branches, mode, budget);
  if (nulls > 1 && mode === "oneOf") return undefined;
  const rest =
    others.length === 1 ? constraintsOf(others[0] as Branch) : fold(others, mode, budget);
  return rest && withNull(rest, mode);
}

/** A branch that says what another says already. Schemas inside are not compared, only seen to be the same. */
function withoutRepeats(branches: readonly Branch[], budget: Budget): Branch[] {
  const kept: Branch[] = [];
  for (const branch of branches) {
    const constraints = constraintsOf(branch);
    const flat = Object.keys(constraints).every((name) => VOCABULARY.get(name)?.holds === "value");
    const isRepeat = kept.some(
      (other) =>
        other.node === branch.node || (flat && sameJson(constraintsOf(other), constraints, budget)),
    );
    if (!isRepeat) kept.push(branch);
  }
  return kept;
}

function takesEverything(branch: Branch): boolean {
  return branch.types === undefined && branch.values === undefined && isBare(branch);
}

/** Constants, and the two types that have so few values that they can be listed. */
function foldValues(
  branches: readonly Branch[],
  mode: Mode,
  budget: Budget,
): JsonSchema | undefined {
  if (!branches.some((branch) => branch.values !== undefined)) return undefined;
  const lists = branches.map((branch) => (isBare(branch) ? listed(branch) : undefined));
  if (lists.some((list) => list === undefined)) return undefined;
  const values = lists.flatMap((list) => list ?? []);
  const distinct = distinctValues(values, budget);
  if (distinct.length < values.length && mode === "oneOf") return undefined;
  return { type: asType(distinct.map(typeOfJson)), enum: distinct };
}

function listed({ types, values }: Branch): unknown[] | undefined {
  if (values !== undefined) {
    return values.filter((value) => !types || acceptsType(types, typeOfJson(value)));
  }
  if (!types?.every((type) => type === "boolean" || type === "null")) return undefined;
  return types.flatMap((type): unknown[] => (type === "null" ? [null] : [true, false]));
}

function withNull(node: JsonSchema, mode: Mode): JsonSchema | undefined {
  const { types, values, rest } = toBranch(node);
  // Keywords about strings, numbers, arrays and objects let null pass; the others may not.
  const isIndifferent = Object.keys(rest).every((name) => VOCABULARY.get(name)?.concerns !== "any");
  if (!isIndifferent) return undefined;
  const takesNull = (types?.includes("null") ?? true) && (values?.includes(null) ?? true);
  if (takesNull) return mode === "anyOf" ? node : undefined;
  const result: { [keyword: string]: unknown } = { ...node };
  if (types !== undefined) result.type = asType([...types, "null"]);
  if (values !== undefined) result.enum = [...values, null];
  return result;
}

const SCALARS: ReadonlySet<JsonType> = new Set<JsonType>([
  "string",
  "number",
  "integer",
  "boolean",
  "null",
]);

/** Each keyword speaks about one type only, so schemas of different types can share a node. */
function foldScalars(given: readonly Branch[], mode: Mode): JsonSchema | undefined {
  const branches = mode === "anyOf" ? withoutAbsorbed(given) : given;
  const result: { [keyword: string]: unknown } = {};
  const types: JsonType[] = [];
  for (const branch of branches) {
    if (branch.types === undefined || branch.values !== undefined) return undefined;
    for (const type of branch.types) {
      if (!SCALARS.has(type) || overlaps(types, type)) return undefined;
    }
    types.push(...branch.types);
    for (const [name, value] of Object.entries(branch.rest)) {
      if (!staysWithin(name, value, branch.types) || name in result) return undefined;
      result[name] = value;
    }
  }
  return { type: asType(types), ...result };
}

function overlaps(types: readonly JsonType[], type: JsonType): boolean {
  return acceptsType(types, type) || (type === "number" && types.includes("integer"));
}

/** "any string" next to "these strings" takes any string. */
function withoutAbsorbed(branches: readonly Branch[]): Branch[] {
  return branches.filter(
    (branch) =>
      !branches.some(
        (other) =>
          other !== branch &&
          isBare(other) &&
          other.values === undefined &&
          other.types !== undefined &&
          branch.types !== undefined &&
          branch.types.every((type) => acceptsType(other.types ?? [], type)),
      ),
  );
}

function staysWithin(name: string, value: unknown, types: readonly JsonType[]): boolean {
  if (name === "format" && !types.includes("string")) {
    // "int32" and the like: said to the model, enforced by nobody, harmless beside a string.
    return typeof value === "string" && !Object.hasOwn(FORMATS, value);
  }
  const concerns = VOCABULARY.get(name)?.concerns;
  if (concerns === "number") return types.includes("number") || types.includes("integer");
  return concerns === "string" && types.includes("string");
}

/** Strings told by patterns and constants: one pattern with alternatives. */
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
    if (asList(types) !== "string" || Object.keys(others).length > 0) return undefined;
    formats.add(format);
    if (typeof pattern === "string" && values === undefined) choices.push(`(?:${pattern})`);
    else if (values !== undefined && pattern === undefined) {
      const texts = values.filter((value) => typeof value === "string");
      choices.push(`^(?:${texts.map(escapeText).join("|")})$`);
    } else return undefined;
  }
  const pattern = choices.join("|");
  const [format] = formats;
  budget.left -= 10;
  if (formats.size > 1 || !createRegex(pattern).ok) return undefined;
  return format === undefined ? { type: "string", pattern } : { type: "string", pattern, format };
}

function escapeText(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/**
 * What the branches said about themselves. One description stands for itself; several are kept with
 * the choice each belongs to.
 */
function notesOf(branches: readonly Branch[], budget: Budget): JsonSchema {
  const notes: { [keyword: string]: unknown } = {};
  const said = branches.flatMap((branch) => {
    const text = branch.node.description ?? (branch.values && branch.node.title);
    return typeof text === "string" && text !== "" ? [{ branch, text }] : [];
  });
  const texts = new Set(said.map(({ text }) => text));
  if (texts.size === 1) notes.description = said[0]?.text;
  else if (texts.size > 1) {
    notes.description = said
      .map(({ branch, text }) => `${describeSchema(branch.node)}: ${text}`)
      .join("\n");
  }
  const nodes = branches.map((branch) => branch.node);
  const withDefault = nodes.find((node) => "default" in node);
  if (withDefault) notes.default = withDefault.default;
  const examples = nodes.flatMap((node): unknown[] =>
    Array.isArray(node.examples) ? node.examples : [],
  );
  // The constants an open string absorbed are still worth knowing.
  const isAbsorbed = branches.some((branch) => branch.values) && !allListed(branches);
  if (isAbsorbed) examples.push(...branches.flatMap((branch) => branch.values ?? []));
  if (examples.length > 0) notes.examples = distinctValues(examples, budget);
  if (nodes.every((node) => node.deprecated === true)) notes.deprecated = true;
  return notes;
}

function allListed(branches: readonly Branch[]): boolean {
  return branches.every((branch) => listed(branch) !== undefined);
}

function constraintsOf({ types, values, rest }: Branch): JsonSchema {
  return {
    ...(types === undefined ? {} : { type: asType(types) }),
    ...omitUndefined({ enum: values }),
    ...rest,
  };
}

function isBare({ rest }: Branch): boolean {
  return Object.keys(rest).length === 0;
}

function asList(types: readonly JsonType[] | undefined): string | undefined {
  return types?.join(" ");
}

export function isUnionKeyword(name: string): name is Mode {
  return name === "anyOf" || name === "oneOf";
}
