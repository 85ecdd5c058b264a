// Everything a server lists, sorted: tools for the registry, and for each of the others its reason. None is
// lost without a word (REG-2, MCP-1, MCP-6, MCP-7).

import type { AnyTool, ExcludedTool, ExclusionReason } from "@soong/core";
import { parameterHeaders } from "../connection/index.ts";
import type { McpServerEntry } from "../settings/index.ts";
import type { ListedTools } from "./list-tools.ts";
import type { Pins } from "./pins.ts";
import { safeLine } from "./safe-text.ts";
import { readServerTool, type ServerTool } from "./server-tool.ts";
import {
  canonicalName,
  serverToolNameProblem,
  toolDefinition,
  type HandlerOf,
} from "./tool-definition.ts";

export interface Catalog {
  readonly tools: readonly AnyTool[];
  /** What the server says of them, by its own names. */
  readonly offered: ReadonlyMap<string, ServerTool>;
  readonly excluded: readonly ExcludedTool[];
  /** Definitions that are not those that were allowed; `accept` takes them. */
  readonly changed: readonly ServerTool[];
}

export interface CatalogParts {
  readonly entry: McpServerEntry;
  readonly listed: ListedTools;
  readonly pins: Pick<Pins, "check">;
  readonly handlerOf: HandlerOf;
}

const OFF_HTTP = { ok: true } as const;
const MAX_SHOWN_NAME = 120;
const MAX_SHOWN_CHANGES = 1_500;

export function buildCatalog({ entry, listed, pins, handlerOf }: CatalogParts): Catalog {
  const tools: AnyTool[] = [];
  const offered = new Map<string, ServerTool>();
  const excluded: ExcludedTool[] = [];
  const changed: ServerTool[] = [];
  const { server_id } = entry;
  const read = listed.tools.map(readServerTool);
  const times = new Map<string, number>();
  for (const one of read) if (one.ok) times.set(one.tool.name, (times.get(one.tool.name) ?? 0) + 1);

  for (const one of read) {
    if (one.ok) sort(one.tool);
    else exclude(one.name ?? "(no name)", "invalid_definition", `it is excluded: ${one.problem}`);
  }
  if (listed.cutShort !== undefined) {
    exclude("*", "invalid_definition", `the list of its tools is not whole: ${listed.cutShort}`);
  }
  return { tools, offered, excluded, changed };

  function sort(tool: ServerTool): void {
    const { name } = tool;
    const problem = serverToolNameProblem(server_id, name);
    if (problem !== undefined) return exclude(name, "invalid_definition", `its name ${problem}`);
    const count = times.get(name) ?? 0;
    // Which of several a call would reach only the server knows, so it is none. Said once.
    times.set(name, 0);
    if (count === 0) return undefined;
    if (count > 1) {
      return exclude(name, "invalid_definition", `the server lists this name ${count} times`);
    }
    // Over HTTP an intermediary could read something else than the server.
    const mirrored =
      entry.transport.kind === "http" ? parameterHeaders(tool.input_schema) : OFF_HTTP;
    if (!mirrored.ok)
      return exclude(name, "invalid_definition", `its ${safeLine(mirrored.problem, 300)}`);
    if (entry.disabled_tools.includes(name)) {
      return exclude(name, "disabled", `disabled in ${entry.place.file}`);
    }
    const state = pins.check(server_id, tool);
    if (state.kind === "changed") {
      changed.push(tool);
      return exclude(name, "definition_changed", changeDetail(server_id, state.changes));
    }
    offered.set(name, tool);
    tools.push(toolDefinition(entry, tool, handlerOf));
    return undefined;
  }

  function exclude(name: string, reason: ExclusionReason, detail: string): void {
    const tool_name = canonicalName(server_id, safeLine(name, MAX_SHOWN_NAME));
    excluded.push({ tool_name, reason, detail });
  }
}

function changeDetail(server_id: string, changes: readonly string[]): string {
  const words = safeLine(changes.join("; "), MAX_SHOWN_CHANGES);
  return `the server changed it after it was allowed: ${words}. To allow it as it is now: soong mcp accept ${server_id}`;
}
