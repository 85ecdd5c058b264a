// The surface as a client lists it (GATE-1, GATE-3): loaded tools under their wire names, what they do described
// truthfully, and, where tools are deferred, one entry through which any of them can be called.

import type { Tool } from "@modelcontextprotocol/server";
import { SEARCH_TOOLS, type ModelTools, type Run } from "@soong/core";
import { catalogEntries } from "@soong/core/internal";
import { isRelayTool } from "../relay/index.ts";

/**
 * Large catalogs: deferred tools are not listed, internal.search_tools is. What it finds is listed from then
 * on and list_changed is sent; but two of six hosts ignore that, and a host's model can only call what was
 * listed. So a third way never depends on it: the answer of a search carries wire names and schemas, and this
 * entry, listed from the start, passes a call on. The pipeline, the record and the question to the user are
 * those of the tool that is named, never of this entry. No name of ours is without a dot, so no wire name is
 * this one.
 */
export const CALL_TOOL = "call_tool";

/**
 * No output schemas: a client holds every result against a schema it was shown, and a result that was
 * shortened, or says where the rest of it is, would be refused.
 */
export function listTools(run: Run, { tools, names }: ModelTools): Tool[] {
  const entries = new Map(
    catalogEntries(run.surface, run.policy).map((entry) => [entry.tool_name, entry]),
  );
  const listed = tools.flatMap(({ name, description, input_schema }): Tool[] => {
    const canonical = names.toCanonical(name) ?? name;
    // Prompts and resources have requests of their own.
    if (isRelayTool(canonical)) return [];
    const entry = entries.get(canonical);
    const standing = run.surface.standing.get(canonical);
    const title = standing?.tool?.definition.title;
    const tool: Tool = {
      name,
      title,
      description,
      inputSchema: { ...(input_schema as object), type: "object" },
      // Whether a call may be repeated is not known of any tool, so it is not said.
      annotations: {
        readOnlyHint: entry?.is_read_only === true,
        destructiveHint: entry?.is_destructive !== false,
        openWorldHint: entry?.is_open_world !== false,
      },
    };
    return [tool];
  });
  return offersCallTool(run) ? [...listed, callTool(names.toWire(SEARCH_TOOLS))] : listed;
}

/** Search stays on a surface that ever deferred a tool, and so does this. */
export function offersCallTool(run: Run): boolean {
  return run.surface.standing.get(SEARCH_TOOLS)?.state === "loaded";
}

function callTool(search: string): Tool {
  return {
    name: CALL_TOOL,
    title: "Call a tool by name",
    description: `Call a tool that ${search} has found and that is not in your list: its name and arguments, as the answer of ${search} describes them.`,
    inputSchema: {
      type: "object",
      properties: {
        name: { type: "string", description: `The name, as ${search} gave it.` },
        arguments: { type: "object", description: "The arguments of that tool." },
      },
      required: ["name"],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  };
}
