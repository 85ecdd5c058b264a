// The definitions a run was recorded with, read as the registry reads them, so that what is estimated and searched here
// is what the kernel estimates and searches.

import {
  lowerSchema,
  readSchema,
  type AnyTool,
  type CatalogEntry,
  type Fact,
  type JsonSchema,
  type RegisteredTool,
  type SourceInfo,
} from "@soong/core";
import { estimateDefinition, estimateTokens, readDefinition } from "@soong/core/internal";
import { dataIn, listIn, recordIn, textIn, textsIn, type Data } from "./read-data.ts";
import { soundFact } from "./sound-fact.ts";

/** By name. */
export type Definitions = ReadonlyMap<string, RecordedTool>;

export interface RecordedTool {
  readonly name: string;
  readonly description: string;
  readonly title?: string;
  readonly search_hint?: string;
  readonly aliases: readonly string[];
  readonly tags: readonly string[];
  readonly input_schema: unknown;
  /** What it costs to send it. */
  readonly tokens: number;
}

/** Which artifact holds what the surface of a run was made from; undefined where none was kept. */
export function definitionsRef(facts: readonly Fact[], revision?: number): string | undefined {
  let ref: string | undefined;
  for (const fact of facts.map(soundFact)) {
    if (fact.type !== "run.started" && fact.type !== "tool.catalog.resolved") continue;
    const isLater =
      fact.type === "tool.catalog.resolved" && fact.data.revision > (revision ?? Infinity);
    if (isLater) break;
    ref = fact.data.definitions?.artifact_id ?? ref;
  }
  return ref;
}

/** `record`: the JSON of that artifact, unchecked. Read once. */
export function readDefinitions(record: unknown): Definitions {
  const known = typeof record === "object" && record !== null ? read.get(record) : undefined;
  if (known !== undefined) return known;
  const sources = listIn(dataIn(record), "sources");
  const definitions = new Map<string, RecordedTool>();
  for (const given of listIn(dataIn(record), "tools")) {
    const data = dataIn(given);
    const name = textIn(data, "name");
    const source = dataIn(sources[Number(data["source"])]);
    if (name !== undefined) definitions.set(name, recordedTool(name, data, source));
  }
  if (typeof record === "object" && record !== null) read.set(record, definitions);
  return definitions;
}

const read = new WeakMap<object, Definitions>();

/** A tool that no definitions are there for: as far as the catalog tells. */
export function toolOfEntry(entry: CatalogEntry): RecordedTool {
  const { tool_name: name, description = "", input_schema, capabilities = [] } = entry;
  const tokens = tokensOf(name, description, input_schema);
  return { name, description, aliases: [], tags: capabilities, input_schema, tokens };
}

function recordedTool(name: string, data: Data, source: Data): RecordedTool {
  const description = textIn(data, "description") ?? "";
  const title = textIn(data, "title");
  const search_hint = textIn(data, "search_hint");
  const registered = registeredTool(data, source);
  const { input_schema } = data;
  return {
    name,
    description,
    title,
    search_hint,
    aliases: textsIn(data, "aliases"),
    tags: registered?.tags ?? textsIn(data, "tags"),
    input_schema,
    tokens:
      registered === undefined
        ? tokensOf(name, description, input_schema)
        : estimateTokens(registered),
  };
}

/** Undefined where this version would not take it. */
function registeredTool(data: Data, source: Data): RegisteredTool | undefined {
  const { source: _source, functions: _functions, ...definition } = data;
  try {
    const given: object = { ...definition, handler: () => undefined };
    const taken = readDefinition(given as AnyTool, recordIn(source) as SourceInfo);
    return taken.ok ? taken.tool : undefined;
  } catch {
    return undefined;
  }
}

/** By the kernel's own estimate. */
function tokensOf(name: string, description: string, input_schema: unknown): number {
  return estimateDefinition(name, description, lowered(input_schema).schema);
}

function lowered(input_schema: unknown): { schema: JsonSchema } {
  try {
    const given = readSchema(input_schema);
    return given.ok ? lowerSchema(given.original) : { schema: {} };
  } catch {
    return { schema: {} };
  }
}
