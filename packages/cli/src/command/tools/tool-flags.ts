// Flags made from the schema of a tool: `--path a.txt --limit 3`, beside or instead of JSON. What they come to is checked
// by the tool's schema as ever; here only text becomes a value.

import { isJsonObject, nearestName, type JsonObject, type JsonValue } from "@soong/schema";
import { UsageError, visibleLine, type Output } from "../../output/index.ts";
import { follow, isOpenSchema, listParameters, renderParameters } from "./parameters.ts";

interface FlaggedTool {
  readonly name: string;
  readonly schema: JsonObject;
  /** Options of the command, for a slip in one of them. */
  readonly options: readonly string[];
}

/** `words`: flags and their values. */
export function readFlags(words: readonly string[], tool: FlaggedTool): JsonObject {
  const input: JsonObject = {};
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    const [, flag = "", given] = /^--([^=]+)(?:=([^]*))?$/.exec(word) ?? [];
    if (flag === "") throw new UsageError(describeStray(word, tool.name));
    const found = findParameter(flag, tool);
    const next = words[at + 1];
    const { value, isNextUsed } = readValue(flag, found, given, next);
    if (isNextUsed) at += 1;
    setValue(input, found.path, value, isList(found.schema));
  }
  return input;
}

/** The JSON and the flags as one input: a flag counts more. */
export function mergeInputs(base: JsonValue, flags: JsonObject): JsonValue {
  if (!isJsonObject(base)) {
    throw new UsageError("Flags go with an input that is a JSON object, and this is none.");
  }
  const merged: JsonObject = { ...base };
  for (const [name, value] of Object.entries(flags)) {
    const before = base[name];
    merged[name] = isJsonObject(before) && isJsonObject(value) ? mergeInputs(before, value) : value;
  }
  return merged;
}

interface FoundParameter {
  readonly path: readonly string[];
  readonly schema: JsonObject;
  /** `--no-x`. */
  readonly isOff: boolean;
}

function findParameter(flag: string, tool: FlaggedTool): FoundParameter {
  const found = findPath(flag, tool.schema);
  if (found !== undefined) return { ...found, isOff: false };
  const [, positive] = /^no-(.+)$/.exec(flag) ?? [];
  const off = positive === undefined ? undefined : findPath(positive, tool.schema);
  if (off !== undefined && listTypes(off.schema).includes("boolean"))
    return { ...off, isOff: true };
  if (isOpenSchema(tool.schema)) return { path: [flag], schema: {}, isOff: false };
  const names = listParameters(tool.schema).map(({ name }) => name);
  const nearest = nearestName(flag, [...names, ...tool.options]);
  const hint = nearest === undefined ? "" : ` Did you mean --${visibleLine(nearest)}?`;
  throw new UsageError(
    `${visibleLine(tool.name)} has no parameter --${visibleLine(flag)}.${hint} \`soong call ${visibleLine(tool.name)} --help\` lists them.`,
  );
}

/** `a.b` is `b` of `a`, unless a parameter is called so; `max-results` is also `max_results` and `maxResults`. */
function findPath(
  flag: string,
  schema: JsonObject,
): Pick<FoundParameter, "path" | "schema"> | undefined {
  const parameters = listParameters(schema);
  const plain = plainName(flag);
  const own =
    parameters.find(({ name }) => name === flag) ??
    parameters.find(({ name }) => plainName(name) === plain);
  if (own !== undefined) return { path: [own.name], schema: own.schema };
  const dot = flag.indexOf(".");
  if (dot === -1) return undefined;
  const above = findPath(flag.slice(0, dot), schema);
  if (above === undefined) return undefined;
  const below = flag.slice(dot + 1);
  const inner = { ...defsOf(schema), ...above.schema };
  const found = isOpenSchema(above.schema)
    ? { path: below.split("."), schema: {} }
    : findPath(below, inner);
  return found && { path: [...above.path, ...found.path], schema: found.schema };
}

