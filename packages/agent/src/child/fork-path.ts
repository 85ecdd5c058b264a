// The part of a conversation a fork goes on from (AGENT-2): everything before the answer that asks for it. That answer's
// calls have no results yet, and a call without its result is never shown to a model (CTX-3).

import type { ConversationNode } from "@soong/core";
import { readMessage } from "../context/index.ts";

/** `path`: root first. */
export function forkPath(path: readonly ConversationNode[]): readonly ConversationNode[] {
  const at = path.findLastIndex(({ kind }) => kind === "message");
  const last = path[at];
  const message = last === undefined ? undefined : readMessage(last);
  // What a crash left open further back was told to the model as it was.
  if (message?.role !== "assistant") return path;
  const answered = new Set(path.slice(at).map(({ tool_call_id }) => tool_call_id));
  const isOpen = message.calls.some(({ tool_call_id }) => !answered.has(tool_call_id));
  return isOpen ? path.slice(0, at) : path;
}
