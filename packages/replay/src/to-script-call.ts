// A recorded call in the words of a script: its input where that says the same, and else the text as the model sent it.

import type { Fact, JsonObject } from "@soong/core";
import { isJsonObject } from "@soong/schema";
import type { ScriptCall } from "@soong/agent";

export interface SentCall {
  readonly fact: Fact<"tool.requested">;
  /** Its arguments, where the fact has only their beginning and end. */
  whole?: string;
}

/** `recorded`: its arguments as the answer's node has them, whole and without secrets. */
export function toScriptCall({ fact, whole }: SentCall, recorded: string | undefined): ScriptCall {
  const { model_input, alias, native_call_id } = fact.data;
  const tool = alias ?? fact.tool_name ?? "";
  // A repeated id is replaced by the runtime, and is again.
  const id = native_call_id === undefined ? {} : { id: native_call_id };
  const given = recorded ?? whole ?? model_input;
  if (isJsonObject(given)) return { tool, input: given, ...id };
  const text = typeof given === "string" ? given : "";
  const input = parseInput(text);
  return input === undefined ? { tool, input_text: text, ...id } : { tool, input, ...id };
}

/** Undefined where JSON would not be written as it was: a name given twice, a number of many digits, no JSON at all. */
function parseInput(text: string): JsonObject | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const isSame = isJsonObject(value) && JSON.stringify(value) === withoutSpace(text);
  return isSame ? (value as JsonObject) : undefined;
}

function withoutSpace(json: string): string {
  return json.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, "$1");
}