/** What references below may name. */
function defsOf({ $defs, definitions }: JsonObject): JsonObject {
  return {
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
}

function plainName(name: string): string {
  return name.replaceAll(/[-_]/g, "").toLowerCase();
}

function readValue(
  flag: string,
  { schema, isOff }: FoundParameter,
  given: string | undefined,
  next: string | undefined,
): { value: JsonValue; isNextUsed: boolean } {
  if (isOff) return { value: false, isNextUsed: false };
  const types = listTypes(schema);
  const isSwitch = types.length === 1 && types[0] === "boolean";
  if (given === undefined && isSwitch) {
    const isNextUsed = next === "true" || next === "false";
    return { value: next !== "false", isNextUsed };
  }
  if (given === undefined && (next === undefined || next.startsWith("--"))) {
    throw new UsageError(
      `--${visibleLine(flag)} needs a value. One that begins with -- is given as --${visibleLine(flag)}=VALUE.`,
    );
  }
  const text = given ?? next ?? "";
  return { value: parseValue(flag, text, schema, types), isNextUsed: given === undefined };
}

function parseValue(
  flag: string,
  text: string,
  schema: JsonObject,
  types: readonly string[],
): JsonValue {
  if (types.includes("array") && !text.startsWith("[")) {
    const items = follow(schema["items"] ?? {}, schema);
    return types.includes("string") ? text : parseValue(flag, text, items, listTypes(items));
  }
  const isStructure =
    /^[[{]/.test(text) && types.some((type) => type === "array" || type === "object");
  if (isStructure || (types.includes("object") && !types.includes("string"))) {
    try {
      return JSON.parse(text) as JsonValue;
    } catch (error) {
      const why = error instanceof Error ? visibleLine(error.message) : "it cannot be parsed";
      throw new UsageError(`--${visibleLine(flag)} takes JSON, and this is none: ${why}.`);
    }
  }
  if (types.includes("string")) return text;
  // What is not one is left to the check, which says what is expected.
  const value = readJson(text);
  return value ?? text;
}

function readJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Of `--tag a --tag b` the second is added; of anything else the last counts. */
function setValue(
  input: JsonObject,
  [name = "", ...rest]: readonly string[],
  value: JsonValue,
  isItem: boolean,
): void {
  const before = Object.hasOwn(input, name) ? input[name] : undefined;
  let next: JsonValue;
  if (rest.length > 0) {
    const inner: JsonObject = isJsonObject(before) ? before : {};
    setValue(inner, rest, value, isItem);
    next = inner;
  } else if (isItem) {
    const items = Array.isArray(before) ? before : [];
    next = [...items, ...(Array.isArray(value) ? value : [value])];
  } else next = value;
  Object.defineProperty(input, name, {
    value: next,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

function isList(schema: JsonObject): boolean {
  const types = listTypes(schema);
  return types.includes("array") && !types.includes("string");
}

/** Also of the branches of a union, and of the values of an enum. */
function listTypes(schema: JsonObject): string[] {
  const { type, enum: choices, const: only } = schema;
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.filter((one) => typeof one === "string");
  const values = Array.isArray(choices) ? choices : only === undefined ? [] : [only];
  if (values.length > 0) return [...new Set(values.map((value) => typeof value))];
  const branches = [schema["anyOf"], schema["oneOf"]].flatMap((list) =>
    Array.isArray(list) ? list.filter(isJsonObject) : [],
  );
  return [...new Set(branches.flatMap(listTypes))];
}

function describeStray(word: string, tool: string): string {
  return `${visibleLine(word)} is no flag of ${visibleLine(tool)}; JSON goes before the flags. \`soong call ${visibleLine(tool)} --help\` lists its flags.`;
}

/** `soong call TOOL --help`. */
export function renderFlagHelp(
  output: Pick<Output, "colours" | "width">,
  tool: FlaggedTool,
): string[] {
  const parameters = listParameters(tool.schema);
  const taken = parameters.filter(({ name }) => tool.options.includes(name));
  const [first] = taken;
  return [
    `${output.colours.bold(visibleLine(tool.name))} takes these flags, or JSON:`,
    ...(parameters.length === 0 ? ["  none"] : renderParameters(output, parameters, "--")),
    "",
    "A list is a repeated flag or JSON; --a.b is b of a; --no-x is false. JSON and flags are merged.",
    ...(first === undefined
      ? []
      : [
          `--${visibleLine(first.name)} is an option of the command, too: behind -- it is the tool's (soong call ${visibleLine(tool.name)} -- --${visibleLine(first.name)} …).`,
        ]),
    `\`soong tools ${visibleLine(tool.name)}\` says more; \`soong call --help\` lists the options of the command.`,
  ];
}
