// Which of the included tools are sent with their schema, and in which order (SURF-7, SEARCH-1).

import type { ExcludedTool } from "../registry/registry.ts";
import type { RegisteredTool } from "../registry/registered-tool.ts";
import { listBudgetTokens, nameTokens } from "./model-tools.ts";
import { offeredSchema, type ModelProfile } from "./profile.ts";
import type { JsonSchema } from "@soong/schema";
import type { SurfaceProblem, SurfaceRequest } from "./surface.ts";

/** The tool by which a model finds deferred tools. */
export const SEARCH_TOOLS = "internal.search_tools";

export interface LoadRequest extends Pick<
  SurfaceRequest,
  "profile" | "deferBudgetTokens" | "suggestedTools" | "loadedLater" | "previous"
> {
  /** Asked for by name: none of these is quietly omitted. */
  readonly named: ReadonlySet<string>;
}

export interface LoadChoice {
  loaded: readonly RegisteredTool[];
  deferred: RegisteredTool[];
  excluded: ExcludedTool[];
  problems: SurfaceProblem[];
}

export function chooseLoaded(
  included: readonly RegisteredTool[],
  request: LoadRequest,
): LoadChoice {
  const byName = new Map(included.map((tool) => [tool.name, tool]));
  const search = byName.get(SEARCH_TOOLS);
  byName.delete(SEARCH_TOOLS);
  const ordered = [...byName.values()].toSorted(inFixedOrder);
  const kept = new Set(request.previous?.loaded.map(({ name }) => name));
  for (const name of request.loadedLater ?? []) kept.add(name);
  const held = new Set(request.previous?.deferred.map(({ name }) => name));

  const deferred = new Set<RegisteredTool>();
  if (search !== undefined) {
    const later = new Set(request.loadedLater);
    for (const tool of ordered) {
      // What was found later was deferred at first: a resumed run chooses as the first one did.
      const isFirst = request.previous === undefined && later.has(tool.name);
      const asked = (tool.definition.defer === true || held.has(tool.name)) && !kept.has(tool.name);
      if (isFirst || (asked && tool.definition.always_load !== true)) deferred.add(tool);
    }
    deferOverBudget(ordered, deferred, kept, request, search);
    for (const tool of deferred) if (later.has(tool.name)) deferred.delete(tool);
  }
  const loaded = ordered.filter((tool) => !deferred.has(tool));
  if (search !== undefined && deferred.size > 0) loaded.push(search);
  loaded.sort(inFixedOrder);
  const excluded: ExcludedTool[] = [];
  if (search !== undefined && deferred.size === 0) {
    excluded.push({
      tool_name: SEARCH_TOOLS,
      reason: "nothing_deferred",
      detail: "every tool of this run is loaded",
    });
  }
  const problems = leaveOutOverLimit(loaded, excluded, request);
  return { loaded: inLoadOrder(loaded, request), deferred: [...deferred], excluded, problems };
}

/** What it costs to send a tool, in tokens of about four characters. */
export function estimateTokens(tool: RegisteredTool, profile?: ModelProfile): number {
  const { name, definition, input } = tool;
  const offer = profile === undefined ? undefined : offeredSchema(tool, profile);
  const schema = offer?.kind === "relaxed" ? offer.schema : input.lowered.schema;
  return estimateDefinition(name, definition.description, schema);
}

export function estimateDefinition(name: string, description: string, schema: JsonSchema): number {
  let chars = lengths.get(schema);
  if (chars === undefined) {
    chars = JSON.stringify(schema).length;
    lengths.set(schema, chars);
  }
  return Math.ceil((name.length + description.length + chars) / 4);
}

/** By the schema: it outlives the tool where a source lists the same again. */
const lengths = new WeakMap<JsonSchema, number>();

const KIND_RANK = { internal: 0, agent: 0, code: 0, declarative: 1, mcp: 2 } as const;

function inFixedOrder(a: RegisteredTool, b: RegisteredTool): number {
  const rank = KIND_RANK[a.source.kind] - KIND_RANK[b.source.kind];
  if (rank !== 0) return rank;
  return a.name < b.name ? -1 : 1;
}

