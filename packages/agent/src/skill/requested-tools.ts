// The tools a skill asks for, held against the surface of the run: what it has of them, and why not the others. A request
// changes nothing: neither the surface nor any permission.

import { SEARCH_TOOLS, type Surface } from "@soong/core";
import { matchesName } from "@soong/core/internal";

export interface RequestedTool {
  /** As the skill wrote it. */
  readonly requested: string;
  /** The tool that is meant, where there is one. */
  readonly tool_name?: string;
  readonly state: "loaded" | "deferred" | "excluded" | "unknown";
  readonly why?: string;
}

const MOST_OF_A_PATTERN = 30;

export function resolveRequestedTools(
  requests: readonly string[],
  surface: Pick<Surface, "standing" | "aliases">,
): RequestedTool[] {
  return requests.flatMap((requested) => {
    const names = matchToolNames(requested, surface);
    if (names.length === 0) return [{ requested, state: "unknown" as const }];
    return names.map((tool_name) => findStanding(requested, tool_name, surface));
  });
}

/** In a line each, for the model. */
export function describeRequests(tools: readonly RequestedTool[]): string {
  return tools
    .map((tool) => `- ${tool.tool_name ?? tool.requested}: ${describeToolState(tool)}`)
    .join("\n");
}

function describeToolState({ tool_name, state, why }: RequestedTool): string {
  switch (state) {
    case "loaded":
      return "available";
    case "deferred":
      return `deferred; load it with ${SEARCH_TOOLS} {"query": "select:${tool_name}"}`;
    case "excluded":
      return `not available in this run (${why})`;
    case "unknown":
      return "there is no tool of that name here";
  }
}

/** A restriction in parentheses is ignored: there is nothing here to narrow. */
function matchToolNames(
  requested: string,
  { standing, aliases }: Pick<Surface, "standing" | "aliases">,
): readonly string[] {
  const name = requested.replace(/\(.*$/s, "");
  if (standing.has(name)) return [name];
  const meant = aliases.get(name);
  if (meant !== undefined) return [meant];
  if (!name.includes("*") || name === "*") return [];
  const matching = [...standing.keys()].filter((known) => matchesName(name, known));
  return matching.toSorted().slice(0, MOST_OF_A_PATTERN);
}

function findStanding(
  requested: string,
  tool_name: string,
  { standing }: Pick<Surface, "standing">,
): RequestedTool {
  const found = standing.get(tool_name);
  if (found === undefined) return { requested, tool_name, state: "unknown" };
  if (found.state !== "excluded") return { requested, tool_name, state: found.state };
  return { requested, tool_name, state: "excluded", why: `${found.reason}: ${found.detail}` };
}
