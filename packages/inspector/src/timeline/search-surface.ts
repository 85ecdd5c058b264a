// Searching the tools of a run: the deferred ones with the very search the model has, the loaded ones beside them, for a
// user may mean any.

import { createSearchIndex, PORTABLE_NAMES, type CatalogEntry, type Fact } from "@soong/core";
import { createDeferredIndex, wireNames, type SearchedTool } from "@soong/core/internal";
import { createSearchDocument } from "@soong/search";
import type { SurfaceMatches } from "../wire/session-records.ts";
import { readDefinitions, type Definitions, type RecordedTool } from "./definitions.ts";
import { catalogAt, findDefinition } from "./surface-view.ts";

const MOST_MATCHES = 20;

interface SearchOptions {
  readonly revision?: number;
  readonly definitions?: unknown;
}

/** `facts` and `definitions`: as for the view of the surface. */
export function searchSurface(
  facts: readonly Fact[],
  query: string,
  { revision, definitions }: SearchOptions = {},
): SurfaceMatches {
  const catalog = catalogAt(facts, revision);
  const key = typeof definitions === "object" && definitions !== null ? definitions : {};
  let known = searches.get(key);
  if (known === undefined || known.seq !== catalog?.seq) {
    const search = createSearch(catalog?.tools ?? [], readDefinitions(definitions));
    known = { seq: catalog?.seq, search };
    searches.set(key, known);
  }
  // Stable: what the model finds stays in the order it finds it in.
  const matches = known.search(query).toSorted((a, b) => b.score - a.score);
  return { query, matches };
}

type Search = (query: string) => SurfaceMatches["matches"];

/** By definitions. Users search letter by letter: thousands of tools are read once for one revision. */
const searches = new WeakMap<object, { seq: number | undefined; search: Search }>();

function createSearch(entries: readonly CatalogEntry[], recorded: Definitions): Search {
  const standing = new Map<string, { state: "loaded" | "deferred"; tool: SearchedTool }>();
  const aliases = new Map<string, string>();
  const loaded: RecordedTool[] = [];
  for (const entry of entries) {
    if (entry.state === "excluded") continue;
    const tool = findDefinition(entry, recorded);
    standing.set(entry.tool_name, { state: entry.state, tool: searchedTool(tool) });
    for (const alias of tool.aliases) aliases.set(alias, entry.tool_name);
    if (entry.state === "loaded") loaded.push(tool);
  }
  const deferred = [...standing.values()].flatMap((one) =>
    one.state === "deferred" ? [one.tool] : [],
  );
  const surface = { deferred, standing, aliases };
  const names = wireNames([...standing.keys()], PORTABLE_NAMES);
  const index = createDeferredIndex();
  const beside = createSearchIndex(loaded.map((tool) => createSearchDocument(tool)));
  return (query) => {
    const byModel = index.search(surface, query, MOST_MATCHES, names).matches;
    const others = beside.search(query, { limit: MOST_MATCHES });
    return [
      ...byModel.map((match) => ({ ...match, is_found_by_model: true })),
      ...others.map((match) => ({ ...match, is_found_by_model: false })),
    ];
  };
}

/** As much of it as the search of the model looks at. */
function searchedTool({ name, tags, input_schema, ...definition }: RecordedTool): SearchedTool {
  return { name, definition, tags, input: { original: input_schema }, generation: 0 };
}
