// Token counts of a model that counts none: characters / 4, an estimate and always the same one.

import { textOf, type ModelTool } from "@soong/core";
import type { ModelMessage, ModelRequest } from "../model/index.ts";

const CHARS_PER_TOKEN = 4;

export function estimateTokens(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}

export function requestChars({ system, messages, tools }: ModelRequest): number {
  let chars = 0;
  for (const text of system) chars += text.length;
  for (const message of messages) chars += measureOnce(message, messageChars);
  for (const tool of tools) chars += measureOnce(tool, toolChars);
  return chars;
}

/** A conversation is sent again with every request, and measured once. */
const measured = new WeakMap<object, number>();

function measureOnce<T extends object>(thing: T, measure: (thing: T) => number): number {
  let chars = measured.get(thing);
  if (chars === undefined) {
    chars = measure(thing);
    measured.set(thing, chars);
  }
  return chars;
}

function messageChars(message: ModelMessage): number {
  switch (message.role) {
    case "user":
      return textOf(message.content).length;
    case "assistant": {
      const calls = message.calls.map((call) => call.name.length + call.arguments.length);
      return message.text.length + sum(calls);
    }
    case "tool":
      return sum(message.results.map(({ content }) => textOf(content).length));
  }
}

function toolChars(tool: ModelTool): number {
  return tool.name.length + tool.description.length + JSON.stringify(tool.input_schema).length;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
