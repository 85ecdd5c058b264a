// What a model is told of tools that are deferred (SEARCH-1, MCP-10): names and hints, names alone, or as many names as
// there is room for and where the others are from. Whatever there is, it costs a bounded part of the budget.

import type { RegisteredTool } from "../registry/index.ts";
import type { WireNames } from "./wire-name.ts";

export interface DeferredList {
  /** Names and hints of what is deferred; their schemas come through search. */
  readonly deferred: readonly { readonly name: string; readonly hint: string }[];
  /** Deferred, and not listed for want of room: found by search only. */
  readonly unlisted: {
    readonly count: number;
    readonly sources: readonly { readonly id: string; readonly count: number }[];
  };
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

export function listDeferred(
  tools: readonly RegisteredTool[],
  names: WireNames,
  redact: (text: string) => string,
  budgetTokens: number,
): DeferredList {
  const room = budgetTokens * CHARS_PER_TOKEN;
  const sizeOf = (name: string, hint: string): number => name.length + hint.length + 3;
  const full = tools.map(({ name, definition }) => ({
    name: names.toWire(name),
    hint: redact(definition.search_hint ?? definition.title ?? "").slice(0, MAX_HINT_CHARS),
  }));
  const nothing = { count: 0, sources: [] };
  const size = full.reduce((sum, { name, hint }) => sum + sizeOf(name, hint), 0);
  if (size <= room) return { deferred: full, unlisted: nothing };
  let left = room;
  const deferred = full.flatMap(({ name }) => {
    left -= sizeOf(name, "");
    return left < 0 ? [] : [{ name, hint: "" }];
  });
  return { deferred, unlisted: countBySource(tools.slice(deferred.length)) };
}

function countBySource(tools: readonly RegisteredTool[]): DeferredList["unlisted"] {
  const counts = new Map<string, number>();
  for (const { source } of tools) counts.set(source.id, (counts.get(source.id) ?? 0) + 1);
  const sources = [...counts]
    .map(([id, count]) => ({ id, count }))
    .toSorted((a, b) => b.count - a.count || (a.id < b.id ? -1 : 1));
  return { count: tools.length, sources: sources.slice(0, MAX_SOURCES) };
}
