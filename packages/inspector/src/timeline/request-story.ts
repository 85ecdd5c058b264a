// What one model request held, in parts, and what is other in it than in the one before. Pure.

import type { ModelMessage, ModelRequest } from "@soong/agent";
import type { SentChanges, SentPart } from "../wire/request-records.ts";
import { oneLine } from "./read-data.ts";

const MOST_HEAD_CHARS = 160;
const CHARS_PER_TOKEN = 4;

export interface RequestPart extends Omit<SentPart, "chars" | "head" | "change"> {
  readonly text: string;
}

export interface RequestParts {
  readonly system: readonly RequestPart[];
  readonly tools: readonly RequestPart[];
  readonly messages: readonly RequestPart[];
}

/**
 * Each part as the text it is, or as the JSON that its adapter was given. `redact`: before anything is cut, for half a
 * secret is not recognised.
 */
export function splitRequest(
  { system, tools, messages }: ModelRequest,
  redact: (text: string) => string,
): RequestParts {
  return {
    system: system.map((given, i) => {
      return { part: `system:${i}`, name: `system text ${i + 1}`, text: redact(given) };
    }),
    tools: tools.map((tool, i) => {
      return { part: `tools:${i}`, name: tool.name, text: redact(JSON.stringify(tool, null, 2)) };
    }),
    messages: messages.map((message, i) => {
      return { part: `messages:${i}`, name: message.role, text: redact(messageText(message)) };
    }),
  };
}

/** Plain where it is nothing but text. */
function messageText(message: ModelMessage): string {
  if (message.role === "user" && message.content.every(({ type }) => type === "text")) {
    return message.content.map((block) => ("text" in block ? block.text : "")).join("\n\n");
  }
  const isPlain =
    message.role === "assistant" &&
    message.calls.length === 0 &&
    message.provider_data === undefined;
  return isPlain ? message.text : JSON.stringify(message, null, 2);
}

export function describePart(
  { part, name, text }: RequestPart,
  before: RequestPart | undefined,
  hasBefore: boolean,
): SentPart {
  const about = { part, name, chars: text.length, head: oneLine(text, MOST_HEAD_CHARS) };
  if (!hasBefore || before?.text === text) return about;
  return { ...about, change: before === undefined ? "added" : "changed" };
}

/** In the order in which providers cache: tools, system texts, messages. */
function comparePrefix(
  now: RequestParts,
  before: RequestParts,
): Pick<SentChanges, "same_tokens" | "all_tokens"> {
  const [all, earlier] = [listInOrder(now), listInOrder(before)];
  let same = 0;
  let isSame = true;
  let total = 0;
  for (const [i, { text }] of all.entries()) {
    isSame &&= earlier[i]?.text === text && earlier[i].part === all[i]?.part;
    total += text.length;
    if (isSame) same += text.length;
  }
  const tokens = (chars: number) => Math.ceil(chars / CHARS_PER_TOKEN);
  return { same_tokens: tokens(same), all_tokens: tokens(total) };
}

function listInOrder({ tools, system, messages }: RequestParts): readonly RequestPart[] {
  return [...tools, ...system, ...messages];
}

const MOST_NAMED = 20;

export function compareRequests(
  request: number,
  now: RequestParts,
  before: RequestParts,
): SentChanges {
  const added = [...listNew(now.tools, before.tools, "tool"), ...listMoved(now, before)];
  const removed = [...listNew(before.tools, now.tools, "tool"), ...listMoved(before, now)];
  return { request, added, removed, ...comparePrefix(now, before) };
}

function listNew(
  these: readonly RequestPart[],
  those: readonly RequestPart[],
  what: string,
): string[] {
  const known = new Set(those.map(({ text }) => text));
  const found = these.filter(({ text }) => !known.has(text));
  const names = found.slice(0, MOST_NAMED).map(({ name }) => `${what} ${name}`);
  const more = found.length - names.length;
  return more > 0 ? [...names, `${more} more`] : names;
}

function listMoved(these: RequestParts, those: RequestParts): string[] {
  const texts = these.system.filter(({ text }, i) => those.system[i]?.text !== text);
  const from = these.messages.findIndex(({ text }, i) => those.messages[i]?.text !== text);
  const messages = from === -1 ? 0 : these.messages.length - from;
  return [
    ...texts.map(({ name }) => name),
    ...(messages === 0 ? [] : [`${messages} ${messages === 1 ? "message" : "messages"}`]),
  ];
}
