// Many tools of which the same is said (SURF-8, MCP-10): on record once, with their names. Descriptions and schemas are
// in the definitions the run is recorded with, by content, and each entry refers to them.

import type { CatalogEntry } from "./catalog-entry.ts";

/** What is said of all of them; `metadata_ref` is the record of definitions, without the name in it. */
export type CatalogGroup = Omit<CatalogEntry, "tool_name" | "description" | "input_schema"> & {
  names: string[];
};

/** Fewer are written out: a person reads them. */
const MIN_GROUPED = 100;

interface GroupedEntries {
  tools: CatalogEntry[];
  groups?: CatalogGroup[];
}

export function groupEntries(entries: readonly CatalogEntry[]): GroupedEntries {
  const isPlain = ({ state, metadata_ref }: CatalogEntry): boolean =>
    state !== "loaded" && metadata_ref !== undefined;
  if (entries.filter(isPlain).length < MIN_GROUPED) return { tools: [...entries] };
  const groups = new Map<string, CatalogGroup>();
  const tools = entries.filter((entry) => {
    if (!isPlain(entry)) return true;
    const { tool_name, description: _text, metadata_ref = "", ...shared } = entry;
    const about = { ...shared, metadata_ref: metadata_ref.slice(0, metadata_ref.indexOf("#")) };
    const key = JSON.stringify(about);
    const group = groups.get(key) ?? { ...about, names: [] };
    group.names.push(tool_name);
    groups.set(key, group);
    return false;
  });
  return { tools, groups: [...groups.values()] };
}

/** The entries of a `tool.catalog.resolved`, whatever form they are recorded in. */
export function entriesIn({ tools, groups = [] }: GroupedEntries): CatalogEntry[] {
  return groups.length === 0 ? tools : [...tools, ...groups.flatMap(membersOf)];
}

function membersOf({ names, ...about }: CatalogGroup): CatalogEntry[] {
  return names.map((tool_name) => ({
    ...about,
    tool_name,
    metadata_ref: `${about.metadata_ref ?? ""}#${tool_name}`,
  }));
}
