// The tools a run sees at one revision, each with why and with what it costs to show. The first fact has all of them, each
// later one what changed.

import type { CatalogEntry, Fact, FactData } from "@soong/core";
import { entriesIn } from "@soong/core/internal";
import { asRecord } from "@soong/schema";
import type { SurfaceTool, SurfaceView } from "../wire/session-records.ts";
import {
  readDefinitions,
  readEntryTool,
  type Definitions,
  type RecordedTool,
} from "./definitions.ts";
import { textIn } from "./read-data.ts";
import { soundFact } from "./sound-fact.ts";

interface SurfaceOptions {
  readonly run_id: string;
  /** Default: as it is now. */
  readonly revision?: number;
  /** The JSON of the artifact that `findDefinitions` names. */
  readonly definitions?: unknown;
}

/** `facts`: the `tool.catalog.resolved` of the run, in order; others are passed over. */
export function surfaceView(
  facts: readonly Fact[],
  { run_id, revision, definitions }: SurfaceOptions,
): SurfaceView | undefined {
  const catalog = catalogAt(facts, revision);
  if (catalog === undefined) return undefined;
  const recorded = readDefinitions(definitions);
  const tools = catalog.tools.map((entry): SurfaceTool => {
    const { tokens, description } = findDefinition(entry, recorded);
    // Where many tools are recorded together, what each is said to do is in the definitions.
    return { ...entry, description: entry.description ?? (description || undefined), tokens };
  });
  const sum = (state: CatalogEntry["state"]) =>
    tools.reduce((total, tool) => total + (tool.state === state ? tool.tokens : 0), 0);
  const { revision: at, role, mode, profile } = catalog.about;
  return {
    run_id,
    revision: at,
    role,
    mode,
    profile,
    tools,
    tokens: {
      loaded: sum("loaded"),
      deferred_names: namesTokens(catalog.tools, recorded),
      deferred_in_full: sum("deferred"),
    },
    revisions: catalog.revisions,
  };
}

export interface CatalogAt {
  /** The fact that made it so, and what it carries. */
  readonly seq: number;
  readonly about: FactData<"tool.catalog.resolved">;
  /** Loaded ones first, then deferred, then excluded. */
  readonly tools: readonly CatalogEntry[];
  readonly revisions: SurfaceView["revisions"];
}

/** Undefined where there was no such revision. */
export function catalogAt(facts: readonly Fact[], revision?: number): CatalogAt | undefined {
  const entries = new Map<string, CatalogEntry>();
  const revisions: { revision: number; seq: number; changed: number }[] = [];
  let last: Pick<CatalogAt, "seq" | "about"> | undefined;
  let isDone = false;
  for (const { type, seq, data } of facts.map(soundFact)) {
    if (type !== "tool.catalog.resolved" || data.revision < 0) continue;
    const { revision: at, removed = [] } = data;
    const tools = entriesIn(data).flatMap((entry) => wholeEntry(entry));
    revisions.push({ revision: at, seq, changed: tools.length + removed.length });
    if (isDone) continue;
    if (data.base_revision === undefined) entries.clear();
    for (const name of removed) entries.delete(name);
    for (const entry of tools) entries.set(entry.tool_name, entry);
    last = { seq, about: data };
    isDone = at === revision;
  }
  if (last === undefined || (revision !== undefined && !isDone)) return undefined;
  const tools = [...entries.values()].toSorted((a, b) => ORDER[a.state] - ORDER[b.state]);
  return { ...last, tools, revisions };
}

export function findDefinition(entry: CatalogEntry, recorded: Definitions): RecordedTool {
  return recorded.get(entry.tool_name) ?? readEntryTool(entry);
}

const ORDER = { loaded: 0, deferred: 1, excluded: 2 } as const;

function wholeEntry(entry: CatalogEntry): CatalogEntry[] {
  const data = asRecord(entry);
  const tool_name = textIn(data, "tool_name");
  const state = textIn(data, "state") ?? "";
  if (tool_name === undefined || !Object.hasOwn(ORDER, state)) return [];
  const policy = textIn(data, "policy") ?? "unavailable";
  return [{ ...data, tool_name, state, policy } as CatalogEntry];
}

/** As a model is sent them: a name and a hint each. */
const MOST_HINT_CHARS = 200;

function namesTokens(tools: readonly CatalogEntry[], recorded: Definitions): number {
  let chars = 0;
  for (const entry of tools) {
    if (entry.state !== "deferred") continue;
    const { name, search_hint, title = "" } = findDefinition(entry, recorded);
    chars += name.length + (search_hint ?? title).slice(0, MOST_HINT_CHARS).length;
  }
  return Math.ceil(chars / 4);
}
