// Calls that the handler of a call has made. They are calls of their run like any other, and of no answer of a model.

import type { Fact } from "@soong/core";

/** `data`: of its `tool.requested`. */
export function isWithinCall(data: Fact["data"]): boolean {
  return (data as Readonly<Record<string, unknown>>)["within_tool_call_id"] !== undefined;
}
