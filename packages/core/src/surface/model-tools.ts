// What a model is sent of a surface (SURF-7): loaded tools with their schemas, deferred ones as names and hints, names
// alone, or as many names as there is room for and where the others are from (SEARCH-1, MCP-10). In any case the
// list of deferred tools costs a bounded part of the budget.

import type { JsonSchema } from "@soong/schema";
import type { RegisteredTool } from "../registry/registered-tool.ts";
import { offeredSchema } from "./profile.ts";
import type { Surface } from "./surface.ts";
import { wireNames, type WireNames } from "./wire-name.ts";

/** A tool as a provider sees it. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonSchema;
}

export interface DeferredList {
  /** Names and hints of what is deferred; their schemas come through search. */
  readonly deferred: readonly { readonly name: string; readonly hint: string }[];
  /** Deferred, and not listed for want of room: found by search only. */
  readonly unlisted: {
    readonly count: number;
    readonly sources: readonly { readonly id: string; readonly count: number }[];
  };
}

export interface ModelTools extends DeferredList {
  readonly tools: readonly ModelTool[];
  readonly names: WireNames;
}

/** The same list, object for object, for every request on one revision. */
export function modelTools(
  { loaded, deferred, profile }: Surface,
  instructions: ReadonlyMap<string, string>,
  redact: (text: string) => string,
  deferBudgetTokens: number,
): ModelTools {
  // Deferred ones are in the table too: a model may call what it has only read about.
  const named = [...loaded, ...deferred].map(({ name }) => name);
  const names = wireNames(named, profile.names);
  const tools = loaded.map((tool) => {
    const { name, definition, input } = tool;
    const long = instructions.get(name);
    const description = definition.description + (long === undefined ? "" : `\n\n${long}`);
    const offer = offeredSchema(tool, profile);
    return {
      name: names.toWire(name),
      description: redact(description),
      input_schema: offer.kind === "refused" ? input.lowered.schema : offer.schema,
    };
  });
  const listed = deferred.map(({ name, definition }) => ({
    name: names.toWire(name),
    hint: redact(definition.search_hint ?? definition.title ?? "").slice(0, MAX_HINT_CHARS),
  }));
  const list = fitList(listed, listBudgetTokens(deferBudgetTokens) * CHARS_PER_TOKEN);
  return { names, tools, deferred: list, unlisted: countBySource(deferred.slice(list.length)) };
}

/** Three to ten words; a server may call anything a hint. */
const MAX_HINT_CHARS = 200;
const MAX_SOURCES = 50;
const CHARS_PER_TOKEN = 4;

/** A few names always fit: who defers everything sets a budget of next to nothing. */
const LEAST_TOKENS = 256;

/** The part of the defer budget that names may take. */
export function listBudgetTokens(deferBudgetTokens: number): number {
  return Math.max(LEAST_TOKENS, Math.floor(deferBudgetTokens / 4));
}

/** What naming a tool costs, without its hint. */
export function nameTokens({ name }: RegisteredTool): number {
  return Math.ceil((name.length + 1) / CHARS_PER_TOKEN);
}

function fitList(full: DeferredList["deferred"], room: number): DeferredList["deferred"] {
  if (full.reduce((sum, { name, hint }) => sum + name.length + hint.length + 3, 0) <= room) {
    return full;
  }
  let left = room;
  return full.flatMap(({ name }) => {
    left -= name.length + 3;
    return left < 0 ? [] : [{ name, hint: "" }];
  });
}

function countBySource(tools: readonly RegisteredTool[]): DeferredList["unlisted"] {
  const counts = new Map<string, number>();
  for (const { source } of tools) counts.set(source.id, (counts.get(source.id) ?? 0) + 1);
  const sources = [...counts]
    .map(([id, count]) => ({ id, count }))
    .toSorted((a, b) => b.count - a.count || (a.id < b.id ? -1 : 1));
  return { count: tools.length, sources: sources.slice(0, MAX_SOURCES) };
}
