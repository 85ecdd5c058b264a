// internal.search_tools (SEARCH-2, SEARCH-3): finds deferred tools of this surface and loads what it finds.

import { SEARCH_TOOLS } from "../surface/defer.ts";
import { defineTool, toolResult, type AnyTool, type ToolContext } from "../tool/index.ts";
import type { DeferredTools } from "./host.ts";

const DEFAULT_LIMIT = 5;
const MAX_LIMIT = 20;

/** One per run: what it finds and loads belongs to that run. */
export function searchToolsDefinition(
  deferredOf: (context: ToolContext) => DeferredTools,
): AnyTool {
  return defineTool({
    name: SEARCH_TOOLS,
    title: "Search tools",
    description:
      "Find and load tools that are listed by name only. Give two to six keywords of what the tool does and works on " +
      '(such as "github issue create"), not a sentence; or "select:" and exact names, separated by commas, to load just those. ' +
      "What is found is loaded and can be called from the next request on.",
    input_schema: {
      type: "object",
      properties: {
        query: {
          type: "string",
          minLength: 1,
          description: 'Keywords, or "select:<name>[,<name>]".',
        },
        limit: {
          type: "integer",
          minimum: 1,
          maximum: MAX_LIMIT,
          description: `How many tools to load at the most; default ${DEFAULT_LIMIT}.`,
        },
      },
      required: ["query"],
      additionalProperties: false,
    },
    permission: "readonly",
    concurrency_safe: false,
    // What it loads can be loaded again, and shows only in the next request.
    repeatable: true,
    destructive: false,
    always_load: true,
    interrupt_behavior: "block",
    handler(input, context) {
      const { query, limit } = input as { query: string; limit?: number };
      const deferred = deferredOf(context);
      const answer = deferred.search(query, limit ?? DEFAULT_LIMIT);
      const loaded = deferred.load(answer.matches.map(({ tool_name }) => tool_name));
      const descriptions = new Map(loaded.map((tool) => [tool.name, tool.definition.description]));
      const data = {
        matches: answer.matches.map((match) => ({
          ...match,
          description: firstSentence(descriptions.get(match.tool_name) ?? ""),
        })),
        loaded: loaded.map(({ name }) => name),
        already_loaded: answer.already_loaded,
        not_found: answer.not_found,
        deferred_tools: answer.deferred_count,
        servers_connecting: [...deferred.connecting()],
      };
      const summary =
        loaded.length === 0
          ? `No further tool found among ${answer.deferred_count} deferred ones; try other keywords.`
          : `Loaded ${loaded.map(({ name }) => name).join(", ")}.`;
      return toolResult({ ok: true, data: data, summary });
    },
  });
}

function firstSentence(text: string): string {
  const end = text.search(/[.!?](?:\s|$)|\n/);
  return (end === -1 ? text : text.slice(0, end + 1)).slice(0, 200).trim();
}
