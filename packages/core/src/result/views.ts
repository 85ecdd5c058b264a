// Three views of one result (RESULT-5): what the model reads, what a person sees, what transcript search
// indexes. Each is derived from the same mapped result and made once.

import {
  isPromise,
  messageOf,
  type AnyTool,
  type ContentBlock,
  type ToolResult,
} from "../tool/index.ts";
import { textOf } from "./map-result.ts";

export interface ResultViews {
  model: readonly ContentBlock[];
  person: string;
  search: string;
}

const MAX_SEARCH_CHARS = 16_384;

/** A result as the model, a person and a search see it. */
export function viewsOf(result: ToolResult, tool?: Pick<AnyTool, "render">): ResultViews {
  const known = made.get(result);
  if (known !== undefined) return known;
  const text = textOf(result.content);
  const views: ResultViews = {
    model: result.content,
    person: rendered(result, tool) ?? text,
    search: `${result.tool_name} ${result.summary}\n${text}`.slice(0, MAX_SEARCH_CHARS),
  };
  made.set(result, views);
  return views;
}

const made = new WeakMap<ToolResult, ResultViews>();

/** A tool that cannot show its result costs only its own picture of it. */
function rendered(
  result: ToolResult,
  tool: Pick<AnyTool, "render"> | undefined,
): string | undefined {
  if (tool?.render === undefined) return undefined;
  try {
    const text: unknown = tool.render(result);
    if (isPromise(text)) return undefined;
    return typeof text === "string" ? text : undefined;
  } catch (error) {
    return `${textOf(result.content)}\n(The tool could not render this: ${messageOf(error)})`;
  }
}
