// What a client of the gateway can be asked in the middle of its call, in the words of either era: beside the
// request in the older, instead of its result in the newer (MCP-5).

import { randomUUID } from "node:crypto";
import {
  inputRequired,
  inputResponse,
  type ClientCapabilities,
  type ElicitRequestFormParams,
  type InputRequest,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { ElicitationAnswer, ElicitationRequest, JsonObject } from "@soong/core";
import type { HostRequest } from "../connection/index.ts";

export type ClientQuestion =
  | { readonly kind: "elicitation"; readonly request: ElicitationRequest }
  | { readonly kind: "sampling"; readonly params: JsonObject }
  | { readonly kind: "roots" };

export type ClientAnswer =
  | { readonly kind: "elicitation"; readonly answer: ElicitationAnswer }
  | { readonly kind: "sampling" | "roots"; readonly result: JsonObject };

/** What a client has declared that it can do. */
export type Abilities = Readonly<
  Record<ElicitationRequest["mode"] | "sampling" | "roots", boolean>
>;

/** The user may take their time; the call waits as long. */
const QUESTION_TIMEOUT_MS = 600_000;

/** A client that names no mode of elicitation means forms. */
export function abilitiesOf(capabilities: ClientCapabilities): Abilities {
  const { elicitation, sampling, roots } = capabilities;
  const url = elicitation?.url !== undefined;
  return {
    form: elicitation !== undefined && (elicitation.form !== undefined || !url),
    url,
    sampling: sampling !== undefined,
    roots: roots !== undefined,
  };
}

export function questionOf(request: HostRequest): ClientQuestion {
  return request.method === "roots/list"
    ? { kind: "roots" }
    : { kind: "sampling", params: request.params };
}

/** Beside the request that is being answered. Rejects when the client refuses or is gone. */
export async function pushQuestion(
  { mcpReq }: ServerContext,
  question: ClientQuestion,
  signal: AbortSignal,
): Promise<ClientAnswer> {
  const options = { signal, timeout: QUESTION_TIMEOUT_MS };
  switch (question.kind) {
    case "elicitation": {
      const params = pushedParams(question.request);
      const request = { method: "elicitation/create", params } as const;
      const { action, content } = await mcpReq.send(request, options);
      return {
        kind: "elicitation",
        answer: content === undefined ? { action } : { action, content },
      };
    }
    case "sampling": {
      const params = question.params as SamplingParams;
      const result = await mcpReq.send({ method: "sampling/createMessage", params }, options);
      return { kind: "sampling", result: result as JsonObject };
    }
    case "roots": {
      const result = await mcpReq.send({ method: "roots/list" }, options);
      return { kind: "roots", result: result as JsonObject };
    }
  }
}

function pushedParams(request: ElicitationRequest) {
  const { mode, message } = request;
  return mode === "form"
    ? { message, requestedSchema: formSchema(request) }
    : { mode, message, url: request.url, elicitationId: randomUUID() };
}

/** Instead of a result: the client comes back with the answers under the same names. */
export function inputRequests(
  questions: ReadonlyMap<string, ClientQuestion>,
): Record<string, InputRequest> {
  return Object.fromEntries([...questions].map(([key, question]) => [key, inputRequest(question)]));
}

function inputRequest(question: ClientQuestion): InputRequest {
  if (question.kind === "roots") return inputRequired.listRoots();
  if (question.kind === "sampling") {
    return inputRequired.createMessage(question.params as SamplingParams);
  }
  const { request } = question;
  const { message } = request;
  if (request.mode === "url") return inputRequired.elicitUrl({ message, url: request.url });
  return inputRequired.elicit({ mode: "form", message, requestedSchema: formSchema(request) });
}

/** What makes no sense as an answer is none: the question is put again. */
export function answersOf({ mcpReq }: ServerContext): ReadonlyMap<string, ClientAnswer> {
  const answers = new Map<string, ClientAnswer>();
  for (const key of Object.keys(mcpReq.inputResponses ?? {})) {
    const given = inputResponse(mcpReq.inputResponses, key);
    if (given.kind === "elicit") {
      const { action, content } = given;
      const answer =
        content === undefined ? { action } : { action, content: content as JsonObject };
      answers.set(key, { kind: "elicitation", answer });
    } else if (given.kind === "sampling") {
      answers.set(key, { kind: "sampling", result: given.result as JsonObject });
    } else if (given.kind === "roots") {
      answers.set(key, {
        kind: "roots",
        result: { roots: given.roots.map((root) => ({ ...root }) as JsonObject) },
      });
    }
  }
  return answers;
}

type FormSchema = ElicitRequestFormParams["requestedSchema"];

function formSchema(request: Extract<ElicitationRequest, { mode: "form" }>): FormSchema {
  // The kernel has checked that it is a flat form; the SDK spells that out as a type of its own.
  return request.requested_schema as unknown as FormSchema;
}

type SamplingParams = Parameters<typeof inputRequired.createMessage>[0];
