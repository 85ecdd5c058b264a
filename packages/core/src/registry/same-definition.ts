// Whether a definition is the one that was there before, told without hashing it: a server lists thousands of
// tools again because of one. It says yes only when it is sure; whoever hears no asks the digests.

import type { AnyTool } from "../tool/index.ts";
import type { RegisteredTool } from "./registered-tool.ts";
import { sameData } from "./same-data.ts";

/** Nothing a model or a person is told of the two could differ, which is what a digest is over. */
export function isSurelySame(a: RegisteredTool, b: RegisteredTool): boolean {
  return (
    a.name === b.name &&
    a.source.kind === b.source.kind &&
    // Schemas that are the same were taken over.
    a.input === b.input &&
    a.output === b.output &&
    TOLD.every((field) => sameData(a.definition[field], b.definition[field])) &&
    sameData(a.tags, b.tags) &&
    sameData(a.effects, b.effects)
  );
}

const TOLD = [
  "title",
  "description",
  "search_hint",
  "aliases",
  "timeout_ms",
  "max_result_chars",
  "on_sibling_failure",
  "metadata",
] as const satisfies readonly (keyof AnyTool)[];
