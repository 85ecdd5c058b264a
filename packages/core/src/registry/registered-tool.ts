// One definition, checked and completed: what the registry holds (DEF-1…4, SCHEMA-1…3, REDACT-2).

import {
  compileSchema,
  lowerSchema,
  readSchema,
  sameJson,
  sensitivePaths,
  type JsonObject,
  type JsonSchema,
  type LoweredSchema,
  type ReadSchema,
  type SchemaCheck,
} from "@soong/schema";
import {
  definedEffects,
  digestOf,
  nameProblem,
  type AnyTool,
  type DefinedEffects,
  type SourceKind,
  type ToolTrust,
} from "../tool/index.ts";
import { checkFields, type ReportField } from "./definition-fields.ts";

export interface SourceInfo {
  readonly id: string;
  readonly kind: SourceKind;
  /** Its own account of a call's effects counts (DEF-4), and one bad definition fails the start (REG-2). */
  readonly trusted: boolean;
  /** The file the definitions came from, for messages. */
  readonly file?: string;
  /** Tags every tool of the source has, from the user's config. */
  readonly tags?: readonly string[];
  /** Where a remote source lives (PERM-10). */
  readonly host?: string;
  /** Where relative paths in its inputs may begin, beside the project. */
  readonly directories?: readonly string[];
  /**
   * Of an MCP server: the `permission` of its definitions is what the user's config says of them, so `readonly`
   * counts (MCP-6). By default, it is the server's word, and only the policy's `readonly_mcp` makes a tool readonly.
   */
  readonly permission_from?: "user";
}

export interface ToolSchema {
  readonly original: JsonSchema;
  readonly lowered: LoweredSchema;
  readonly check: SchemaCheck;
  /** The author's own schema object, where it can check values itself. */
  readonly own: Extract<ReadSchema, { ok: true }>["check"];
  readonly sensitive: readonly (readonly string[])[];
}

export interface RegisteredTool {
  readonly name: string;
  readonly definition: AnyTool;
  readonly source: SourceInfo;
  readonly effects: DefinedEffects;
  readonly tags: readonly string[];
  /** Of an MCP tool: vouched for as readonly by the user through its source, or warned of by its definition. */
  readonly trust: ToolTrust | undefined;
  /** The source as results name it. */
  readonly provenance: { readonly source_kind: string; readonly source_id: string };
  readonly input: ToolSchema;
  readonly output: ToolSchema | undefined;
  /** Rises when a definition of this name changes: a call made on an older one is stale (REG-3). */
  readonly generation: number;
  /** Over everything a model or the user sees of the tool; which source brought it is not part of that. */
  digest(): string;
}

export interface DefinitionProblem {
  tool_name: string;
  field: string;
  message: string;
}

/** The registry knows which generation it is. */
export type UnnumberedTool = Omit<RegisteredTool, "generation"> & { generation: number };

export type Registered =
  | { ok: true; tool: UnnumberedTool }
  | { ok: false; problems: DefinitionProblem[] };

/** `before`: a tool of this name that was registered already; what is the same is taken over from it. */
export function readDefinition(
  given: AnyTool,
  source: SourceInfo,
  before?: RegisteredTool,
): Registered {
  const problems: DefinitionProblem[] = [];
  const name: unknown = given?.name;
  const tool_name = typeof name === "string" ? name : "(no name)";
  const report: ReportField = (field, message) => problems.push({ tool_name, field, message });
  if (typeof given !== "object" || given === null) {
    report("definition", "is not an object");
    return { ok: false, problems };
  }
  const definition = withDescription(given, source);
  const problem =
    typeof name !== "string" || name === "" ? "is missing" : nameProblem(name, source);
  if (problem !== undefined) report("name", problem);
  checkFields(definition, source, report);
  const known = before?.source.kind === source.kind ? before : undefined;
  const { input_schema, output_schema } = definition;
  const input = readToolSchema(input_schema, "input_schema", known?.input, source, report);
  const output =
    output_schema === undefined
      ? undefined
      : readToolSchema(output_schema, "output_schema", known?.output, undefined, report);
  if (problems.length > 0 || input === undefined) return { ok: false, problems };

  return { ok: true, tool: new DefinedTool(definition, source, input, output) };
}

/** No closures: ten thousand tools keep what each of them sees. */
class DefinedTool implements UnnumberedTool {
  readonly name: string;
  readonly definition: AnyTool;
  readonly source: SourceInfo;
  readonly effects: DefinedEffects;
  readonly tags: readonly string[];
  readonly trust: ToolTrust | undefined;
  readonly provenance: RegisteredTool["provenance"];
  readonly input: ToolSchema;
  readonly output: ToolSchema | undefined;
  generation = 0;
  #digest: string | undefined = undefined;

  constructor(
    definition: AnyTool,
    source: SourceInfo,
    input: ToolSchema,
    output: ToolSchema | undefined,
  ) {
    const { tags: own = NO_TAGS } = definition;
    const tags = source.tags === undefined ? own : [...own, ...source.tags];
    this.name = definition.name;
    this.definition = definition;
    this.source = source;
    this.effects = definedEffects(definition, tags);
    this.tags = completeTags(tags, source, this.effects);
    this.trust = readTrust(definition, source);
    this.provenance = nameSource(source);
    this.input = input;
    this.output = output;
  }

  digest(): string {
    this.#digest ??= digestOf({ ...toolRecord(this), source: this.source.kind });
    return this.#digest;
  }
}

