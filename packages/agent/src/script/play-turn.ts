// One turn of a script as a stream of model events, in time. The time of a part is counted from when the
// part before it was due, as on a wire, however long the reader took with that.

import { type Clock, joinText, type ModelTool } from "@soong/core";
import { isHighSurrogate, omitUndefined } from "@soong/schema";
import type { ModelError, ModelEvent, ModelRequest, ModelMessage } from "../model/index.ts";
import type { ScriptCall, ScriptFailure, ScriptTurn } from "./script.ts";
import { resolveStop, turnParts, type ScriptGuards } from "./script-guards.ts";

export async function* playTurn(
  turn: ScriptTurn,
  request: ModelRequest,
  wireNameOf: (tool: string) => string,
  clock: Clock,
  signal: AbortSignal,
  { ended, sent }: Pick<ScriptGuards, "ended" | "sent">,
): AsyncGenerator<ModelEvent, void> {
  const parts = turnParts(turn);
  let due = clock.monotonic();
  let outputChars = 0;
  let calls = 0;
  for (const part of parts) {
    due += part.after_ms;
    await pauseUntil(due, clock, signal);
    if (part.type === "error" && part.error.until !== undefined) {
      await ended(part.error.until, signal);
    }
    if (signal.aborted) break;
    if (part.type === "error") {
      const { kind, retry_after_ms } = part.error;
      const error = { kind, ...FAILURES[kind], ...omitUndefined({ retry_after_ms }) };
      yield { type: "failed", error };
      return;
    }
    const isCall = part.type === "call";
    for (const event of isCall ? callEvents(part.call, calls, wireNameOf) : textEvents(part.text)) {
      if (signal.aborted) break;
      yield event;
      if (event.type === "text_delta") outputChars += event.text.length;
      else if (event.type === "call_complete") {
        outputChars += event.name.length + event.arguments.length;
      }
    }
    if (!isCall) continue;
    calls += 1;
    if (part.call.id !== undefined) sent(part.call.id);
  }
  if (signal.aborted) {
    yield { type: "failed", error: ABORTED };
    return;
  }
  yield {
    type: "completed",
    stop: resolveStop(turn, parts),
    usage: {
      input_tokens: estimateTokens(requestChars(request)),
      output_tokens: estimateTokens(outputChars),
    },
  };
}

export const ABORTED: ModelError = { kind: "aborted", message: "the model request was aborted" };

/** Ended at once by the signal; leaves no timer behind. */
function pauseUntil(due: number, clock: Clock, signal: AbortSignal): Promise<void> | undefined {
  const ms = due - clock.monotonic();
  if (ms <= 0 || signal.aborted) return undefined;
  return new Promise((resolve) => {
    const takeBack = clock.after(ms, ended);
    signal.addEventListener("abort", ended);

    function ended(): void {
      takeBack();
      signal.removeEventListener("abort", ended);
      resolve();
    }
  });
}

function textEvents(text: string): ModelEvent[] {
  return wordPieces(text).map((piece) => ({ type: "text_delta", text: piece }));
}

function callEvents(
  { tool, input, input_text: inputText, id }: ScriptCall,
  index: number,
  wireNameOf: (tool: string) => string,
): (ModelEvent & { type: "call_delta" | "call_complete" })[] {
  const key = `call_${index}`;
  const name = wireNameOf(tool);
  const text = inputText ?? JSON.stringify(input ?? {});
  const ended = { type: "call_complete", key, name, arguments: text } as const;
  return [
    ...argumentPieces(text).map((piece, at) => {
      const delta = { type: "call_delta", key, arguments: piece } as const;
      return at === 0 ? { ...delta, name } : delta;
    }),
    id === undefined ? ended : { ...ended, id },
  ];
}

const FAILURES: Readonly<Record<ScriptFailure["kind"], Omit<ModelError, "kind">>> = {
  overloaded: { status: 529, message: "the model is overloaded, says its script; try again" },
  disconnect: { message: "the connection to the model broke, says its script; try again" },
  rate_limited: {
    status: 429,
    message: "the model takes no more requests for now, says its script; try again later",
  },
};

// How a whole text comes in a stream: in pieces that give the text again when joined. Bounded in number, so
// that a long text costs no more events than a provider would send.

const MAX_PIECES = 64;

/** Word by word; a long text several words at a time. */
export function wordPieces(text: string): string[] {
  const least = text.length / MAX_PIECES;
  const pieces: string[] = [];
  let piece = "";
  for (const [word] of text.matchAll(/\s*\S+|\s+$/g)) {
    piece += word;
    if (piece.length < least) continue;
    pieces.push(piece);
    piece = "";
  }
  if (piece !== "") pieces.push(piece);
  return pieces;
}

const ARGUMENT_PIECES = 8;
const LEAST_ARGUMENT_CHARS = 6;

/** Anywhere but inside a character. Always at least one: a call without arguments is announced too. */
export function argumentPieces(text: string): string[] {
  const size = Math.max(LEAST_ARGUMENT_CHARS, Math.ceil(text.length / ARGUMENT_PIECES));
  const pieces: string[] = [];
  let start = 0;
  while (start < text.length) {
    let end = start + size;
    if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1;
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces.length === 0 ? [""] : pieces;
}

// Token counts of a model that counts none: characters / 4, an estimate and always the same one.

function estimateTokens(chars: number): number {
  return Math.ceil(chars / 4);
}

function requestChars({ system, messages, tools }: ModelRequest): number {
  const said = sum(messages, (message) => measureOnce(message, messageChars));
  const shown = sum(tools, (tool) => measureOnce(tool, toolChars));
  return sum(system, (text) => text.length) + said + shown;
}

/** A conversation is sent again with every request, and measured once. */
const measured = new WeakMap<object, number>();

function measureOnce<T extends object>(thing: T, measure: (thing: T) => number): number {
  const chars = measured.get(thing) ?? measure(thing);
  measured.set(thing, chars);
  return chars;
}

function messageChars(message: ModelMessage): number {
  if (message.role === "user") return joinText(message.content).length;
  if (message.role === "tool") {
    return sum(message.results, ({ content }) => joinText(content).length);
  }
  const sent = sum(message.calls, (call) => call.name.length + call.arguments.length);
  return message.text.length + sent;
}

function toolChars(tool: ModelTool): number {
  return tool.name.length + tool.description.length + JSON.stringify(tool.input_schema).length;
}

function sum<Item>(items: readonly Item[], measure: (item: Item) => number): number {
  return items.reduce((total, item) => total + measure(item), 0);
}
