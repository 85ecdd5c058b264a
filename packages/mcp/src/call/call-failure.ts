// A request that failed, as the error of our call (RESULT-4): what happened, whether it may have taken effect,
// and what to do next.

import { ToolFailure, type JsonObject, type ToolError } from "@soong/core";
import { isJsonObject } from "@soong/schema";
import { safeText } from "../catalog/safe-text.ts";
import type { McpRequestFailure } from "../connection/failure.ts";

const MAX_MESSAGE_CHARS = 4_000;
const MAX_DATA_CHARS = 4_000;
const CAPABILITY_MISSING = -32_021;

type Words = Pick<ToolError, "code" | "message"> & Partial<ToolError>;

export function toToolFailure(
  failure: McpRequestFailure,
  { isReadonly, timeoutMs }: { readonly isReadonly: boolean; readonly timeoutMs: number },
  toolName: string,
): ToolFailure {
  const said = safeText(failure.message, MAX_MESSAGE_CHARS);
  switch (failure.reason) {
    case "aborted":
      return new ToolFailure({
        code: "aborted",
        error_class: "canceled",
        message: `${toolName} was stopped, and the server was notified.`,
      });
    case "unauthorized":
      return new ToolFailure({
        code: "login_required",
        error_class: "setup_required",
        message: `${toolName} was not done: ${said}`,
        recovery: "set_up_first",
      });
    case "rpc_error":
      return new ToolFailure({ ...describeRpcError(failure, said, toolName), ...details(failure) });
    case "timeout": {
      const message = `${toolName} gave no answer and no progress for ${timeoutMs} ms; the server was asked to stop.`;
      return leaveOpen({ code: "timed_out", error_class: "timeout", message }, "timed_out");
    }
    case "lost":
      return leaveOpen({
        code: "connection_lost",
        error_class: "dependency_unavailable",
        message: `The connection to the server was lost while ${toolName} was running: ${said}.`,
      });
    case "invalid_answer": {
      const message = `${toolName} was answered with something that is not a result: ${said}.`;
      return leaveOpen({ code: "invalid_answer", message });
    }
    case "refused":
      return leaveOpen({
        code:
          failure.code === CAPABILITY_MISSING ? "client_capability_missing" : "question_refused",
        error_class: "capability_gap",
        message: `${toolName} was given up, because its server asked for something on the way: ${said}.`,
        recovery: "use_another_tool",
        ...details(failure),
      });
  }

  /** Whether it happened is not known; what only reads has not happened in any way that matters. */
  function leaveOpen(
    error: Words,
    status: "timed_out" | "failed" | "unknown" = isReadonly ? "failed" : "unknown",
  ): ToolFailure {
    const next = isReadonly
      ? "It only reads, so it can be called again."
      : "It may or may not have happened: find out before doing it again.";
    const whole: Words = {
      retryable: isReadonly,
      recovery: isReadonly ? "retry" : "ask_the_user",
      ...error,
      message: `${error.message} ${next}`,
    };
    return new ToolFailure(whole, [], status);
  }
}

function describeRpcError({ code }: McpRequestFailure, said: string, toolName: string): Words {
  switch (code) {
    case -32602:
      return {
        code: "invalid_params",
        error_class: "invalid_arguments",
        message: `The server refused the arguments of ${toolName}: ${said}`,
        recovery: "change_arguments",
      };
    case -32601:
      return {
        code: "method_not_found",
        error_class: "capability_gap",
        message: `The server does not know ${toolName}: ${said}`,
        recovery: "use_another_tool",
      };
    case CAPABILITY_MISSING:
      return {
        code: "client_capability_missing",
        error_class: "capability_gap",
        message: `${toolName} needs something this client does not offer: ${said}`,
        recovery: "use_another_tool",
      };
    case -32042:
      return {
        code: "url_elicitation_required",
        error_class: "setup_required",
        message: `${toolName} wants a page to be opened first, and no one agreed to: ${said}`,
        recovery: "ask_the_user",
      };
    default:
      return { code: "server_error", message: `The server failed on ${toolName}: ${said}` };
  }
}

function details({ code, data }: McpRequestFailure): { details?: JsonObject } {
  if (code === undefined) return {};
  const kept = isJsonObject(data) && JSON.stringify(data).length <= MAX_DATA_CHARS ? data : {};
  const { requiredCapabilities: required } = kept;
  return {
    details: {
      rpc_code: code,
      ...(Object.keys(kept).length > 0 && { data: kept }),
      ...(isJsonObject(required) && { required_capabilities: required }),
    },
  };
}