const NO_TAGS: readonly string[] = [];

/** A server's tool is not lost for want of a description: its title or name takes the place (MCP-10). */
function withDescription(given: AnyTool, { kind, id }: SourceInfo): AnyTool {
  const { name, title, description } = given;
  if (kind !== "mcp" || typeof name !== "string" || isText(description)) return given;
  return { ...given, description: isText(title) ? title : name.slice(`mcp.${id}.`.length) };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/** The tool as a record: what was declared, what was assumed, and the schemas (DEF-3). */
export function toolRecord(tool: RegisteredTool): JsonObject {
  const { definition, effects, source } = tool;
  const { declared, worst: _worst, ...facts } = effects;
  const record: Record<string, unknown> = {
    tool_name: tool.name,
    title: definition.title,
    description: definition.description,
    search_hint: definition.search_hint,
    aliases: definition.aliases,
    tags: tool.tags,
    source: { kind: source.kind, id: source.id, trusted: source.trusted },
    ...facts,
    declared,
    assumed: Object.keys(facts).filter((fact) => fact !== "read_only" && !declared.includes(fact)),
    schema: tool.input.lowered.kind,
    input_schema: tool.input.original,
    output_schema: tool.output?.original,
    timeout_ms: definition.timeout_ms,
    max_result_chars: definition.max_result_chars,
    on_sibling_failure: definition.on_sibling_failure,
    metadata: definition.metadata,
  };
  return JSON.parse(JSON.stringify(record)) as JsonObject;
}

/** What a server says of its own tool may only tighten: a warning counts, a reassurance does not. */
function readTrust(
  { permission, destructive }: AnyTool,
  { kind, permission_from }: SourceInfo,
): ToolTrust | undefined {
  if (kind !== "mcp") return undefined;
  if (permission === "write" || destructive === true) return "warned";
  return permission === "readonly" && permission_from === "user" ? "vouched" : undefined;
}

/**
 * Whether a definition is the one that was there before, found without hashing it: a server lists thousands of tools
 * again because of one. True only if nothing can differ that a model or a user sees; otherwise compare the digests.
 */
export function isSurelySame(a: RegisteredTool, b: RegisteredTool): boolean {
  return (
    a.name === b.name &&
    a.source.kind === b.source.kind &&
    // Schemas that are the same were taken over.
    a.input === b.input &&
    a.output === b.output &&
    DESCRIBING_FIELDS.every((field) => sameJson(a.definition[field], b.definition[field])) &&
    sameJson(a.tags, b.tags) &&
    sameJson(a.effects, b.effects)
  );
}

const DESCRIBING_FIELDS = [
  "title",
  "description",
  "search_hint",
  "aliases",
  "timeout_ms",
  "max_result_chars",
  "on_sibling_failure",
  "metadata",
] as const satisfies readonly (keyof AnyTool)[];

/**
 * What was read from the same data before is not read again. `source` is given for input only: an output schema is
 * checked against, never sent to a model.
 */
function readToolSchema(
  schema: unknown,
  field: string,
  before: ToolSchema | undefined,
  source: SourceInfo | undefined,
  report: ReportField,
): ToolSchema | undefined {
  if (before !== undefined && before.own === undefined && sameJson(schema, before.original)) {
    return before;
  }
  const read = readSchema(schema);
  if (!read.ok) {
    for (const { pointer, message } of read.problems) report(`${field}${pointer}`, message);
    return undefined;
  }
  const { original, check: own } = read;
  const lowered = lowerSchema(original);
  if (lowered.kind === "extended" && source !== undefined && source.kind !== "mcp") {
    for (const { pointer, keyword, message } of lowered.outside) {
      report(`${field}${pointer}`, `${keyword}: ${message}`);
    }
    return undefined;
  }
  return new ReadToolSchema(original, lowered, own);
}

class ReadToolSchema implements ToolSchema {
  readonly original: JsonSchema;
  readonly lowered: LoweredSchema;
  readonly own: ToolSchema["own"];
  readonly sensitive: ToolSchema["sensitive"];
  #check: SchemaCheck | undefined = undefined;

  constructor(original: JsonSchema, lowered: LoweredSchema, own: ToolSchema["own"]) {
    this.original = original;
    this.lowered = lowered;
    this.own = own;
    this.sensitive = sensitivePaths(original);
  }

  check(value: unknown): ReturnType<SchemaCheck> {
    this.#check ??= compileSchema(this.original);
    return this.#check(value);
  }
}

function nameSource(source: SourceInfo): RegisteredTool["provenance"] {
  let named = namedSources.get(source);
  if (named === undefined) {
    named = Object.freeze({ source_kind: source.kind, source_id: source.id });
    namedSources.set(source, named);
  }
  return named;
}

const namedSources = new WeakMap<SourceInfo, RegisteredTool["provenance"]>();

function completeTags(
  given: readonly string[],
  source: SourceInfo,
  effects: DefinedEffects,
): readonly string[] {
  const key = `${effects.permission} ${source.kind}`;
  const known = given.length === 0 ? bareTags.get(key) : undefined;
  if (known !== undefined) return known;
  const tags = new Set(given);
  tags.delete("readonly");
  tags.delete("write");
  tags.add(effects.permission);
  tags.add(source.kind);
  const complete = Object.freeze([...tags].toSorted());
  if (given.length === 0) bareTags.set(key, complete);
  return complete;
}

/** Of tools that have none of their own. */
const bareTags = new Map<string, readonly string[]>();
