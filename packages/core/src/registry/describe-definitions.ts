// All definitions of a registry as one record (REPLAY-1): kept with a run, so that a replay can register the same
// tools where none of their code is. The same definitions give the same text, on every machine.

import { canonicalJson, sha256Hex, type AnyTool } from "../tool/index.ts";
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
export interface RecordedDefinition extends Pick<AnyTool, DataField> {
  /** Of the source it came from, in `sources`. */
  readonly source: number;
  /** `input_schema` is named where the author's schema checks values by code of its own. */
  readonly functions: readonly string[];
}

const DATA = [
  "name",
  "title",
  "description",
  "search_hint",
  "aliases",
  "tags",
  "metadata",
  "permission",
  "concurrency_safe",
  "destructive",
  "open_world",
  "repeatable",
  "interrupt_behavior",
  "on_sibling_failure",
  "starts_agent",
  "defer",
  "always_load",
  "timeout_ms",
  "max_result_chars",
  "bounds_itself",
  "redaction",
  "input_schema",
  "output_schema",
] as const satisfies readonly (keyof AnyTool)[];

type DataField = (typeof DATA)[number];

const FUNCTIONS = [
  "classify",
  "isEnabled",
  "normalise",
  "prepare",
  "prompt",
  "render",
  "targets",
  "timeoutFor",
  "validate",
] as const satisfies readonly (keyof AnyTool)[];

export interface DescribedDefinitions {
  readonly text: string;
  readonly sha256: string;
}

/** Made once a snapshot, however many runs begin on it. */
export function describeDefinitions(snapshot: RegistrySnapshot): DescribedDefinitions {
  let described = known.get(snapshot);
  if (described === undefined) {
    const text = canonicalJson(recordOf(snapshot));
    described = { text, sha256: sha256Hex(text) };
    known.set(snapshot, described);
  }
  return described;
}

const known = new WeakMap<RegistrySnapshot, DescribedDefinitions>();

function recordOf({ tools, excluded }: RegistrySnapshot): DefinitionsRecord {
  const sources: SourceInfo[] = [];
  const byName = [...tools.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const definitions = byName.map((tool) => {
    if (!sources.includes(tool.source)) sources.push(tool.source);
    return definitionOf(tool, sources.indexOf(tool.source));
  });
  return { version: 2, sources, tools: definitions, excluded };
}

function definitionOf(tool: RegisteredTool, source: number): RecordedDefinition {
  const { definition, input, output } = tool;
  const given = DATA.flatMap((field) =>
    definition[field] === undefined ? [] : [[field, definition[field]]],
  );
  const functions: string[] = FUNCTIONS.filter((field) => definition[field] !== undefined);
  return {
    ...(Object.fromEntries(given) as Pick<AnyTool, DataField>),
    input_schema: input.original,
    ...(output === undefined ? {} : { output_schema: output.original }),
    source,
    functions: input.own === undefined ? functions : [...functions, "input_schema"],
  };
}
