// What is said of a surface: the inventory fact (SURF-8), and why a tool is or is not there (SURF-3).

import { omitUndefined, type JsonObject } from "@soong/schema";
import { staticVerdict, type Policy } from "../permission/index.ts";
import type { RegisteredTool } from "../registry/registered-tool.ts";
import { toolFacts } from "./effects-under.ts";
import { offeredSchema } from "./profile.ts";
import type { Surface } from "./surface.ts";

export type CatalogPolicy = "allowed" | "ask" | "denied" | "sandboxed" | "unavailable";

/** One tool of a surface as it is recorded. */
export interface CatalogEntry {
  tool_name: string;
  state: "loaded" | "deferred" | "excluded";
  description?: string;
  input_schema?: JsonObject;
  schema?: "core" | "extended" | "relaxed";
  /** Places of the input schema that the model was shown looser than they are; calls are checked against it. */
  relaxed?: readonly string[];
  capabilities?: string[];
  policy: CatalogPolicy;
  runtime_owner?: string;
  is_read_only?: boolean;
  is_concurrency_safe?: boolean;
  is_destructive?: boolean;
  is_open_world?: boolean;
  interrupt_behavior?: string;
  /** Which of these facts the author declared; the others were assumed (DEF-3). */
  declared?: readonly string[];
  /** Where the full definition is found: `artifact:<id>#<tool_name>`, the record of definitions and the name in it. */
  metadata_ref?: string;
  reason?: string;
  /** Of a disabled tool: its own `isEnabled` said so. */
  disabled_by?: "tool";
  detail?: string;
}

/**
 * What is said of many tools, on record once with their names (MCP-10): their descriptions and schemas are in the
 * definitions the run is recorded with. `metadata_ref` is that record, without the name in it.
 */
export type CatalogGroup = Omit<CatalogEntry, "tool_name" | "description" | "input_schema"> & {
  names: string[];
};

interface GroupedEntries {
  tools: CatalogEntry[];
  /** Tools of which the same is said, where there are many. */
  groups?: CatalogGroup[];
}

/** The whole surface at first; afterwards only what changed since the revision named as base. */
export interface CatalogRecord extends GroupedEntries {
  revision: number;
  base_revision?: number;
  profile: string;
  role: string;
  mode: string;
  counts: { loaded: number; deferred: number; excluded: number };
  removed?: string[];
}

/** `definitions`: the artifact that the definitions are kept in. */
export function catalogRecord(
  surface: Surface,
  policy: Policy,
  { base, definitions }: { base?: Surface; definitions?: string | undefined } = {},
): CatalogRecord {
  const { revision, profile, role, mode, loaded, deferred, excluded, standing } = surface;
  const entries = catalogEntries(surface, policy, definitions).filter(
    ({ tool_name }) => base === undefined || isNews(tool_name, surface, base),
  );
  const removed = [...(base?.standing.keys() ?? [])].filter((name) => !standing.has(name));
  return omitUndefined({
    revision,
    base_revision: base?.revision,
    profile: profile.id,
    role,
    mode,
    counts: { loaded: loaded.length, deferred: deferred.length, excluded: excluded.length },
    ...groupEntries(entries),
    removed: removed.length === 0 ? undefined : removed,
  });
}

/** Fewer are written out: the user reads them. */
const MIN_GROUPED = 100;

function groupEntries(entries: CatalogEntry[]): GroupedEntries {
  const isPlain = ({ state, metadata_ref }: CatalogEntry): boolean =>
    state !== "loaded" && metadata_ref !== undefined;
  if (entries.filter(isPlain).length < MIN_GROUPED) return { tools: entries };
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

/** The entries of a `tool.catalog.resolved`, in any form in which they are recorded. */
export function entriesIn({ tools, groups = [] }: GroupedEntries): CatalogEntry[] {
  const members = groups.flatMap(({ names, metadata_ref = "", ...about }) =>
    names.map((tool_name) => ({
      ...about,
      tool_name,
      metadata_ref: `${metadata_ref}#${tool_name}`,
    })),
  );
  return members.length === 0 ? tools : [...tools, ...members];
}

export function catalogEntries(
  { loaded, deferred, excluded, standing, profile }: Surface,
  policy: Policy,
  definitions?: string,
): CatalogEntry[] {
  const describe = (tool: RegisteredTool, state: CatalogEntry["state"]): CatalogEntry => {
    const { name, input, definition, tags } = tool;
    const facts = toolFacts(policy, tool);
    const { effects } = facts;
    const offer = offeredSchema(tool, profile);
    return omitUndefined<CatalogEntry>({
      tool_name: name,
      state,
      description: definition.description,
      // A deferred tool's schema was not sent; it is found by its ref.
      input_schema: state === "loaded" ? (input.original as JsonObject) : undefined,
      schema: offer.kind === "relaxed" ? offer.kind : input.lowered.kind,
      relaxed: offer.kind === "relaxed" ? offer.pointers : undefined,
      capabilities: listCapabilities(tags),
      policy: staticVerdict(policy, facts).verdict,
      runtime_owner: findOwner(tool),
      is_read_only: effects.read_only,
      is_concurrency_safe: effects.concurrency_safe,
      is_destructive: effects.destructive,
      is_open_world: effects.open_world,
      interrupt_behavior: tool.effects.interrupt_behavior,
      declared: tool.effects.declared,
      metadata_ref: definitions === undefined ? undefined : `artifact:${definitions}#${name}`,
    });
  };
  return [
    ...loaded.map((tool) => describe(tool, "loaded")),
    ...deferred.map((tool) => describe(tool, "deferred")),
    ...excluded.map(({ tool_name, reason, detail, disabled_by }) => {
      const tool = standing.get(tool_name)?.tool;
      return omitUndefined<CatalogEntry>({
        ...(tool && describe(tool, "excluded")),
        tool_name,
        state: "excluded",
        policy: reason === "policy_blocked" ? "denied" : "unavailable",
        reason,
        detail,
        disabled_by,
      });
    }),
  ];
}

function isNews(name: string, surface: Surface, base: Surface): boolean {
  const now = surface.standing.get(name);
  const before = base.standing.get(name);
  return (
    now?.state !== before?.state ||
    now?.tool?.generation !== before?.tool?.generation ||
    (now?.state === "excluded" && before?.state === "excluded" && now.reason !== before.reason)
  );
}

/** Tags that only say where a tool comes from are no capability. */
const ORIGIN_TAGS = ["internal", "agent", "mcp", "code", "declarative"];

function listCapabilities(tags: readonly string[]): string[] {
  return tags
    .filter((tag) => !ORIGIN_TAGS.includes(tag))
    .map((tag) => (tag === "readonly" ? "read" : tag));
}

function findOwner({ source, definition, name }: RegisteredTool): string {
  if (source.kind === "mcp") return "mcp_server";
  if (definition.starts_agent === true) return "subagent";
  return name.startsWith("agent.task_") ? "workflow" : "local";
}
