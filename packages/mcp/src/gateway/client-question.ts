// What a client of the gateway can be asked in the middle of its call, in the words of either era: beside the
// request in the older, instead of its result in the newer (MCP-5).

import { randomUUID } from "node:crypto";
import {
  inputResponse,
  type ClientCapabilities,
  type InputRequest,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { ElicitationAnswer, ElicitationRequest, JsonObject, JsonValue } from "@soong/core";
import { isJsonObject } from "@soong/schema";

export type ClientQuestion =
  | {
      readonly kind: "elicitation";
      readonly request: ElicitationRequest;
      /** Of the gateway itself, and not of a server behind it: its form may be written as the client's revision has it. */
      readonly isOwn?: boolean;
    }
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
export function readAbilities({ elicitation, sampling, roots }: ClientCapabilities): Abilities {
  const url = elicitation?.url !== undefined;
  return {
    form: elicitation !== undefined && (elicitation.form !== undefined || !url),
    url,
    sampling: sampling !== undefined,
    roots: roots !== undefined,
  };
}

/** Beside the request that is being answered. Rejects when the client refuses or is gone. */
export async function pushQuestion(
  { mcpReq }: ServerContext,
  question: ClientQuestion,
  signal: AbortSignal,
): Promise<ClientAnswer> {
  const { method, params } = toRequest(inOlderForm(question));
  const { mode, ...asked } = { mode: undefined, ...params };
  const own = mode === "url" ? { ...params, elicitationId: randomUUID() } : asked;
  const options = { signal, timeout: QUESTION_TIMEOUT_MS };
  const result = (await mcpReq.send({ method, params: own }, options)) as JsonObject;
  const { kind } = question;
  return kind === "elicitation" ? { kind, answer: readAnswer(result) } : { kind, result };
}

/** Titles of choices were a list beside them before there was `oneOf`. */
function inOlderForm(question: ClientQuestion): ClientQuestion {
  if (question.kind !== "elicitation" || question.isOwn !== true) return question;
  const { request } = question;
  if (request.mode !== "form") return question;
  const { properties = {} } = request.requested_schema as { properties?: JsonObject };
  const older = Object.entries(properties).map(([name, field]): [string, JsonValue] => {
    if (!isJsonObject(field) || !Array.isArray(field["oneOf"])) return [name, field];
    const { oneOf, ...rest } = field;
    const choices = oneOf.filter(isJsonObject);
    const values = choices.map((choice) => choice["const"] ?? "");
    return [
      name,
      { ...rest, enum: values, enumNames: choices.map((choice) => choice["title"] ?? "") },
    ];
  });
  const requested_schema = { ...request.requested_schema, properties: Object.fromEntries(older) };
  return { ...question, request: { ...request, requested_schema } };
}

/** Instead of a result: the client comes back with the answers under the same names. */
export function inputRequests(
  questions: ReadonlyMap<string, ClientQuestion>,
): Record<string, InputRequest> {
  return Object.fromEntries([...questions].map(([key, question]) => [key, toRequest(question)]));
}

/** The kernel has checked that a form is flat; the SDK spells that out as a type of its own. */
function toRequest(question: ClientQuestion): InputRequest {
  if (question.kind === "roots") return { method: "roots/list" };
  if (question.kind === "sampling") {
    return { method: "sampling/createMessage", params: question.params } as InputRequest;
  }
  const { mode, message, ...about } = question.request;
  const params =
    "url" in about
      ? { mode, message, url: about.url }
      : { mode, message, requestedSchema: about.requested_schema };
  return { method: "elicitation/create", params } as InputRequest;
}

/** What makes no sense as an answer is none: the question is put again. */
export function readAnswers({ mcpReq }: ServerContext): ReadonlyMap<string, ClientAnswer> {
  const answers = new Map<string, ClientAnswer>();
  for (const key of Object.keys(mcpReq.inputResponses ?? {})) {
    const given = inputResponse(mcpReq.inputResponses, key);
    if (given.kind === "elicit") {
      answers.set(key, { kind: "elicitation", answer: readAnswer(given as JsonObject) });
    } else if (given.kind === "sampling") {
      answers.set(key, { kind: "sampling", result: given.result as JsonObject });
    } else if (given.kind === "roots") {
      const roots = given.roots.map((root) => ({ ...root }) as JsonObject);
      answers.set(key, { kind: "roots", result: { roots } });
    }
  }
  return answers;
}

function readAnswer({ action, content }: JsonObject): ElicitationAnswer {
  return (content === undefined ? { action } : { action, content }) as ElicitationAnswer;
}