/** MCP first, largest first; what the run needs and what was asked for stays. */
function deferOverBudget(
  ordered: readonly RegisteredTool[],
  deferred: Set<RegisteredTool>,
  kept: ReadonlySet<string>,
  request: LoadRequest,
  search: RegisteredTool,
): void {
  const { deferBudgetTokens, profile, suggestedTools = [] } = request;
  const maxTools = profile.max_tools ?? Number.POSITIVE_INFINITY;
  const costOf = (tool: RegisteredTool): number => estimateTokens(tool, profile);
  let tokens = costOf(search);
  let count = 1;
  // Names cost, too: up to their part of the budget they are listed.
  const mostListed = listBudgetTokens(deferBudgetTokens);
  let listed = 0;
  for (const tool of deferred) listed += nameTokens(tool);
  for (const tool of ordered) {
    if (deferred.has(tool)) continue;
    tokens += costOf(tool);
    count += 1;
  }
  const fits = (): boolean =>
    tokens + Math.min(listed, mostListed) <= deferBudgetTokens && count <= maxTools;
  // Without anything deferred the search tool itself is not sent.
  if (deferred.size === 0) {
    const withoutSearch = tokens - costOf(search);
    if (withoutSearch <= deferBudgetTokens && count - 1 <= maxTools) return;
  } else if (fits()) return;

  const suggested = new Set(suggestedTools);
  const candidates = ordered
    .filter((tool) => !deferred.has(tool) && !kept.has(tool.name) && mayDefer(tool))
    .toSorted((a, b) => {
      const preference = Number(suggested.has(a.name)) - Number(suggested.has(b.name));
      if (preference !== 0) return preference;
      const rank = KIND_RANK[b.source.kind] - KIND_RANK[a.source.kind];
      return rank !== 0 ? rank : costOf(b) - costOf(a) || inFixedOrder(a, b);
    });
  for (const tool of candidates) {
    if (fits()) return;
    deferred.add(tool);
    tokens -= costOf(tool);
    listed += nameTokens(tool);
    count -= 1;
  }
}

function mayDefer(tool: RegisteredTool): boolean {
  const { kind } = tool.source;
  if (tool.definition.always_load === true || kind === "agent" || kind === "internal") return false;
  return !(kind === "code" && tool.name.startsWith("code."));
}

/** More than the model takes even so: external tools go, loudly; ours end the run (SCHEMA-5). */
function leaveOutOverLimit(
  loaded: RegisteredTool[],
  excluded: ExcludedTool[],
  { profile, named }: LoadRequest,
): SurfaceProblem[] {
  const { max_tools, id } = profile;
  if (max_tools === undefined) return [];
  for (let i = loaded.length - 1; i >= 0 && loaded.length > max_tools; i -= 1) {
    const tool = loaded[i];
    if (tool?.source.kind !== "mcp" || named.has(tool.name)) continue;
    loaded.splice(i, 1);
    excluded.push({
      tool_name: tool.name,
      reason: "model_unsupported",
      detail: `the model profile "${id}" takes ${max_tools} tools`,
    });
  }
  if (loaded.length <= max_tools) return [];
  const tool_name = loaded[max_tools]?.name ?? "";
  const message = `the model profile "${id}" takes ${max_tools} tools, and this run needs ${loaded.length}`;
  return [{ code: "unsupported_capability", tool_name, message }];
}

/** What an earlier revision showed keeps its place; what came later is appended as it came. */
function inLoadOrder(
  loaded: readonly RegisteredTool[],
  { previous, loadedLater = [] }: LoadRequest,
): readonly RegisteredTool[] {
  if (previous === undefined && loadedLater.length === 0) return loaded;
  const byName = new Map(loaded.map((tool) => [tool.name, tool]));
  const first = previous?.loaded ?? loaded.filter(({ name }) => !loadedLater.includes(name));
  const order = [...first.map(({ name }) => name), ...loadedLater, ...byName.keys()];
  return [...new Set(order)].flatMap((name) => byName.get(name) ?? []);
}
