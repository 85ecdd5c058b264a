// A tool of a server as a tool of ours (MCP-1, MCP-6, SCHEMA-3). Trust comes from the user's entry; what the
// server says of its own tool may only make it stricter.

import { readSchema, type AnyTool, type JsonObject, type ToolContext } from "@soong/core";
import { nameProblem } from "@soong/core/internal";
import { repairSchema } from "@soong/schema";
import type { McpServerEntry } from "../settings/index.ts";
import { safeLine, safeSchema, safeText } from "./safe-text.ts";
import type { ServerTool } from "./server-tool.ts";

export type ToolHandler = (input: JsonObject, context: ToolContext) => unknown;

export type HandlerOf = (tool: ServerTool, about: { readonly isReadonly: boolean }) => ToolHandler;

const MAX_DESCRIPTION_CHARS = 16_000;
const MAX_TITLE_CHARS = 200;

/**
 * Above the server's own limit, which progress renews: the handler ends the call, and the
 * kernel's maximum stays what it is.
 */
export const HANDLER_TIMEOUT_MS = 24 * 60 * 60 * 1000;

export function toolDefinition(
  entry: McpServerEntry,
  tool: ServerTool,
  handlerOf: HandlerOf,
): AnyTool {
  const { server_id } = entry;
  const effects = effectsOf(entry, tool);
  const handler = handlerOf(tool, { isReadonly: effects.permission === "readonly" });
  const output = outputSchema(tool);
  const title = titleOf(tool);
  const input = repairSchema(safeSchema(tool.input_schema) as JsonObject);
  return {
    name: canonicalName(server_id, tool.name),
    description: describe(entry, tool),
    input_schema: input.schema,
    title,
    ...("schema" in output ? { output_schema: output.schema } : {}),
    ...effects,
    timeout_ms: HANDLER_TIMEOUT_MS,
    metadata: {
      server_id,
      server_tool: tool.name,
      ...(tool.annotations === undefined ? {} : { annotations: knownHints(tool.annotations) }),
      // Places that are no schema, which a model is not shown and a call is not held to (MCP-10).
      ...(input.pointers.length === 0 ? {} : { input_schema_relaxed: [...input.pointers] }),
      ...("ignored" in output ? { output_schema_ignored: output.ignored } : {}),
    },
    ...hostTargets(entry),
    handler: (input, context) => handler(input as JsonObject, context),
  };
}

export function canonicalName(server_id: string, name: string): string {
  return `mcp.${server_id}.${name}`;
}

/** Why the server's name for its tool cannot be part of ours. */
export function serverToolNameProblem(server_id: string, name: string): string | undefined {
  // A rule for this tool would be a rule for others; a word for ours, such as "@read_resource", one for this tool.
  if (name.includes("*")) return 'has a "*", which means any name in rules';
  if (name.startsWith("@")) return 'begins with "@", as names do that are not a server\'s to give';
  return nameProblem(canonicalName(server_id, name), {
    kind: "mcp",
    id: server_id,
    trusted: false,
  });
}

type DeclaredEffects = Pick<
  AnyTool,
  "permission" | "concurrency_safe" | "interrupt_behavior" | "destructive" | "open_world"
>;

/** What the user's word and the server's make of it together. */
function effectsOf(entry: McpServerEntry, { name, annotations = {} }: ServerTool): DeclaredEffects {
  const { readonly_tools } = entry;
  const { readOnlyHint, destructiveHint, openWorldHint } = annotations;
  const saysItWrites = readOnlyHint === false || destructiveHint === true;
  // A name the user wrote out is theirs to vouch for; "all" does not cover what the server itself warns of.
  const isReadonly = readonly_tools === "all" ? !saysItWrites : readonly_tools.includes(name);
  return {
    // Left open where neither says a word: a mark of the user in a policy still decides about that.
    ...(isReadonly ? { permission: "readonly" } : saysItWrites ? { permission: "write" } : {}),
    // True without a word about it; what is not readonly runs alone either way (SCHED-10).
    concurrency_safe: mayRunBeside(entry, name) && !saysItWrites,
    interrupt_behavior: isReadonly ? "cancel" : "block",
    ...(destructiveHint === true && !isReadonly ? { destructive: true } : {}),
    ...(openWorldHint === true ? { open_world: true } : {}),
  };
}

/** Whether a readonly tool of the server may run beside its siblings. */
export function mayRunBeside({ concurrency_safe }: McpServerEntry, name: string): boolean {
  return concurrency_safe === undefined || concurrency_safe.includes(name);
}

function describe({ server_id, description }: McpServerEntry, tool: ServerTool): string {
  const own = safeText(tool.description ?? "", MAX_DESCRIPTION_CHARS).trim();
  const words = own === "" ? `${titleOf(tool) ?? tool.name} (no description given)` : own;
  const about = description === undefined ? "" : `\n\nOf the server ${server_id}: ${description}`;
  return `${words}${about}`;
}

function titleOf({ title, annotations }: ServerTool): string | undefined {
  const given = title ?? annotations?.["title"];
  const line = typeof given === "string" ? safeLine(given, MAX_TITLE_CHARS) : "";
  return line === "" ? undefined : line;
}

/** A result cannot be held to a schema that is none; that is no reason to do without the tool. */
function outputSchema(tool: ServerTool): { schema: JsonObject } | { ignored: string } | object {
  if (tool.output_schema === undefined) return {};
  const read = readSchema(tool.output_schema);
  if (read.ok) return { schema: safeSchema(tool.output_schema) as JsonObject };
  const [problem] = read.problems;
  return { ignored: safeLine(`${problem?.pointer ?? ""} ${problem?.message ?? ""}`, 300) };
}

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

function knownHints(annotations: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(annotations).filter(
      ([key, value]) => HINTS.includes(key) && typeof value === "boolean",
    ),
  );
}

/** The hosts that rules are evaluated for before a call, where the entry names them. */
export function hostTargets({ network, hosts }: McpServerEntry): Pick<AnyTool, "targets"> {
  if (!network || hosts.length === 0) return {};
  const resources = hosts.map((host) => ({ kind: "host", host: host.toLowerCase() }) as const);
  return { targets: () => ({ resources }) };
}
