// Calls of a run that no answer of a model holds: the handler of a call has made them, or the runtime itself. In all else they
// are calls like any other.

import type { FactData } from "@soong/core";

/** `data`: of its `tool.requested`. */
export function isInnerCall({ within_tool_call_id, made_by }: FactData<"tool.requested">): boolean {
  return within_tool_call_id !== undefined || made_by === "runtime";
}
