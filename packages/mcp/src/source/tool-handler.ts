// What happens when a tool of a server is called: the server is had, what was shown to the model still holds
// for it, the definition is pinned, and then it is asked (REG-3, MCP-7).

import { messageOf, ToolFailure, type ToolContext } from "@soong/core";
import { callServerTool } from "../call/call-server-tool.ts";
import type { McpHost, RecordHostRequest } from "../call/ask-server.ts";
import { definitionHash, type Pins } from "../catalog/pins.ts";
import { safeLine } from "../catalog/safe-text.ts";
import type { HandlerFor } from "../catalog/build-catalog.ts";
import type { ServerTool } from "../catalog/list-tools.ts";
import { McpServerFailure } from "../connection/failure.ts";
import type { ConnectedServer } from "../connection/connected-server.ts";
import type { McpServerEntry } from "../settings/index.ts";

/** The server and what it offers now. Rejects with why it cannot be had. */
export type GetCurrentServer = (signal: ToolContext["signal"]) => Promise<{
  readonly server: ConnectedServer;
  readonly offered: ReadonlyMap<string, ServerTool>;
}>;

export function toolHandlers(parts: {
  readonly entry: McpServerEntry;
  readonly pins: Pins;
  readonly current: GetCurrentServer;
  readonly host: McpHost | undefined;
  readonly record: RecordHostRequest;
}): HandlerFor {
  const { entry, pins, current, host, record } = parts;
  const { server_id, timeout_ms: timeoutMs } = entry;
  return (tool, isReadonly) => async (input, context) => {
    const refuse = (
      error: Omit<ConstructorParameters<typeof ToolFailure>[0], "message">,
      why: string,
    ) => new ToolFailure({ ...error, message: `${context.toolName} was not called: ${why}` });
    const now = await current(context.signal).catch((error: unknown) => {
      const about = needsSetUp(error)
        ? ({ error_class: "setup_required", retryable: false, recovery: "set_up_first" } as const)
        : ({
            error_class: "dependency_unavailable",
            retryable: true,
            recovery: "retry_after_delay",
          } as const);
      throw refuse({ code: "server_unavailable", ...about }, safeLine(messageOf(error), 1_000));
    });
    const offered = now.offered.get(tool.name);
    if (offered === undefined || definitionHash(offered) !== definitionHash(tool)) {
      throw refuse(
        { code: "stale_definition", error_class: "schema_not_loaded", recovery: "discover_first" },
        "the server has changed or removed it since it was shown.",
      );
    }
    try {
      await pins.allow(server_id, tool);
    } catch (error) {
      throw refuse(
        {
          code: "definition_not_pinned",
          error_class: "dependency_unavailable",
          recovery: "ask_the_user",
        },
        `that its definition was allowed cannot be kept: ${messageOf(error)}`,
      );
    }
    const call = { server_id, timeoutMs, host, record, server: now.server, isReadonly };
    return callServerTool({ ...call, name: tool.name, arguments: input }, context);
  };
}

export function needsSetUp(error: unknown): boolean {
  return (
    error instanceof McpServerFailure &&
    (error.reason === "variable_missing" || error.reason === "unauthorized")
  );
}
