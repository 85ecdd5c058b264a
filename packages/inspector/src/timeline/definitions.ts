// The definitions a run was recorded with, read as the registry reads them, so that what is estimated and searched here
// is what the kernel estimates and searches.

import {
  lowerSchema,
  readSchema,
  type AnyTool,
  type CatalogEntry,
  type Fact,
  type SourceInfo,
} from "@soong/core";
import { estimateDefinition, estimateTokens, readDefinition } from "@soong/core/internal";
import { asRecord } from "@soong/schema";
import { listIn, recordIn, textIn, textsIn, type Data } from "./read-data.ts";
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
export function findDefinitions(facts: readonly Fact[], revision = Infinity): string | undefined {
  let ref: string | undefined;
  for (const fact of facts.map(soundFact)) {
    if (fact.type !== "run.started" && fact.type !== "tool.catalog.resolved") continue;
    if (fact.type === "tool.catalog.resolved" && fact.data.revision > revision) break;
    ref = fact.data.definitions?.artifact_id ?? ref;
  }
  return ref;
}

const read = new WeakMap<object, Definitions>();

/** `record`: the JSON of that artifact, unchecked. Read once. */
export function readDefinitions(record: unknown): Definitions {
  const data = asRecord(record);
  const known = read.get(data);
  if (known !== undefined) return known;
  const sources = listIn(data, "sources");
  const definitions = new Map<string, RecordedTool>();
  for (const given of listIn(data, "tools")) {
    const tool = asRecord(given);
    const name = textIn(tool, "name");
    const source = asRecord(sources[Number(tool["source"])]);
    if (name !== undefined) definitions.set(name, recordedTool(name, tool, source));
  }
  read.set(data, definitions);
  return definitions;
}

/** A tool that no definitions are there for: as far as the catalog tells. */
export function readEntryTool(entry: CatalogEntry): RecordedTool {
  const { tool_name: name, description = "", input_schema, capabilities: tags = [] } = entry;
  const tokens = estimateRecorded(name, description, input_schema);
  return { name, description, aliases: [], tags, input_schema, tokens };
}

function recordedTool(name: string, data: Data, source: Data): RecordedTool {
  const description = textIn(data, "description") ?? "";
  const { input_schema, source: _, functions: __, ...definition } = data;
  // Undefined where this version would not take it.
  const registered = attempt(() => {
    const given: object = { ...definition, input_schema, handler: () => undefined };
    const taken = readDefinition(given as AnyTool, recordIn(source) as SourceInfo);
    return taken.ok ? taken.tool : undefined;
  });
  return {
    name,
    description,
    title: textIn(data, "title"),
    search_hint: textIn(data, "search_hint"),
    aliases: textsIn(data, "aliases"),
    tags: registered?.tags ?? textsIn(data, "tags"),
    input_schema,
    tokens: registered
      ? estimateTokens(registered)
      : estimateRecorded(name, description, input_schema),
  };
}

/** By the kernel's own estimate. */
function estimateRecorded(name: string, description: string, input_schema: unknown): number {
  const lowered = attempt(() => {
    const given = readSchema(input_schema);
    return given.ok ? lowerSchema(given.original).schema : undefined;
  });
  return estimateDefinition(name, description, lowered ?? {});
}

function attempt<Value>(work: () => Value): Value | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
