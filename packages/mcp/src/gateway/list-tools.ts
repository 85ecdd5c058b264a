// The surface as a client lists it (GATE-1, GATE-3): loaded tools under their wire names, what they do described
// truthfully, and, where tools are deferred, one entry through which any of them can be called.

import type { Tool } from "@modelcontextprotocol/server";
import {
  SEARCH_TOOLS,
  type JsonObject,
  type ModelTools,
  type Run,
  type ToolResult,
} from "@soong/core";
import { catalogEntries } from "@soong/core/internal";
import { isJsonObject } from "@soong/schema";
import { canonicalName } from "../catalog/build-catalog.ts";
import { isRelayTool } from "../relay/relay-tools.ts";

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
  const { standing } = run.surface;
  const entries = new Map(
    catalogEntries(run.surface, run.policy).map((entry) => [entry.tool_name, entry]),
  );
  const listed = tools.flatMap(({ name, description, input_schema }): Tool[] => {
    const canonical = names.toCanonical(name) ?? name;
    // Prompts and resources have requests of their own.
    if (isRelayTool(canonical)) return [];
    const entry = entries.get(canonical);
    const tool: Tool = {
      name,
      title: standing.get(canonical)?.tool?.definition.title,
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
  // Search stays on a surface that ever deferred a tool, and so does this.
  const isSearched = standing.get(SEARCH_TOOLS)?.state === "loaded";
  return isSearched ? [...listed, describeCallTool(names.toWire(SEARCH_TOOLS))] : listed;
}

function describeCallTool(search: string): Tool {
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

/** Ten kilobytes, less the room for the notice that says where the rest is. */
export const INLINE_LIMIT_BYTES = 9_000;
/** What a tool takes of the answer whose schema is omitted. */
const NAME_BYTES = 110;

/**
 * The answer of a search, completed for a client that never lists again: under which name each found tool is called
 * here, and with which arguments.
 */
export function withFoundTools(result: ToolResult, { tools, names }: ModelTools): ToolResult {
  const { data } = result;
  if (!isJsonObject(data)) return result;
  const found = [data["loaded"], data["already_loaded"]]
    .flatMap((held) => (Array.isArray(held) ? held : []))
    .filter((name) => typeof name === "string");
  if (found.length === 0) return result;
  const taken = Buffer.byteLength(JSON.stringify(data)) + found.length * NAME_BYTES;
  let room = INLINE_LIMIT_BYTES - taken;
  const callable = found.flatMap((canonical): JsonObject[] => {
    const name = names.toWire(canonical);
    const tool = tools.find((listed) => listed.name === name);
    if (tool === undefined) return [];
    const input_schema = tool.input_schema as JsonObject;
    const whole = { name, description: tool.description, input_schema };
    const size = Buffer.byteLength(JSON.stringify(whole));
    if (size > room) return [{ name, input_schema: "too long for this answer: see tools/list" }];
    room -= size;
    return [whole];
  });
  const how_to_call = `By name where your list of tools has it, else through ${CALL_TOOL}.`;
  const whole: JsonObject = { ...data, callable, how_to_call };
  return { ...result, data: whole, content: [{ type: "json", json: whole }] };
}

const PLAIN = /^[A-Za-z0-9_-]{1,45}$/u;

const renamed = new WeakMap<ModelTools, ModelTools>();

/**
 * The names a client sees. One server served alone keeps its tools' own names, so that it can take the place in a host's
 * config where the server stood: where they are names every host can take, and nothing else is called so. With several,
 * `mcp.github.create_issue` is `github_create_issue`. The wire name is taken as well, as it was recorded. The same object for
 * the same list.
 */
export function underOwnNames(shown: ModelTools, server_id: string | undefined): ModelTools {
  const known = renamed.get(shown);
  if (known !== undefined) return known;
  const taken = new Set([CALL_TOOL, ...shown.tools.map(({ name }) => name)]);
  const toOwn = new Map<string, string>();
  const toCanonical = new Map<string, string>();
  for (const { name: wire } of shown.tools) {
    const canonical = shown.names.toCanonical(wire) ?? wire;
    const own = server_id === undefined ? shortName(canonical) : ownName(canonical, server_id);
    if (own === undefined || !PLAIN.test(own) || taken.has(own)) continue;
    toOwn.set(canonical, own);
    toCanonical.set(own, canonical);
  }
  const names = {
    toWire: (canonical: string) => toOwn.get(canonical) ?? shown.names.toWire(canonical),
    toCanonical: (wire: string) =>
      toCanonical.get(wire) ?? shown.names.toCanonical(wire) ?? findDeferred(wire, shown.names),
  };
  const tools = shown.tools.map((tool) => ({
    ...tool,
    name: names.toWire(shown.names.toCanonical(tool.name) ?? tool.name),
  }));
  const own: ModelTools = { ...shown, names, tools };
  renamed.set(shown, own);
  return own;
}

/** A tool that is not listed yet may be called all the same. */
function findDeferred(short: string, names: ModelTools["names"]): string | undefined {
  const canonical = `mcp.${short.replace("_", ".")}`;
  const isKnown = shortName(canonical) === short && names.toCanonical(names.toWire(canonical));
  return isKnown === canonical ? canonical : undefined;
}

function ownName(canonical: string, server_id: string): string | undefined {
  const prefix = canonicalName(server_id, "");
  return canonical.startsWith(prefix) ? canonical.slice(prefix.length) : undefined;
}

/**
 * Injective without a look at other names (NAME-3): the server's id ends at the first "_", and no wire name of any other tool
 * is without "__". What does not fit keeps its wire name.
 */
function shortName(canonical: string): string | undefined {
  const [, server, tool] = /^mcp\.([A-Za-z][A-Za-z0-9]*)\.(.+)$/u.exec(canonical) ?? [];
  if (server === undefined || tool === undefined || `_${tool}`.includes("__")) return undefined;
  return `${server}_${tool}`;
}
