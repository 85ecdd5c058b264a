// Resolving a surface (SURF-1, 2, 4, 9; SCHEMA-5): a pure function of registry, role, mode, policy,
// request and model. The same inputs give the same surface.

import { staticVerdict } from "../permission/index.ts";
import type { ExcludedTool } from "../registry/registry.ts";
import type { RegisteredTool } from "../registry/registered-tool.ts";
import { matchesName, type NamePattern } from "../tool/index.ts";
import { describeSeat, findStanding } from "./ceiling.ts";
import { chooseLoaded, SEARCH_TOOLS } from "./defer.ts";
import { toolFacts } from "./effects-under.ts";
import { schemaRefusal } from "./profile.ts";
import type {
  ResolvedSurface,
  Surface,
  SurfaceProblem,
  SurfaceRequest,
  SurfaceStanding,
} from "./surface.ts";

/** The tools a run may see: loaded, deferred and excluded, each with the reason (SURF-1). */
export function resolveSurface(request: SurfaceRequest): ResolvedSurface {
  const { registry, previous, role, mode, profile, allowedTools = [] } = request;
  const problems: SurfaceProblem[] = [];
  const excluded = listExcludedBySources(request);
  const included: RegisteredTool[] = [];
  const requested = readRequest(request, problems);
  for (const tool of registry.tools.values()) {
    const reason = findExclusion(tool, request, requested);
    if (reason === undefined) included.push(tool);
    else excluded.push({ tool_name: tool.name, ...reason });
  }
  // Tools asked for by their very name; a pattern asks only for what there is of it.
  const named = new Set(allowedTools.map((wanted) => registry.aliases.get(wanted) ?? wanted));
  // A tool of ours or one asked for by name that the model cannot take ends the run; others are omitted.
  for (const { tool_name, reason, detail } of excluded) {
    const isServers = registry.tools.get(tool_name)?.source.kind === "mcp";
    if (reason !== "model_unsupported" || (isServers && !named.has(tool_name))) continue;
    problems.push(createUnsupported(tool_name, detail));
  }
  reportExcludedRequests(request, included, excluded, problems);
  const choice = chooseLoaded(included, { ...request, named });
  const { loaded, deferred } = choice;
  excluded.push(...choice.excluded);
  // The search tool is checked last, because it is sent only when something is deferred.
  const search = loaded.find(({ name }) => name === SEARCH_TOOLS);
  const refusal = search && schemaRefusal(search, profile);
  if (refusal !== undefined) problems.push(createUnsupported(SEARCH_TOOLS, refusal));
  problems.push(...choice.problems);
  if (problems.length > 0) return { ok: false, problems };

  excluded.sort(byToolName);
  const standing = new Map<string, SurfaceStanding>();
  for (const tool of loaded) standing.set(tool.name, { state: "loaded", tool });
  for (const tool of deferred) standing.set(tool.name, { state: "deferred", tool });
  for (const { tool_name, reason, detail } of excluded) {
    const tool = registry.tools.get(tool_name);
    standing.set(tool_name, { state: "excluded", reason, detail, ...(tool && { tool }) });
  }
  const surface: Surface = {
    revision: (previous?.revision ?? 0) + 1,
    registryRevision: registry.revision,
    role,
    mode,
    profile,
    loaded,
    deferred,
    excluded,
    standing,
    aliases: registry.aliases,
  };
  const isSame = previous !== undefined && hasSameTools(previous, surface);
  return { ok: true, surface: isSame ? previous : surface };
}

/** One entry a name, and none for a name that another source does offer. */
function listExcludedBySources({ registry }: SurfaceRequest): ExcludedTool[] {
  const byName = new Map<string, ExcludedTool>();
  for (const entry of registry.excluded) {
    const isFirst = !byName.has(entry.tool_name);
    if (isFirst && !registry.tools.has(entry.tool_name)) byName.set(entry.tool_name, entry);
  }
  return [...byName.values()];
}

type Requested = ReadonlySet<string> | undefined;

