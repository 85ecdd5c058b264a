// tools/list, page by page (MCP-3). What comes is anything: pages that never end, cursors that come again,
// more than can be held. The walk always ends, and says so when it ended early.

import { messageOf } from "@soong/core";
import { McpRequestFailure, type ConnectedServer } from "../connection/index.ts";
import { jsonSize } from "./server-tool.ts";
import { safeLine } from "./safe-text.ts";

export interface ListLimits {
  readonly maxPages: number;
  readonly maxTools: number;
  /** Of all definitions together, as JSON text. */
  readonly maxChars: number;
}

const LIMITS: ListLimits = { maxPages: 200, maxTools: 10_000, maxChars: 64 * 1024 * 1024 };

export interface ListedTools {
  /** Unread definitions, in the server's order. */
  readonly tools: readonly unknown[];
  /** Why the list is not whole, if it is not. */
  readonly cutShort?: string;
}

/** Rejects when there is no first page, or the server is gone; a later page that fails ends the walk. */
export async function listTools(
  server: Pick<ConnectedServer, "listToolsPage">,
  signal?: AbortSignal,
  limits: ListLimits = LIMITS,
): Promise<ListedTools> {
  const tools: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  let left = limits.maxChars;
  for (let page = 1; ; page += 1) {
    let fetched;
    try {
      fetched = await server.listToolsPage(cursor, signal);
    } catch (error) {
      if (page === 1 && isMethodUnknown(error)) return { tools, cutShort: "it offers no tools" };
      if (page === 1 || !isAnswer(error)) throw error;
      const why = safeLine(messageOf(error), 200);
      return { tools, cutShort: `page ${page} of its tools could not be had: ${why}` };
    }
    for (const tool of fetched.tools) {
      if (tools.length === limits.maxTools) {
        return { tools, cutShort: `it lists more than ${limits.maxTools} tools` };
      }
      left -= jsonSize(tool, left + 1);
      if (left < 0) {
        return { tools, cutShort: `its tools are larger than ${limits.maxChars} characters` };
      }
      tools.push(tool);
    }
    const { next_cursor } = fetched;
    if (next_cursor === undefined) return { tools };
    if (seen.has(next_cursor)) {
      return { tools, cutShort: `page ${page} of its tools repeats a cursor it gave before` };
    }
    if (page === limits.maxPages) {
      return { tools, cutShort: `its tools have more than ${limits.maxPages} pages` };
    }
    seen.add(next_cursor);
    cursor = next_cursor;
  }
}

/** The server is there and answered, only not with a page. */
function isAnswer(error: unknown): boolean {
  return (
    error instanceof McpRequestFailure &&
    (error.reason === "rpc_error" || error.reason === "invalid_answer")
  );
}

/** A server may have prompts or resources only. */
function isMethodUnknown(error: unknown): boolean {
  return error instanceof McpRequestFailure && error.code === -32601;
}
