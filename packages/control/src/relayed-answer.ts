// Answers that came from another process: through a socket, the store or the page.

import { readPermissionAnswer, type ElicitationAnswer, type PermissionAnswer } from "@soong/core";
import { asRecord, isJsonObject } from "@soong/schema";

/** Text says why it is no answer. The rule of "always" is the one that was shown: an answer cannot bring another one. */
export function readRelayedAnswer(given: unknown): PermissionAnswer | string {
  const answer = readPermissionAnswer(given);
  if (typeof answer === "string" || answer.always === undefined) return answer;
  return { ...answer, always: { where: answer.always.where } };
}

/** Text says why it is no answer to a form. */
export function readElicitationAnswer(given: unknown): ElicitationAnswer | string {
  const { action, content } = asRecord(given);
  if (action !== "accept" && action !== "decline" && action !== "cancel") {
    return `answered with the action ${JSON.stringify(action)}; expected accept, decline or cancel`;
  }
  return isJsonObject(content) ? { action, content } : { action };
}
