// What a server lists, page by page (MCP-3). What comes is anything: pages that never end, cursors that come again,
// more than can be held. The walk always ends, and says so when it ended early. Each definition is then read
// (MCP-1, REG-2): a tool, or the reason why it is none.

import { messageOf, type JsonObject } from "@soong/core";
import { isJsonObject, omitUndefined } from "@soong/schema";
import { McpRequestFailure } from "../connection/failure.ts";
import type { ConnectedServer, ToolsPage } from "../connection/connected-server.ts";
import { safeLine } from "./safe-text.ts";

const LIMITS = {
  maxPages: 200,
  maxTools: 10_000,
  /** Of all definitions together, as JSON text. */
  maxChars: 64 * 1024 * 1024,
};

export interface ListedTools {
  /** Unread definitions, in the server's order. */
  readonly tools: readonly unknown[];
  /** Why the list is not whole, if it is not. */
  readonly cutShort?: string;
}

export function listTools(
  server: Pick<ConnectedServer, "listToolsPage">,
  signal?: AbortSignal,
  limits = LIMITS,
): Promise<ListedTools> {
  return listPages((cursor) => server.listToolsPage(cursor, signal), limits, "tools");
}

/** Rejects when there is no first page, or the server is gone; a later page that fails ends the walk. */
export async function listPages(
  fetchPage: (cursor: string | undefined) => Promise<ToolsPage>,
  limits: typeof LIMITS,
  what: string,
): Promise<ListedTools> {
  const { maxPages, maxTools, maxChars } = limits;
  const tools: unknown[] = [];
  const endEarly = (cutShort: string): ListedTools => ({ tools, cutShort });
  const seen = new Set<string>();
  let cursor: string | undefined;
  let left = maxChars;
  for (let page = 1; ; page += 1) {
    let fetched: ToolsPage;
    try {
      fetched = await fetchPage(cursor);
    } catch (error) {
      const { code, reason } = error instanceof McpRequestFailure ? error : {};
      // A server may have prompts or resources only.
      if (page === 1 && code === -32601) return endEarly(`it offers no ${what}`);
      const isAnswer = reason === "rpc_error" || reason === "invalid_answer";
      if (page === 1 || !isAnswer) throw error;
      const why = safeLine(messageOf(error), 200);
      return endEarly(`page ${page} of its ${what} could not be had: ${why}`);
    }
    for (const tool of fetched.tools) {
      if (tools.length === maxTools) return endEarly(`it lists more than ${maxTools} ${what}`);
      left -= jsonSize(tool, left + 1);
      if (left < 0) return endEarly(`its ${what} are larger than ${maxChars} characters`);
      tools.push(tool);
    }
    cursor = fetched.next_cursor;
    if (cursor === undefined) return { tools };
    if (seen.has(cursor)) {
      return endEarly(`page ${page} of its ${what} repeats a cursor it gave before`);
    }
    if (page === maxPages) return endEarly(`its ${what} have more than ${maxPages} pages`);
    seen.add(cursor);
  }
}

/** What a server says of its tool, as it says it: this is what is pinned (MCP-7). */
export interface ServerTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly input_schema: JsonObject;
  readonly output_schema?: JsonObject;
  readonly annotations?: JsonObject;
}

export type ReadServerTool =
  | { readonly ok: true; readonly tool: ServerTool }
  | { readonly ok: false; readonly name: string | undefined; readonly problem: string };

const MAX_TOOL_CHARS = 1024 * 1024;

export function readServerTool(given: unknown): ReadServerTool {
  if (!isJsonObject(given)) return { ok: false, name: undefined, problem: "it is not an object" };
  const { name, description, title, inputSchema, outputSchema, annotations } = given;
  if (typeof name !== "string" || name === "") {
    return { ok: false, name: undefined, problem: "it has no name" };
  }
  if (jsonSize(given, MAX_TOOL_CHARS + 1) > MAX_TOOL_CHARS) {
    const problem = `its definition is larger than ${MAX_TOOL_CHARS} characters`;
    return { ok: false, name, problem };
  }
  const input = isJsonObject(inputSchema) ? inputSchema : {};
  const tool: ServerTool = omitUndefined({
    name,
    title: typeof title === "string" ? title : undefined,
    description: typeof description === "string" ? description : undefined,
    // A reference server leaves the type out; arguments are an object all the same.
    input_schema: input["type"] === undefined ? { ...input, type: "object" } : input,
    output_schema: isJsonObject(outputSchema) ? outputSchema : undefined,
    annotations: isJsonObject(annotations) ? annotations : undefined,
  });
  return { ok: true, tool };
}

/** About how long a JSON value is as text, of any depth, without making the text. Stops when the bound is passed. */
function jsonSize(value: unknown, enough: number): number {
  let size = 0;
  const waiting: unknown[] = [value];
  while (waiting.length > 0 && size < enough) {
    const next = waiting.pop();
    size += 4;
    if (typeof next === "string") size += next.length;
    else if (Array.isArray(next)) {
      size += next.length;
      if (size < enough) for (const item of next) waiting.push(item);
    } else if (typeof next === "object" && next !== null) {
      for (const [key, held] of Object.entries(next)) {
        size += key.length + 4;
        waiting.push(held);
      }
    }
  }
  return size;
}
