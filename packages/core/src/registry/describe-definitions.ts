// All definitions of a registry as one record (REPLAY-1): kept with a run, so that a replay can register the same
// tools where none of their code is. The same definitions give the same text, on every machine.

import { canonicalJson } from "@soong/schema";
import { measureText, type AnyTool, type MeasuredText } from "../tool/index.ts";
import { DATA_FIELDS, FUNCTION_FIELDS, type DataField } from "./definition-fields.ts";
import type { RegisteredTool, SourceInfo } from "./registered-tool.ts";
import type { ExcludedTool, RegistrySnapshot } from "./registry.ts";

export interface DefinitionsRecord {
  /** Missing: recorded before `repeatable` was known; every readonly call could then start early. */
  readonly version?: 2;
  readonly sources: readonly SourceInfo[];
  readonly tools: readonly RecordedDefinition[];
  /** What sources knew of and could not offer. */
  readonly excluded: readonly ExcludedTool[];
}

/** A definition's data as its author gave it, and the names of what is code. */
export interface RecordedDefinition extends Pick<
  AnyTool,
  DataField | "input_schema" | "output_schema"
> {
  /** Of the source it came from, in `sources`. */
  readonly source: number;
  /** `input_schema` is named where the author's schema checks values by code of its own. */
  readonly functions: readonly string[];
}

/** Made once a snapshot, however many runs begin on it. */
export function describeDefinitions(snapshot: RegistrySnapshot): MeasuredText {
  let described = known.get(snapshot);
  if (described === undefined) {
    described = measureText(canonicalJson(recordDefinitions(snapshot)));
    known.set(snapshot, described);
  }
  return described;
}

const known = new WeakMap<RegistrySnapshot, MeasuredText>();

function recordDefinitions({ tools, excluded }: RegistrySnapshot): DefinitionsRecord {
  const sources: SourceInfo[] = [];
  const byName = [...tools.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const definitions = byName.map((tool) => {
    if (!sources.includes(tool.source)) sources.push(tool.source);
    return recordDefinition(tool, sources.indexOf(tool.source));
  });
  return { version: 2, sources, tools: definitions, excluded };
}

function recordDefinition(tool: RegisteredTool, source: number): RecordedDefinition {
  const { definition, input, output } = tool;
  const functions: string[] = [];
  for (const field of FUNCTION_FIELDS) if (definition[field] !== undefined) functions.push(field);
  if (input.own !== undefined) functions.push("input_schema");
  const { name, description } = definition;
  const record = { name, description, input_schema: input.original, source, functions };
  const more: Record<string, unknown> = record;
  if (output !== undefined) more["output_schema"] = output.original;
  for (const field of DATA_FIELDS) {
    if (definition[field] !== undefined) more[field] = definition[field];
  }
  return record;
}
