// The id of a tool call outside its run, the same in every projection.

import type { Fact } from "@soong/core";

/**
 * `<run_id>/<tool_call_id>`: call ids are unique within a run only. Agent Runtime's `toolCallId` and Agent Tool's
 * `invocation_id`. Undefined: the fact is of no call.
 */
export function invocationId(fact: Pick<Fact, "run_id" | "tool_call_id">): string | undefined {
  const { run_id, tool_call_id } = fact;
  if (typeof tool_call_id !== "string" || tool_call_id === "") return undefined;
  return typeof run_id === "string" && run_id !== "" ? `${run_id}/${tool_call_id}` : tool_call_id;
}
