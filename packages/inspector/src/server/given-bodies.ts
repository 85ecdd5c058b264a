// The bodies of requests, checked by hand: they come from a page, but anything with the token can send one.

import { readPermissionAnswer, type JsonObject, type JsonValue } from "@soong/core";
import { isPlainRecord } from "@soong/schema";
import type { AnswerGiven, ChangedTool, PlaygroundCall, WhatIfAsked } from "../wire/index.ts";
import { bad } from "./handler.ts";

type Given = { readonly [key: string]: unknown };

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

export function whatIfBody(given: unknown): WhatIfAsked {
  const body = record(given, "The body");
  return { run_id: text(body, "run_id"), config_file: text(body, "config_file") };
}

export function acceptBody(given: unknown): { shown: ChangedTool[] } {
  const { shown } = record(given, "The body");
  if (!Array.isArray(shown)) throw bad("shown must be a list.");
  return {
    shown: shown.map((one: unknown) => {
      const tool = record(one, "Each of shown");
      const { changes } = tool;
      if (!Array.isArray(changes) || !changes.every((line) => typeof line === "string")) {
        throw bad("changes must be a list of lines.");
      }
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
    const { decision, reason, always } = read;
    return {
      decision,
      reason,
      always: always && { where: always.where },
    };
  }
  if (action !== undefined && answer["decision"] === undefined) {
    const { content } = answer;
    if (content === undefined) return { action };
    return { action, content: record(content, "content") as JsonObject };
  }
  throw bad(`answer needs either a decision or an action (${ACTIONS.join(", ")}), and not both.`);
}

function record(given: unknown, what: string): Given {
  if (isPlainRecord(given)) return given;
  throw bad(`${what} must be an object.`);
}

function text(given: Given, name: string): string {
  const value = given[name];
  if (typeof value === "string" && value !== "") return value;
  throw bad(`${name} must be a text.`);
}
