// What a scripted model of the AI SDK's interface answers, for the runtimes that take one.

/** @import { Call } from "../workload.mjs" */

/** @param {Call[] | undefined} calls  of this turn; none: the closing sentence */
export function scriptedAnswer(calls) {
  if (!calls) return { content: [{ type: "text", text: "done" }], reason: "stop" };
  const content = calls.map(({ id, wireName, args }) => ({
    type: "tool-call",
    toolCallId: id,
    toolName: wireName,
    input: args,
  }));
  return { content, reason: "tool-calls" };
}
