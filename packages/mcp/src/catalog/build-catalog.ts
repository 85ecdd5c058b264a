// Everything a server lists, sorted: tools for the registry, and for each of the others its reason. None is lost
// without a word (REG-2, MCP-1, MCP-6, MCP-7). Trust comes from the user's entry; what the server says of its own
// tool may only make it stricter (SCHEMA-3).

import {
  readSchema,
  type AnyTool,
  type ExcludedTool,
  type ExclusionReason,
  type JsonObject,
  type ToolContext,
} from "@soong/core";
import { nameProblem } from "@soong/core/internal";
import { repairSchema } from "@soong/schema";
import { parameterHeaders } from "../connection/parameter-headers.ts";
import type { McpServerEntry } from "../settings/index.ts";
import { readServerTool, type ListedTools, type ServerTool } from "./list-tools.ts";
import type { Pins } from "./pins.ts";
import { safeLine, safeSchema, safeText } from "./safe-text.ts";

export interface Catalog {
  readonly tools: readonly AnyTool[];
  /** What the server says of them, by its own names. */
  readonly offered: ReadonlyMap<string, ServerTool>;
  readonly excluded: readonly ExcludedTool[];
  /** Definitions that are not those that were allowed; `accept` takes them. */
  readonly changed: readonly ServerTool[];
}

export type HandlerFor = (
  tool: ServerTool,
  isReadonly: boolean,
) => (input: JsonObject, context: ToolContext) => unknown;

const MAX_SHOWN_NAME = 120;
const MAX_SHOWN_CHANGES = 1_500;
const MAX_DESCRIPTION_CHARS = 16_000;
const MAX_TITLE_CHARS = 200;

/**
 * Above the server's own limit, which progress renews: the handler ends the call, and the
 * kernel's maximum stays what it is.
 */
export const HANDLER_TIMEOUT_MS = 24 * 60 * 60 * 1000;

export function buildCatalog(
  entry: McpServerEntry,
  listed: ListedTools,
  pins: Pick<Pins, "check">,
  handlerFor: HandlerFor,
): Catalog {
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
    else exclude(one.name ?? "(no name)", `it is excluded: ${one.problem}`);
  }
  if (listed.cutShort !== undefined) {
    exclude("*", `the list of its tools is not whole: ${listed.cutShort}`);
  }
  return { tools, offered, excluded, changed };

  function sort(tool: ServerTool): void {
    const { name } = tool;
    const problem = serverToolNameProblem(server_id, name);
    if (problem !== undefined) return exclude(name, `its name ${problem}`);
    const count = times.get(name) ?? 0;
    // Which of several a call would reach only the server knows, so it is none. Said once.
    times.set(name, 0);
    if (count === 0) return undefined;
    if (count > 1) return exclude(name, `the server lists this name ${count} times`);
    // Over HTTP an intermediary could read something else than the server.
    const mirrored = entry.transport.kind === "http" && parameterHeaders(tool.input_schema);
    if (mirrored && !mirrored.ok) return exclude(name, `its ${safeLine(mirrored.problem, 300)}`);
    if (entry.disabled_tools.includes(name)) {
      return exclude(name, `disabled in ${entry.place.file}`, "disabled");
    }
    const state = pins.check(server_id, tool);
    if (state.kind === "changed") {
      changed.push(tool);
      const words = safeLine(state.changes.join("; "), MAX_SHOWN_CHANGES);
      const detail = `the server changed it after it was allowed: ${words}. To allow it as it is now: soong mcp accept ${server_id}`;
      return exclude(name, detail, "definition_changed");
    }
    offered.set(name, tool);
    tools.push(defineTool(entry, tool, handlerFor));
    return undefined;
  }

  function exclude(
    name: string,
    detail: string,
    reason: ExclusionReason = "invalid_definition",
  ): void {
    const tool_name = canonicalName(server_id, safeLine(name, MAX_SHOWN_NAME));
    excluded.push({ tool_name, reason, detail });
  }
}

