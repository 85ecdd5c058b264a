// Finding deferred tools (SEARCH-2): `select:` by exact name, or ranked free text. Pure over one surface
// and its index.

import type { RegisteredTool } from "../registry/registered-tool.ts";
import {
  createSearchIndex,
  createSearchDocument,
  type SearchDocument,
  type SearchIndex,
  type SearchMatch,
} from "@soong/search";
import type { WireNames } from "./wire-name.ts";

export type FoundTool = SearchMatch;

export interface SearchAnswer {
  matches: FoundTool[];
  /** Names of a `select:` that this surface does not have, with why where it is known. */
  not_found: { name: string; detail: string }[];
  /** Named in a `select:`, and loaded already. */
  already_loaded: string[];
  deferred_count: number;
}

/** As much of a surface as a search looks at. */
export interface SearchedSurface {
  readonly deferred: readonly SearchedTool[];
  readonly standing: ReadonlyMap<string, { readonly state: string }>;
  readonly aliases: ReadonlyMap<string, string>;
}

export interface SearchedTool extends Pick<RegisteredTool, "name" | "tags" | "generation"> {
  readonly definition: Pick<
    RegisteredTool["definition"],
    "aliases" | "title" | "search_hint" | "description"
  >;
  readonly input: { readonly original: unknown };
}

/** An index that follows the deferred tools of a run from revision to revision, one change at a time. */
export interface DeferredIndex {
  /** `names`: the table of the request the model has before it, for it knows tools by those. */
  search(surface: SearchedSurface, query: string, limit: number, names: WireNames): SearchAnswer;
}

const SELECT = "select:";

export function createDeferredIndex(): DeferredIndex {
  let index: SearchIndex | undefined;
  const indexed = new Map<string, number>();
  let followed: SearchedSurface | undefined;

  return {
    search(surface, query, limit, names) {
      if (query.trimStart().toLowerCase().startsWith(SELECT)) return select(surface, query, names);
      return { ...emptyAnswer(surface), matches: follow(surface).search(query, { limit }) };
    },
  };

  /** Made at the first search, and brought up to date by what changed since the last one. */
  function follow(surface: SearchedSurface): SearchIndex {
    index ??= createSearchIndex();
    if (followed === surface) return index;
    const wanted = new Map(surface.deferred.map((tool) => [tool.name, tool]));
    for (const [name, generation] of indexed) {
      if (wanted.get(name)?.generation === generation) continue;
      index.remove(name);
      indexed.delete(name);
    }
    for (const tool of wanted.values()) {
      if (indexed.has(tool.name)) continue;
      index.add(readTool(tool));
      indexed.set(tool.name, tool.generation);
    }
    followed = surface;
    return index;
  }
}

function select(surface: SearchedSurface, query: string, wire: WireNames): SearchAnswer {
  const names = query.trimStart().slice(SELECT.length).split(",");
  const answer = emptyAnswer(surface);
  for (const name of new Set(names.map((one) => one.trim()))) {
    if (name === "") continue;
    const canonical = surface.standing.has(name)
      ? name
      : (surface.aliases.get(name) ?? wire.toCanonical(name) ?? name);
    const state = surface.standing.get(canonical)?.state;
    if (state === "loaded") answer.already_loaded.push(canonical);
    else if (state === "deferred") {
      answer.matches.push({ tool_name: canonical, score: 1, reasons: ["selected by name"] });
    } else {
      // Excluded tools are not for this model to know about beyond the fact that they are not there.
      answer.not_found.push({ name, detail: "no deferred tool of this run has that name" });
    }
  }
  return answer;
}

function emptyAnswer({ deferred }: SearchedSurface): SearchAnswer {
  return { matches: [], not_found: [], already_loaded: [], deferred_count: deferred.length };
}

function readTool({ name, tags, definition, input }: SearchedTool): SearchDocument {
  const { aliases, title, search_hint, description } = definition;
  const input_schema = input.original;
  return createSearchDocument({
    name,
    description,
    input_schema,
    aliases,
    title,
    search_hint,
    tags,
  });
}
