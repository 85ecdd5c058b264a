// The tool and the input of a call as they are typed: JSON as an argument, from stdin with `-`, flags of the tool's own,
// or nothing for none.

import { nearestName, type JsonObject, type JsonValue } from "@soong/schema";
import { CommandError, UsageError, visibleLine } from "../../output/index.ts";
import type { Runtime } from "../../runtime/open-runtime.ts";
import { chooseServers } from "../context.ts";
import type { CommandContext } from "../handler.ts";

const MAX_STDIN_BYTES = 64 * 1024 * 1024;

export interface TypedInput {
  /** JSON text that is JSON; what is in it is the pipeline's to judge. */
  readonly json: string;
  /** Flags and their values. */
  readonly flags: readonly string[];
  /** Only how the tool is called is wanted. */
  readonly isHelp: boolean;
}

/** `words`: what was typed behind the name of the tool. */
export async function readToolInput(
  tool: string | undefined,
  words: readonly string[],
  context: CommandContext,
): Promise<TypedInput> {
  if (tool?.startsWith("-") === true) {
    const flag = visibleLine(tool);
    throw new UsageError(
      `The name of the tool comes first, and its flags behind it: TOOL ${flag} …`,
    );
  }
  const [first] = words;
  const hasJson = first !== undefined && (first === "-" || !first.startsWith("-"));
  const flags = words.slice(hasJson ? 1 : 0);
  const isHelp = flags.some((word) => word === "--help" || word === "-h");
  const json = isHelp ? "{}" : await readJsonInput(hasJson ? first : undefined, context);
  return { json, flags, isHelp };
}

/** With its flags, by the schema of the tool. */
export async function applyFlags(
  { json, flags }: TypedInput,
  tool: string,
  { kernel }: Pick<Runtime, "kernel">,
  options: readonly string[],
): Promise<string> {
  if (flags.length === 0) return json;
  const { mergeInputs, readFlags } = await import("./tool-flags.ts");
  const read = readFlags(flags, describeFlagged(tool, kernel, options));
  return JSON.stringify(mergeInputs(JSON.parse(json) as JsonValue, read));
}

export async function printFlagHelp(
  { output }: Pick<CommandContext, "output">,
  tool: string,
  { kernel }: Pick<Runtime, "kernel">,
  options: readonly string[],
): Promise<void> {
  const { renderFlagHelp } = await import("./tool-flags.ts");
  const lines = renderFlagHelp(output, describeFlagged(tool, kernel, options));
  for (const line of lines) output.line(line);
}

/** `options`: those of the command, as they are declared. */
function describeFlagged(tool: string, kernel: Runtime["kernel"], options: readonly string[]) {
  const { name = tool, input } = findRegistered(tool, kernel) ?? {};
  const names = options.map((flags) => flags.replace(/^--| .*$/g, ""));
  return { name, schema: (input?.original ?? {}) as JsonObject, options: names };
}

function findRegistered(tool: string, { registry }: Runtime["kernel"]) {
  const { tools } = registry.snapshot();
  return (
    tools.get(tool) ??
    [...tools.values()].find(({ definition }) => definition.aliases?.includes(tool) === true)
  );
}

async function readJsonInput(given: string | undefined, context: CommandContext): Promise<string> {
  const text = given === "-" ? await readStdin(context) : (given ?? "{}");
  try {
    JSON.parse(text);
    return text;
  } catch (error) {
    const where = given === "-" ? "What came on stdin" : "The input";
    const why = error instanceof Error ? visibleLine(error.message) : "it cannot be parsed";
    throw new UsageError(
      `${where} is not JSON: ${why}. Put it in single quotes, such as '{"path": "a.txt"}', give flags, such as --path a.txt, or pipe it in and give - instead.`,
    );
  }
}

/** A name that no tool has is a slip of the user's, not a call. */
export function refuseUnknownTool(
  { kernel, mcp }: Pick<Runtime, "kernel" | "mcp">,
  given: string,
): void {
  const { tools, excluded } = kernel.registry.snapshot();
  const names = [...tools.keys(), ...excluded.map(({ tool_name }) => tool_name)];
  const aliases = [...tools.values()].flatMap(({ definition }) => definition.aliases ?? []);
  if (names.includes(given) || aliases.includes(given)) return;
  const server = chooseServers(given);
  if (typeof server === "object") refuseWithoutServer(mcp, server.only, given);
  const nearest = nearestName(given, names);
  const hint = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  throw new UsageError(
    `There is no tool called ${visibleLine(given)}.${hint} \`soong tools\` lists them.`,
  );
}

/** Where the server itself is what is missing, that is the thing to say. */
function refuseWithoutServer(mcp: Runtime["mcp"], server_id: string, given: string): void {
  const status = mcp?.status().find((one) => one.server_id === server_id);
  if (status === undefined) {
    throw new UsageError(
      `There is no tool called ${visibleLine(given)}: mcp.json names no server ${visibleLine(server_id)}. \`soong mcp list\` lists those it names.`,
    );
  }
  if (status.state === "connected") return;
  const why = status.message ?? status.excluded[0]?.detail ?? "it is closed";
  throw new CommandError(
    `${visibleLine(given)} cannot be had: ${visibleLine(why)} \`soong mcp list ${visibleLine(server_id)}\` says more.`,
  );
}

export async function readStdin({ stdin }: CommandContext): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_STDIN_BYTES) {
      throw new UsageError(
        "What came on stdin is larger than 64 MiB; nothing here takes that much.",
      );
    }
  }
  return Buffer.concat(chunks).toString("utf8");
}
