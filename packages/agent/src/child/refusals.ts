// A start that is not made: an error the model can act on, marked so that it does not count among the children of its run.

import { ToolFailure, type JsonObject, type ToolError } from "@soong/core";

export function startFailure(
  code: string,
  message: string,
  more: Partial<Pick<ToolError, "error_class" | "recovery" | "retryable">> & {
    readonly details?: JsonObject;
  } = {},
): ToolFailure {
  const { details, ...about } = more;
  return new ToolFailure({
    code,
    message,
    error_class: "invalid_arguments",
    recovery: "change_arguments",
    retryable: true,
    ...about,
    details: { started: false, ...details },
  });
}
