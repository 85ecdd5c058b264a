// A server's question, in the words of either era, and our answer to it (MCP-5).

import type { ElicitationAnswer, ElicitationRequest } from "@soong/core";
import { isJsonObject } from "@soong/schema";
import type { AnswerElicitation, QuestionOptions } from "./connected-server.ts";

/** A caller that cannot be asked, or fails to answer, has declined. */
export async function answerElicitation(
  params: unknown,
  answer: AnswerElicitation | undefined,
  options: QuestionOptions,
): Promise<ElicitationAnswer> {
  const request = readRequest(params);
  if (request === undefined || answer === undefined) return { action: "decline" };
  try {
    const { action, content } = await answer(request, options);
    // Content belongs to a form that was filled in, and to nothing else.
    return action === "accept" && request.mode === "form"
      ? { action, content: content ?? {} }
      : { action };
  } catch {
    return { action: options.signal.aborted ? "cancel" : "decline" };
  }
}

function readRequest(params: unknown): ElicitationRequest | undefined {
  if (!isJsonObject(params)) return undefined;
  const { mode = "form", message, requestedSchema, url } = params;
  if (typeof message !== "string") return undefined;
  if (mode === "form" && isJsonObject(requestedSchema)) {
    return { mode, message, requested_schema: requestedSchema };
  }
  return mode === "url" && typeof url === "string" ? { mode, message, url } : undefined;
}
