// What happens when a tool of a server is called: the server is had, what was shown to the model still holds
// for it, the definition is pinned, and then it is asked (REG-3, MCP-7).

import { messageOf, ToolFailure, type ToolContext } from "@soong/core";
import { callServerTool, type McpHost, type RecordHostRequest } from "../call/index.ts";
import {
  definitionHash,
  safeLine,
  type HandlerOf,
  type Pins,
  type ServerTool,
} from "../catalog/index.ts";
import { McpServerFailure, type ConnectedServer } from "../connection/index.ts";
import type { McpServerEntry } from "../settings/index.ts";

export interface HandlerParts {
  readonly entry: McpServerEntry;
  readonly pins: Pins;
  /** The server and what it offers now, or why it cannot be had. */
  readonly current: (signal: ToolContext["signal"]) => Promise<CurrentServer>;
  readonly host: McpHost | undefined;
  readonly record: RecordHostRequest;
}

export type CurrentServer =
  | {
      readonly ok: true;
      readonly server: ConnectedServer;
      readonly offered: ReadonlyMap<string, ServerTool>;
    }
  | { readonly ok: false; readonly error: unknown };

const MAX_MESSAGE_CHARS = 1_000;

export function toolHandlers({ entry, pins, current, host, record }: HandlerParts): HandlerOf {
  const { server_id, timeout_ms: timeoutMs } = entry;
  return (tool, { isReadonly }) =>
    async (input, context) => {
      const now = await current(context.signal);
      if (!now.ok) throw unavailable(context, now.error);
      const offered = now.offered.get(tool.name);
      if (offered === undefined || definitionHash(offered) !== definitionHash(tool))
        throw stale(context);
      try {
        await pins.allow(server_id, tool);
      } catch (error) {
        throw notPinned(context, error);
      }
      const asking = { server_id, timeoutMs, host, record };
      const call = { ...asking, server: now.server, name: tool.name, isReadonly };
      return callServerTool({ ...call, arguments: input }, context);
    };
}

export function needsSetUp(error: unknown): boolean {
  return (
    error instanceof McpServerFailure &&
    (error.reason === "variable_missing" || error.reason === "unauthorized")
  );
}

function unavailable({ toolName }: ToolContext, error: unknown): ToolFailure {
  const why = safeLine(messageOf(error), MAX_MESSAGE_CHARS);
  return new ToolFailure({
    code: "server_unavailable",
    error_class: needsSetUp(error) ? "setup_required" : "dependency_unavailable",
    message: `${toolName} was not called: ${why}`,
    retryable: !needsSetUp(error),
    recovery: needsSetUp(error) ? "set_up_first" : "retry_after_delay",
  });
}

function stale({ toolName }: ToolContext): ToolFailure {
  return new ToolFailure({
    code: "stale_definition",
    error_class: "schema_not_loaded",
    message: `${toolName} was not called: the server has changed or removed it since it was shown.`,
    recovery: "discover_first",
  });
}

function notPinned({ toolName }: ToolContext, error: unknown): ToolFailure {
  return new ToolFailure({
    code: "definition_not_pinned",
    error_class: "dependency_unavailable",
    message: `${toolName} was not called: that its definition was allowed cannot be kept: ${messageOf(error)}`,
    recovery: "ask_the_user",
  });
}
