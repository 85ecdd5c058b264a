// The body of a request: JSON, not too long, and not too slow in coming. Checked by hand: it comes from a page, but anything
// with the token can send one.

import type { IncomingMessage } from "node:http";
import { readPermissionAnswer, type JsonObject, type JsonValue } from "@soong/core";
import { isPlainRecord, nestsDeeper } from "@soong/schema";
import type { AnswerGiven, ChangedTool, PlaygroundCall, RunAsked } from "../wire/home-records.ts";
import { bad, InspectorError } from "./ports.ts";

export const MOST_BODY_BYTES = 1024 * 1024;
/** Above what a tool takes, which says so itself. What is deeper cannot be written again. */
const MOST_LEVELS = 100;

export async function readBody(request: IncomingMessage, withinMs: number): Promise<unknown> {
  // A form of another page can send any text, but not with this type (unless we would agree).
  if (!/^application\/json *(?:;|$)/iu.test(request.headers["content-type"] ?? "")) {
    const message = "The body must be of the type application/json.";
    throw new InspectorError("bad_request", message, { status: 415 });
  }
  const text = await readText(request, withinMs);
  if (nestsDeeper(text, MOST_LEVELS)) {
    throw bad(`The body is nested deeper than ${MOST_LEVELS} levels.`);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw bad("The body is not JSON.");
  }
}

function readText(request: IncomingMessage, withinMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const late = setTimeout(() => {
      const message = "The body did not come in time; send it again.";
      end(new InspectorError("bad_request", message, { status: 408 }));
    }, withinMs);
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= MOST_BODY_BYTES) return;
      const message = `A body may have ${MOST_BODY_BYTES} bytes, and this one is longer.`;
      end(new InspectorError("too_large", message));
    };
    const ended = (): void => end();
    const broken = (): void => end(bad("The body ended half-way."));
    request.on("data", take).once("end", ended).once("error", broken).once("close", broken);

    function end(error?: InspectorError): void {
      clearTimeout(late);
      request.off("data", take).off("end", ended).off("close", broken);
      if (error === undefined) resolve(Buffer.concat(chunks).toString("utf8"));
      else reject(error);
    }
  });
}

type Given = { readonly [key: string]: unknown };

/** For what the path says all of. */
export function emptyBody(given: unknown): Record<string, never> {
  record(given, "The body");
  return {};
}

export function abortBody(given: unknown): { session_id: string } {
  return { session_id: text(record(given, "The body"), "session_id") };
}

export function answerBody(given: unknown): { session_id: string; answer: AnswerGiven } {
  const body = record(given, "The body");
  return { session_id: text(body, "session_id"), answer: answerGiven(body["answer"]) };
}

export function playgroundBody(given: unknown): PlaygroundCall {
  const body = record(given, "The body");
  if (!("input" in body)) throw bad("The body needs input.");
  return { tool_name: text(body, "tool_name"), input: body["input"] as JsonValue };
}

const RUN_FIELDS = [
  "prompt",
  "session_id",
  "instead_of",
  "project",
  "model",
  "mode",
  "agent",
] as const satisfies readonly (keyof RunAsked)[];

/** Nothing else: a run from the page has the rules of the config, and no others. */
export function runBody(given: unknown): RunAsked {
  const body = record(given, "The body");
  const other = Object.keys(body).find((name) => !(RUN_FIELDS as readonly string[]).includes(name));
  if (other !== undefined) {
    throw bad(`The body has "${other.slice(0, 80)}"; it may have ${RUN_FIELDS.join(", ")}.`);
  }
  const [, ...optional] = RUN_FIELDS;
  const prompt = text(body, "prompt");
  if (prompt.trim() === "") throw bad("The prompt is empty: write what the run is to do.");
  const asked: RunAsked = { prompt };
  for (const name of optional) if (body[name] !== undefined) asked[name] = text(body, name);
  if (asked.instead_of !== undefined && asked.session_id === undefined)
    throw bad("instead_of needs session_id.");
  if (asked.project !== undefined && asked.session_id !== undefined)
    throw bad("A session is continued in its own project: omit project.");
  return asked;
}

export function acceptBody(given: unknown): { shown: ChangedTool[] } {
  const { shown } = record(given, "The body");
  if (!Array.isArray(shown)) throw bad("shown must be a list.");
  return {
    shown: shown.map((one: unknown) => {
      const tool = record(one, "Each of shown");
      const { changes } = tool;
      if (!Array.isArray(changes) || !changes.every((line) => typeof line === "string"))
        throw bad("changes must be a list of lines.");
      return { tool_name: text(tool, "tool_name"), hash: text(tool, "hash"), changes };
    }),
  };
}

const ACTIONS = ["accept", "decline", "cancel"] as const;

/** One answer, and nothing that could be taken for another one. */
function answerGiven(given: unknown): AnswerGiven {
  const answer = record(given, "answer");
  const action = ACTIONS.find((one) => one === answer["action"]);
  if (answer["action"] === undefined) {
    const read = readPermissionAnswer(answer);
    if (typeof read === "string") throw bad(`The answer was not understood: it ${read}.`);
    const { decision, reason, scope, always } = read;
    return { decision, reason, scope, always: always && { where: always.where } };
  }
  if (action !== undefined && answer["decision"] === undefined) {
    const { content } = answer;
    if (content === undefined) return { action };
    return { action, content: record(content, "content") as JsonObject };
  }
  throw bad(`answer needs either a decision or an action (${ACTIONS.join(", ")}), and not both.`);
}

export function record(given: unknown, what: string): Given {
  if (isPlainRecord(given)) return given;
  throw bad(`${what} must be an object.`);
}

export function text(given: Given, name: string): string {
  const value = given[name];
  if (typeof value === "string" && value !== "") return value;
  throw bad(`${name} must be a text.`);
}
