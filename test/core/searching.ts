// Searching for deferred tools as a model would, and what a run shows afterwards.

import { SEARCH_TOOLS, type AnyTool, type JsonObject } from "@soong/core";
import type { Stage } from "./drive.ts";
import { server } from "./sources.ts";
import { reader, textOf } from "./world.ts";

/** A tool that costs about a quarter of so many tokens. */
export const sized = (name: string, chars: number, about: Partial<AnyTool> = {}) =>
  reader(name, 0, { description: "d".repeat(chars), ...about });

export function search(query: string, rest: JsonObject = {}) {
  return { name: SEARCH_TOOLS, arguments: { query, ...rest } };
}

interface Answer {
  matches: { tool_name: string; score: number; reasons: string[] }[];
  loaded: string[];
  already_loaded: string[];
  not_found: { name: string }[];
  deferred_tools: number;
  servers_connecting: string[];
}

/** Runs one search and gives its answer. */
export async function found({ run }: Pick<Stage, "run">, query: string, rest?: JsonObject) {
  const [result] = await run.execute([search(query, rest)]);
  if (result?.status !== "succeeded") throw new Error(textOf(result));
  return result.data as unknown as Answer;
}

/** The names a model is shown now. */
export async function shown({ run }: Pick<Stage, "run">): Promise<string[]> {
  return (await run.tools()).tools.map(({ name }) => name);
}

export const github = server("github", [
  reader("mcp.github.create_issue", 0, {
    description: "Opens an issue in a repository.",
    search_hint: "file a bug report ticket",
    aliases: ["new_issue"],
  }),
  reader("mcp.github.list_pulls", 0, {
    description: "Lists pull requests.",
    input_schema: { type: "object", properties: { assignee_login: { type: "string" } } },
  }),
  reader("mcp.github.merge", 0, { description: "Merges a branch. Careful with this." }),
]);
