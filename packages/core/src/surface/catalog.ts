// What is said of a surface: the inventory fact (SURF-8), what a model is sent (SURF-7), and why a tool
// is or is not there (SURF-3).

import { staticVerdict, type Policy } from "../permission/index.ts";
import type { RegisteredTool } from "../registry/index.ts";
import { type JsonObject, type JsonSchema, omitUndefined } from "@soong/schema";
import type { CatalogEntry, CatalogPolicy } from "./catalog-entry.ts";
import { groupEntries, type CatalogGroup } from "./catalog-groups.ts";
import { toolFacts } from "./effects-under.ts";
import { listBudgetTokens, listDeferred, type DeferredList } from "./list-deferred.ts";
import { offeredSchema, type ModelProfile } from "./profile.ts";
import type { Surface } from "./surface.ts";
import { wireNames, type WireNames } from "./wire-name.ts";

/** A tool as a provider sees it. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonSchema;
}

export interface ModelTools extends DeferredList {
  readonly tools: readonly ModelTool[];
  readonly names: WireNames;
}

/** The same list, object for object, for every request on one revision. */
export function modelTools(
  surface: Surface,
  instructions: ReadonlyMap<string, string>,
  redact: (text: string) => string,
  deferBudgetTokens: number,
): ModelTools {
  // Deferred ones are in the table too: a model may call what it has only read about.
  const named = [...surface.loaded, ...surface.deferred].map(({ name }) => name);
  const names = wireNames(named, surface.profile.names);
  return {
    names,
    tools: surface.loaded.map((tool) => {
      const { name, definition } = tool;
      const long = instructions.get(name);
      const offer = offeredSchema(tool, surface.profile);
      return {
        name: names.toWire(name),
        description: redact(
          long === undefined ? definition.description : `${definition.description}\n\n${long}`,
        ),
        input_schema: offer.kind === "refused" ? tool.input.lowered.schema : offer.schema,
      };
    }),
    ...listDeferred(surface.deferred, names, redact, listBudgetTokens(deferBudgetTokens)),
  };
}

/** The whole surface at first; afterwards only what changed since the revision named as base. */
export interface CatalogRecord {
  revision: number;
  base_revision?: number;
  profile: string;
  role: string;
  mode: string;
  counts: { loaded: number; deferred: number; excluded: number };
  tools: CatalogEntry[];
  /** Tools of which the same is said, where there are many. */
  groups?: CatalogGroup[];
  removed?: string[];
}

/** `definitions`: the artifact that the definitions are kept in. */
export function catalogRecord(
  surface: Surface,
  policy: Policy,
  { base, definitions }: { base?: Surface; definitions?: string | undefined } = {},
): CatalogRecord {
  const { loaded, deferred, excluded } = surface;
  const entries = catalogEntries(surface, policy, definitions).filter(
    (entry) => base === undefined || isNews(entry.tool_name, surface, base),
  );
  const removed = [...(base?.standing.keys() ?? [])].filter((name) => !surface.standing.has(name));
  return {
    revision: surface.revision,
    ...(base === undefined ? {} : { base_revision: base.revision }),
    profile: surface.profile.id,
    role: surface.role,
    mode: surface.mode,
    counts: { loaded: loaded.length, deferred: deferred.length, excluded: excluded.length },
    ...groupEntries(entries),
    ...(removed.length === 0 ? {} : { removed }),
  };
}

export function catalogEntries(
  surface: Surface,
  policy: Policy,
  definitions?: string,
): CatalogEntry[] {
  const about = { policy, profile: surface.profile, definitions };
  return [
    ...surface.loaded.map((tool) => entryOf(tool, "loaded", about)),
    ...surface.deferred.map((tool) => entryOf(tool, "deferred", about)),
    ...surface.excluded.map(({ tool_name, reason, detail, disabled_by }) => {
      const standing = surface.standing.get(tool_name);
      const tool = standing?.state === "excluded" ? standing.tool : undefined;
      const blocked: CatalogPolicy = reason === "policy_blocked" ? "denied" : "unavailable";
      const known = tool === undefined ? undefined : entryOf(tool, "excluded", about);
      const excluded = { tool_name, state: "excluded" as const, policy: blocked, reason, detail };
      return { ...known, ...excluded, ...omitUndefined({ disabled_by }) };
    }),
  ];
}

interface EntryContext {
  readonly policy: Policy;
  readonly profile: ModelProfile;
  readonly definitions: string | undefined;
}

function entryOf(
  tool: RegisteredTool,
  state: CatalogEntry["state"],
  { policy, profile, definitions }: EntryContext,
): CatalogEntry {
  const { input, definition } = tool;
  const facts = toolFacts(policy, tool);
  const { effects } = facts;
  const verdict = staticVerdict(policy, facts);
  return {
    tool_name: tool.name,
    state,
    description: definition.description,
    // A deferred tool's schema was not sent; it is found by its ref.
    ...(state === "loaded" ? { input_schema: input.original as JsonObject } : {}),
    ...schemaMark(tool, profile),
    capabilities: capabilitiesOf(tool.tags),
    policy: verdict.verdict,
    runtime_owner: ownerOf(tool),
    is_read_only: effects.read_only,
    is_concurrency_safe: effects.concurrency_safe,
    is_destructive: effects.destructive,
    is_open_world: effects.open_world,
    interrupt_behavior: tool.effects.interrupt_behavior,
    declared: tool.effects.declared,
    ...(definitions === undefined ? {} : { metadata_ref: `artifact:${definitions}#${tool.name}` }),
  };
}

function schemaMark(
  tool: RegisteredTool,
  profile: ModelProfile,
): Pick<CatalogEntry, "schema" | "relaxed"> {
  const offer = offeredSchema(tool, profile);
  if (offer.kind === "relaxed") return { schema: "relaxed", relaxed: offer.pointers };
  return { schema: tool.input.lowered.kind };
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

const CAPABILITIES: Readonly<Record<string, string>> = {
  readonly: "read",
  write: "write",
  network: "network",
  browser: "browser",
  filesystem: "filesystem",
  shell: "shell",
  artifact: "artifact",
};

/** Tags that only say where a tool comes from are no capability. */
const ORIGIN_TAGS: ReadonlySet<string> = new Set([
  "internal",
  "agent",
  "mcp",
  "code",
  "declarative",
]);

function capabilitiesOf(tags: readonly string[]): string[] {
  return tags.filter((tag) => !ORIGIN_TAGS.has(tag)).map((tag) => CAPABILITIES[tag] ?? tag);
}

function ownerOf(tool: RegisteredTool): string {
  if (tool.source.kind === "mcp") return "mcp_server";
  if (tool.definition.starts_agent === true) return "subagent";
  return tool.name.startsWith("agent.task_") ? "workflow" : "local";
}