/** The names allowed_tools selects; unknown ones are reported before anything starts. */
function readRequest(
  { allowedTools, skipMissingTools = false, registry }: SurfaceRequest,
  problems: SurfaceProblem[],
): Requested {
  const names = new Set<string>();
  for (const wanted of allowedTools ?? []) {
    const name = registry.aliases.get(wanted) ?? wanted;
    const isKnown = registry.excluded.some(({ tool_name }) => tool_name === name);
    const matches = registry.tools.has(name)
      ? [name]
      : [...registry.tools.keys()].filter((candidate) => matchesName(name, candidate));
    if (isKnown) matches.push(name);
    for (const match of matches) names.add(match);
    if (matches.length > 0 || skipMissingTools) continue;
    const message = `allowed_tools names "${wanted}", but no tool of that name is registered`;
    problems.push({ code: "unknown_tool", tool_name: wanted, message });
  }
  return allowedTools && names;
}

type Exclusion = Omit<ExcludedTool, "tool_name"> | undefined;

function findExclusion(
  tool: RegisteredTool,
  request: SurfaceRequest,
  requested: Requested,
): Exclusion {
  const { role, mode, policy } = request;
  const facts = toolFacts(policy, tool);
  const findMatch = (patterns: readonly NamePattern[] | undefined): string | undefined =>
    patterns?.find((pattern) => matchesName(pattern, tool.name));
  const off = findMatch(request.disabled);
  if (off !== undefined) {
    return { reason: "disabled", detail: `switched off by "${off}" in config` };
  }
  const itself = request.refusedByThemselves?.get(tool.name);
  if (itself !== undefined) {
    return { reason: "disabled", detail: itself, disabled_by: "tool" };
  }
  const standing = findStanding(tool, role, mode);
  if (standing === "never") {
    return { reason: "role_not_allowed", detail: `never given to ${describeSeat(role, mode)}` };
  }
  if (mode === "plan" && !facts.effects.read_only) {
    return { reason: "mode_restricted", detail: "plan mode has readonly tools only" };
  }
  const { verdict, reason } = staticVerdict(policy, facts);
  if (verdict === "denied") return { reason: "policy_blocked", detail: reason };
  const task = findMatch(request.taskDenied);
  if (task !== undefined) return { reason: "policy_blocked", detail: `the task denies "${task}"` };
  if (tool.name === SEARCH_TOOLS) return undefined;
  if (requested === undefined && standing === "on_request") {
    return { reason: "not_requested", detail: `${role} agents get it on request only` };
  }
  if (requested?.has(tool.name) === false) {
    return { reason: "not_requested", detail: "not in allowed_tools" };
  }
  const refusal = schemaRefusal(tool, request.profile);
  return refusal === undefined ? undefined : { reason: "model_unsupported", detail: refusal };
}

function createUnsupported(tool_name: string, detail: string): SurfaceProblem {
  const message = `"${tool_name}" cannot be sent to this model: ${detail}`;
  return { code: "unsupported_capability", tool_name, message };
}

/** A pattern asks for what there is of it; a name asks for that very tool. */
function reportExcludedRequests(
  { allowedTools = [], skipMissingTools = false, registry }: SurfaceRequest,
  included: readonly RegisteredTool[],
  excluded: readonly ExcludedTool[],
  problems: SurfaceProblem[],
): void {
  for (const wanted of skipMissingTools ? [] : allowedTools) {
    const name = registry.aliases.get(wanted) ?? wanted;
    if (included.some((tool) => matchesName(name, tool.name))) continue;
    const [found] = excluded
      .filter(({ reason }) => reason !== "model_unsupported")
      .filter(({ tool_name }) => matchesName(name, tool_name))
      .toSorted(byToolName);
    if (found === undefined) continue;
    const why = `${found.reason}: ${found.detail}`;
    const message = `allowed_tools names "${wanted}", which this run cannot have (${why})`;
    problems.push({ code: "tool_excluded", tool_name: wanted, message });
  }
}

function byToolName(a: ExcludedTool, b: ExcludedTool): number {
  return a.tool_name < b.tool_name ? -1 : a.tool_name > b.tool_name ? 1 : 0;
}

/** Nothing a model, the user or the next call could distinguish: then it is the same revision. */
function hasSameTools(a: Surface, b: Surface): boolean {
  const sameTools = (x: readonly RegisteredTool[], y: readonly RegisteredTool[]): boolean =>
    x.length === y.length &&
    x.every((tool, i) => tool.name === y[i]?.name && tool.generation === y[i]?.generation);
  return (
    sameTools(a.loaded, b.loaded) &&
    sameTools(a.deferred, b.deferred) &&
    a.excluded.length === b.excluded.length &&
    a.excluded.every((entry, i) => {
      const other = b.excluded[i];
      return entry.tool_name === other?.tool_name && entry.reason === other.reason;
    })
  );
}