function defineTool(entry: McpServerEntry, tool: ServerTool, handlerFor: HandlerFor): AnyTool {
  const { server_id } = entry;
  const { annotations = {}, output_schema } = tool;
  const effects = declareEffects(entry, tool);
  const handler = handlerFor(tool, effects.permission === "readonly");
  const given = tool.title ?? annotations["title"];
  const title = typeof given === "string" ? safeLine(given, MAX_TITLE_CHARS) : "";
  const input = repairSchema(safeSchema(tool.input_schema) as JsonObject);
  // A result cannot be held to a schema that is none; that is no reason to do without the tool.
  const output = output_schema && readSchema(output_schema);
  const [problem] = output?.ok === false ? output.problems : [];
  const metadata: JsonObject = { server_id, server_tool: tool.name };
  if (tool.annotations !== undefined) metadata["annotations"] = knownHints(annotations);
  // Places that are no schema, which a model is not shown and a call is not held to (MCP-10).
  if (input.pointers.length > 0) metadata["input_schema_relaxed"] = [...input.pointers];
  if (problem !== undefined) {
    metadata["output_schema_ignored"] = safeLine(`${problem.pointer} ${problem.message}`, 300);
  }
  const own = safeText(tool.description ?? "", MAX_DESCRIPTION_CHARS).trim();
  const words = own === "" ? `${title || tool.name} (no description given)` : own;
  const about = entry.description && `\n\nOf the server ${server_id}: ${entry.description}`;
  return {
    name: canonicalName(server_id, tool.name),
    description: `${words}${about ?? ""}`,
    input_schema: input.schema,
    title: title || undefined,
    ...(output?.ok === true && { output_schema: safeSchema(output_schema) as JsonObject }),
    ...effects,
    timeout_ms: HANDLER_TIMEOUT_MS,
    metadata,
    ...hostTargets(entry),
    handler: (input, context) => handler(input as JsonObject, context),
  };
}

export function canonicalName(server_id: string, name: string): string {
  return `mcp.${server_id}.${name}`;
}

/** Why the server's name for its tool cannot be part of ours. */
function serverToolNameProblem(server_id: string, name: string): string | undefined {
  // A rule for this tool would be a rule for others; a word for ours, such as "@read_resource", one for this tool.
  if (name.includes("*")) return 'has a "*", which means any name in rules';
  if (name.startsWith("@")) return 'begins with "@", as names do that are not a server\'s to give';
  const source = { kind: "mcp", id: server_id, trusted: false } as const;
  return nameProblem(canonicalName(server_id, name), source);
}

/** What the user's word and the server's make of it together. */
function declareEffects(
  entry: McpServerEntry,
  { name, annotations = {} }: ServerTool,
): Pick<
  AnyTool,
  "permission" | "concurrency_safe" | "interrupt_behavior" | "destructive" | "open_world" | "tags"
> {
  const { readonly_tools, network } = entry;
  const { readOnlyHint, destructiveHint, openWorldHint } = annotations;
  const saysItWrites = readOnlyHint === false || destructiveHint === true;
  // A name the user wrote out is theirs to vouch for; "all" does not cover what the server itself warns of.
  const isReadonly = readonly_tools === "all" ? !saysItWrites : readonly_tools.includes(name);
  return {
    // Left open where neither says a word: a mark of the user in a policy still decides about that.
    ...(isReadonly ? { permission: "readonly" } : saysItWrites && { permission: "write" }),
    // True without a word about it; what is not readonly runs alone either way (SCHED-10).
    concurrency_safe: mayRunBeside(entry, name) && !saysItWrites,
    interrupt_behavior: isReadonly ? "cancel" : "block",
    ...(destructiveHint === true && !isReadonly && { destructive: true }),
    ...(openWorldHint === true && { open_world: true }),
    // A local program is on the network where it says so itself, and the user says nothing of it.
    ...(openWorldHint === true && network === undefined && { tags: ["network"] }),
  };
}

/** Whether a readonly tool of the server may run beside its siblings. */
export function mayRunBeside({ concurrency_safe }: McpServerEntry, name: string): boolean {
  return concurrency_safe === undefined || concurrency_safe.includes(name);
}

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

function knownHints(annotations: JsonObject): JsonObject {
  const known = HINTS.filter((hint) => typeof annotations[hint] === "boolean");
  return Object.fromEntries(known.map((hint) => [hint, annotations[hint] as boolean]));
}

/** The hosts that rules are evaluated for before a call, where the entry names them. */
export function hostTargets({ network, hosts }: McpServerEntry): Pick<AnyTool, "targets"> {
  if (network !== true || hosts.length === 0) return {};
  const resources = hosts.map((host) => ({ kind: "host", host: host.toLowerCase() }) as const);
  return { targets: () => ({ resources }) };
}
