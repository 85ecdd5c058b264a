// The SDK's own evidence that the user approved a call: the answer in the last message, for the call that the conversation is
// paused at. An older answer says nothing: providers use ids again.

import { isRecord } from "@soong/schema";

/** Undefined: the messages do not resume this call. */
export function findApproval(
  messages: readonly unknown[],
  toolCallId: string,
): "approved" | "denied" | undefined {
  const last = messages.at(-1);
  if (!isRecord(last) || last["role"] !== "tool") return undefined;
  const answers = listParts(last);
  const isAnswered = answers.some(
    (part) => part["type"] === "tool-result" && part["toolCallId"] === toolCallId,
  );
  if (isAnswered) return undefined;
  const requested = listRequests(messages, toolCallId);
  // As the SDK does, the first answer counts.
  const answer = answers.find(
    (part) => part["type"] === "tool-approval-response" && requested.has(part["approvalId"]),
  );
  if (answer === undefined) return undefined;
  return answer["approved"] === true ? "approved" : "denied";
}

/**
 * Ids of the requests for this call in the last answer; not of those that the SDK answered itself. An older answer may have
 * asked about another call with the same id, and that was approved with another request.
 */
function listRequests(messages: readonly unknown[], toolCallId: string): Set<unknown> {
  const answer = messages.findLast((one) => isRecord(one) && one["role"] === "assistant");
  const requests = (isRecord(answer) ? listParts(answer) : []).filter(
    (part) =>
      part["type"] === "tool-approval-request" &&
      part["toolCallId"] === toolCallId &&
      part["isAutomatic"] !== true,
  );
  return new Set(requests.map((part) => part["approvalId"]));
}

function listParts({ content }: Record<string, unknown>): Record<string, unknown>[] {
  return Array.isArray(content) ? content.filter(isRecord) : [];
}
