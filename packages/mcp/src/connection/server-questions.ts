// What a server asks in the middle of a request (MCP-5): something of the user (elicitation), of the host's
// model (sampling), or which folders the host works in (roots). The caller answers, or no one.

import {
  ProtocolError,
  ProtocolErrorCode,
  type ClientCapabilities,
} from "@modelcontextprotocol/client";
import type { ElicitationAnswer, ElicitationRequest, JsonObject, JsonValue } from "@soong/core";
import { isJsonObject } from "@soong/schema";
import type {
  AnswerElicitation,
  AskedHost,
  ConnectionOptions,
  HostRequest,
  QuestionOptions,
  ToolCallOptions,
} from "./connected-server.ts";
import { McpRequestFailure } from "./failure.ts";

export interface AskedCall extends Pick<ToolCallOptions, "onElicitation" | "onQuestions" | "host"> {
  /** Aborted when the call has ended: what it still asks is taken back. */
  readonly untilEnd: () => AbortSignal;
  /** How many questions it has put so far, and how many of them are open. */
  readonly asked: { all: number; open: number };
}

/** A server may ask again and again, and for many things at once; not without end. */
const MAX_OPEN = 16;
const MAX_QUESTIONS = 200;
const CAPABILITY_MISSING = -32_021;

/** What a server learns it may ask for: of the connection, or of one call to a server that gets them with each. */
export function listCapabilities(
  { canElicit, canSample, canListRoots }: ConnectionOptions,
  host?: AskedHost | "any",
): ClientCapabilities {
  const can = (kind: "sampling" | "roots"): boolean => host === "any" || host?.[kind] === true;
  return {
    ...(canElicit === true && { elicitation: { form: {}, url: {} } }),
    ...(canSample === true && can("sampling") && { sampling: {} }),
    ...(canListRoots === true && can("roots") && { roots: {} }),
  };
}

/** Rejects with an McpRequestFailure where there is nothing to answer with. Elicitation never rejects. */
export async function answerQuestion(
  question: { readonly method?: JsonValue | undefined; readonly params?: unknown },
  call: AskedCall | undefined,
  options: QuestionOptions,
): Promise<JsonObject> {
  const { method, params } = question;
  const isTooMuch =
    call !== undefined && (call.asked.all >= MAX_QUESTIONS || call.asked.open >= MAX_OPEN);
  if (method === "elicitation/create") {
    const onElicitation = isTooMuch ? undefined : call?.onElicitation;
    return { ...(await counted(() => answerElicitation(params, onElicitation, options))) };
  }
  const request = hostRequest(method, params);
  if (request === undefined) {
    const message = "the server asked for something it was never offered";
    throw new McpRequestFailure("invalid_answer", message);
  }
  if (call === undefined) {
    const message = `${request.method} belongs to no call that could be identified`;
    throw new McpRequestFailure("refused", message);
  }
  if (isTooMuch) {
    throw new McpRequestFailure("refused", "the server has asked too many questions in this call");
  }
  const { host } = call;
  const ability = request.method === "roots/list" ? "roots" : "sampling";
  if (host === undefined || !host[ability]) {
    const message = `the caller does not answer ${request.method}`;
    throw new McpRequestFailure("refused", message, {
      code: CAPABILITY_MISSING,
      data: { requiredCapabilities: { [ability]: {} } },
    });
  }
  return counted(() => host.answer(request, options));

  async function counted<T>(ask: () => Promise<T>): Promise<T> {
    if (call === undefined) return ask();
    call.asked.all += 1;
    call.asked.open += 1;
    try {
      return await ask();
    } finally {
      call.asked.open -= 1;
    }
  }
}

/** All that one answer asks for, at once: a client may want to show it together. */
export async function answerQuestions(
  inputRequests: JsonValue | undefined,
  call: AskedCall,
): Promise<JsonObject> {
  const questions = Object.entries(isJsonObject(inputRequests) ? inputRequests : {});
  if (questions.length > MAX_OPEN) {
    const message = `the server asked ${questions.length} questions at once`;
    throw new McpRequestFailure("invalid_answer", message);
  }
  const settled = call.onQuestions?.(questions.map(([key]) => key));
  const answers = await Promise.all(
    questions.map(async ([key, question]) => {
      const asked = isJsonObject(question) ? question : {};
      try {
        return [key, await answerQuestion(asked, call, { signal: call.untilEnd(), key })] as const;
      } finally {
        settled?.(key);
      }
    }),
  );
  return Object.fromEntries(answers);
}

/** Why a question was not answered, for the server that asked it. */
export function refusalFor(error: unknown): ProtocolError {
  if (error instanceof McpRequestFailure) {
    const { code = ProtocolErrorCode.InvalidRequest, message } = error;
    // A server that sends requests is of the older era, which has no word for it.
    const isMissing = code === CAPABILITY_MISSING;
    return new ProtocolError(isMissing ? ProtocolErrorCode.MethodNotFound : code, message);
  }
  return new ProtocolError(ProtocolErrorCode.InternalError, "the question could not be answered");
}

function hostRequest(method: unknown, params: unknown): HostRequest | undefined {
  if (method === "roots/list") return { method };
  if (method !== "sampling/createMessage") return undefined;
  return { method, params: isJsonObject(params) ? params : {} };
}

/** A caller that cannot be asked, or fails to answer, has declined. */
async function answerElicitation(
  params: unknown,
  answer: AnswerElicitation | undefined,
  options: QuestionOptions,
): Promise<ElicitationAnswer> {
  const request = readElicitation(params);
  if (request === undefined || answer === undefined) return { action: "decline" };
  try {
    const { action, content = {} } = await answer(request, options);
    // Content belongs to a form that was filled in, and to nothing else.
    return action === "accept" && request.mode === "form" ? { action, content } : { action };
  } catch {
    return { action: options.signal.aborted ? "cancel" : "decline" };
  }
}

function readElicitation(params: unknown): ElicitationRequest | undefined {
  if (!isJsonObject(params)) return undefined;
  const { mode = "form", message, requestedSchema, url } = params;
  if (typeof message !== "string") return undefined;
  if (mode === "form" && isJsonObject(requestedSchema)) {
    return { mode, message, requested_schema: requestedSchema };
  }
  return mode === "url" && typeof url === "string" ? { mode, message, url } : undefined;
}
