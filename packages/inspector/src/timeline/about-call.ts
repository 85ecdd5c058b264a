// What a call is about, in a line: the file, the command or the words it is for.

import { tellingArgument } from "@soong/core";
import { asText, oneLine } from "./one-line.ts";

export const MOST_SUMMARY_CHARS = 160;

/** `given`: the arguments as they are on record, text that need not be JSON or a value. */
export function aboutCall(given: unknown): string | undefined {
  const input = typeof given === "string" ? parsedInput(given) : given;
  const about = tellingArgument(input) ?? (isEmpty(input) ? "" : asText(given));
  const line = oneLine(about, MOST_SUMMARY_CHARS);
  return line === "" ? undefined : line;
}

/** Undefined where the text is no JSON. */
export function parsedInput(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isEmpty(input: unknown): boolean {
  return typeof input === "object" && input !== null && Object.keys(input).length === 0;
}
